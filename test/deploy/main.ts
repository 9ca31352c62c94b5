import { join } from 'node:path'
import { ROOT } from '../../local/host/paths.ts'
import { Account } from './account.ts'
import { ADDED, CANNOT } from './cannot.ts'
import { cdk, deploy } from './cdk.ts'
import { ACCOUNT, openPlace, type Place, REGION, STAGE } from './place.ts'
import { STEPS } from './scenario.ts'
import { copySource } from './source.ts'
import type { Run } from './steps.ts'

const say = (line: string): void => console.log(line)

const timed = async <T>(name: string, act: () => Promise<T>, tell: (result: T) => string): Promise<T> => {
  const from = Date.now()
  const result = await act()
  say(`ok   ${String(Math.round((Date.now() - from) / 1_000)).padStart(3)} s  ${name}: ${tell(result)}`)
  return result
}

const prepare = async (place: Place): Promise<Run> => {
  const source = copySource(join(place.folder, 'source'))
  await timed(
    'cdk bootstrap',
    () => cdk(place, source, ['bootstrap', `aws://${ACCOUNT}/${REGION}`]),
    () => `${ACCOUNT} in ${REGION}`,
  )
  const stacks = [`Sharelock-${STAGE}-Data`, `Sharelock-${STAGE}-Job`]
  const outputs = await timed(
    'cdk deploy of an empty account, with its migrations',
    () => deploy(place, source, stacks),
    (made) => Object.keys(made).join(', '),
  )
  const output = (name: string): string => {
    const value = Object.values(outputs)
      .map((each) => each[name])
      .find((each) => each !== undefined)
    if (value === undefined) throw new Error(`The stacks have no output ${name}`)
    return value
  }
  return {
    ...{ place, source, account: new Account(place) },
    bucket: output('BucketName'),
    jobMachine: output('StateMachineArn'),
    dispatchMachine: output('DispatchMachineArn'),
  }
}

const list = (title: string, lines: readonly string[]): void =>
  say(`\n${[title, ...lines.map((line) => `  - ${line}`)].join('\n')}`)

const main = async (): Promise<void> => {
  say(`The app of ${ROOT}, deployed to an emulated account on this machine.`)
  const place = await openPlace(say)
  const interrupted = () => void place.close().finally(() => process.exit(130))
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    const run = await prepare(place)
    for (const { name, act } of STEPS)
      await timed(
        name,
        () => act(run),
        (result) => result,
      )
  } finally {
    await place.close()
  }
  list('Not shown by this run, for the emulator cannot do it:', CANNOT)
  list('Added from outside the emulator:', ADDED)
  say(`\n${STEPS.length + 2} passed, 0 failed`)
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
