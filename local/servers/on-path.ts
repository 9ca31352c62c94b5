import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** The first executable of that name on PATH; server programs often stand in sbin, which is not on everybody's. */
export const programOnPath = (name: string): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable)
