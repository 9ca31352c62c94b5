import { mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { takingChanges } from '../../../../operator/command/taking-changes.ts'

/* Changed rows on their way to a file: all of them in order, or no file and the reason. */
const folder = () => mkdtempDisposable(join(tmpdir(), 'sharelock-changes-'))
const piece = (number: number): string => `${number},${'x'.repeat(40_000)}\n`

test('more rows than any buffer holds come to the file in their order, without a listener for each', async () => {
  await using at = await folder()
  const warnings: string[] = []
  const warned = (warning: Error): void => void warnings.push(warning.message)
  process.on('warning', warned)
  const path = join(at.path, 'rows.csv')
  await takingChanges({ rows: path, parties: undefined }, async ({ rows }) => {
    for (let number = 0; number < 100; number++) await rows?.(piece(number))
  })
  expect(await readFile(path, 'utf8')).toBe(Array.from({ length: 100 }, (_, number) => piece(number)).join(''))
  await new Promise(setImmediate)
  process.off('warning', warned)
  expect(warnings).toEqual([])
})

test('a comparison that fails leaves no file and says why', async () => {
  await using at = await folder()
  const broken = takingChanges({ rows: join(at.path, 'rows.csv'), parties: undefined }, async ({ rows }) => {
    for (let number = 0; number < 20; number++) await rows?.(piece(number))
    throw new Error('a chunk is damaged')
  })
  await expect(broken).rejects.toThrow('a chunk is damaged')
  expect(await readdir(at.path)).toEqual([])
})

test('a file that cannot be written ends the comparison and says why', async () => {
  await using at = await folder()
  let taken = 0
  const broken = takingChanges({ rows: join(at.path, 'none', 'rows.csv'), parties: undefined }, async ({ rows }) => {
    for (; taken < 1_000; taken++) await rows?.(piece(taken))
  })
  await expect(broken).rejects.toThrow(/cannot be written: ENOENT/)
  expect(taken).toBeLessThan(1_000)
})

test('a path below a file is refused as one that cannot be written', async () => {
  await using at = await folder()
  await writeFile(join(at.path, 'file'), '')
  const broken = takingChanges({ rows: join(at.path, 'file', 'rows.csv'), parties: undefined }, async () => undefined)
  await expect(broken).rejects.toThrow(/cannot be written: ENOTDIR/)
})
