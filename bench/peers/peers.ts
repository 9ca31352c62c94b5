import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { monthDate, type Slice } from '../../functions/contract/words.ts'
import { Fingerprint } from '../../local/fingerprint.ts'
import { bareRegisterMs } from '../harness/floor.ts'
import { type StagedFile, stageFile, writeRows } from '../harness/staged-file.ts'
import { emptySlice, fileOf, measuredSlice, type Testbed } from '../harness/testbed.ts'
import type { Files, Method, Target } from './method.ts'
import { dumpSlice, myloader } from './mydumper.ts'
import { mysqlimport } from './mysqlimport.ts'
import { oldMethods } from './old-methods.ts'
import { ptArchiver } from './pt-archiver.ts'
import { findPeerTools, type Tools } from './tools.ts'

/** The account of all peers: no password, as MySQL's only kind of password would need TLS or a plugin of each client. */
const USER = 'sharelock_peer'

/** Everything that the peers of one run need. */
export type Peers = {
  readonly methods: readonly Method[]
  readonly versions: Readonly<Record<string, string>>
  /** Peers that could not be had here, and why. */
  readonly absent: readonly string[]
  readonly tools: Tools | undefined
}

export const openPeers = async (testbed: Testbed): Promise<Peers> => {
  const { database } = testbed.setting
  await database.change(`create user if not exists '${USER}'@'%' identified by ''`)
  await database.change(`grant all on *.* to '${USER}'@'%'`)
  try {
    const tools = await findPeerTools(testbed.say)
    const versions = {
      'percona-toolkit': await tools.version('pt-archiver'),
      mysqlimport: await tools.version('mysqlimport'),
      mydumper: await tools.version('mydumper'),
    }
    return {
      methods: [ptArchiver(tools), ...mysqlimport(tools), myloader(tools), ...oldMethods],
      versions,
      absent: [],
      tools,
    }
  } catch (error) {
    const absent = [`pt-archiver, mysqlimport and myloader were left out: ${(error as Error).message}`]
    return { methods: oldMethods, versions: {}, absent, tools: undefined }
  }
}

/** A slice of so many rows to work on, and what it must hold in the end. */
export type Trial = {
  readonly slice: Slice
  readonly staged: StagedFile
  readonly target: Target
  readonly expected: string
}

const filesOf = async (staged: StagedFile, folder: string, key: string): Promise<Omit<Files, 'dump'>> => {
  await mkdir(join(folder, 'split'), { recursive: true })
  const one = join(folder, 'share_ratio.tsv')
  await writeRows(one, staged, key)
  const split: string[] = []
  for (const [number, body] of staged.bodies.entries()) {
    // The loader takes the table's name from the file's, up to the first dot.
    const path = join(folder, 'split', `share_ratio.${String(number).padStart(6, '0')}`)
    await writeRows(path, { ...staged, bodies: [body] }, key)
    split.push(path)
  }
  return { one, split }
}

const fingerprintOf = (staged: StagedFile): string => {
  const fingerprint = new Fingerprint()
  for (const body of staged.bodies)
    for (const line of body.toString('latin1').trimEnd().split('\n')) fingerprint.add(line)
  return String(fingerprint)
}

/** Measured slice 5, which is empty in between, and the file of so many rows in every form. */
export const openTrial = async (testbed: Testbed, { tools }: Peers, rows: number): Promise<Trial> => {
  const { host, port, name } = testbed.stack.database
  const slice = await measuredSlice(testbed, 5)
  const staged = await stageFile(await fileOf(testbed, rows))
  const folder = join(testbed.setting.folder, `peers-${rows}`)
  const month = monthDate(slice.month)
  const files = await filesOf(staged, folder, `${slice.distributorId}\t${month}\t`)
  const place = { host, port, database: name, user: USER, distributorId: slice.distributorId, month }
  const dump = tools === undefined ? undefined : join(folder, 'dump')
  const target: Target = { ...place, files: { ...files, dump } }
  if (tools !== undefined && dump !== undefined) {
    await emptySlice(testbed, slice)
    await bareRegisterMs(testbed.stack, slice, staged)
    await dumpSlice(tools, testbed.setting.database, target, dump)
  }
  return { slice, staged, target, expected: fingerprintOf(staged) }
}
