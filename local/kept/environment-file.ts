import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { LOCAL_STACK_PROCESS } from '../../functions/contract/local-stack-file.ts'

const textOf = (variables: Readonly<Record<string, string>>): string =>
  [
    '# Written by `npm run local`, which removes it as it stops. `sharelock` finds it; other programs after: . THIS-FILE',
    ...Object.entries({ ...variables, [LOCAL_STACK_PROCESS]: String(process.pid) }).map(
      ([name, value]) => `export ${name}='${value}'`,
    ),
    '',
  ].join('\n')

/** Writes the stack's variables for other programs. @returns removes the file, unless it is another stack's by then */
export const writeEnvironmentFile = async (
  path: string,
  variables: Readonly<Record<string, string>>,
): Promise<() => Promise<void>> => {
  const text = textOf(variables)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(path, text, { mode: 0o600 })
  return async () => {
    if ((await readFile(path, 'utf8').catch(() => '')) === text) await rm(path, { force: true })
  }
}
