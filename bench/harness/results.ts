import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LOCAL } from '../../local/host/paths.ts'
import type { Result } from './result.ts'

/** Each section's newest result, one JSON file each: sections can be run one at a time, on different days. */
const folderOf = (small: boolean): string => join(LOCAL, 'bench', small ? 'small' : 'full')

export const keep = async (small: boolean, result: Result): Promise<void> => {
  const folder = folderOf(small)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, `${result.section}.json`), `${JSON.stringify(result, null, 2)}\n`)
}

/** The results there are, in the order of the sections. */
export const kept = async (small: boolean, sections: readonly string[]): Promise<Result[]> => {
  const paths = sections.map((section) => join(folderOf(small), `${section}.json`)).filter((path) => existsSync(path))
  return await Promise.all(paths.map(async (path) => JSON.parse(await readFile(path, 'utf8')) as Result))
}
