import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../local/host/paths.ts'

/** What the app is synthesised from. */
const PARTS = ['package.json', 'tsconfig.json', 'cdk.json', 'bin', 'infra', 'functions']
const MIGRATIONS = 'functions/store/schema/migration-files.ts'

/** A copy of the app, which the run may change as a commit would. */
export const copySource = (folder: string): string => {
  for (const part of PARTS) cpSync(join(ROOT, part), join(folder, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Changes a file of the copy in one place. */
const changeFile = (source: string, file: string, from: string, to: string): void => {
  const path = join(source, file)
  const text = readFileSync(path, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} has no "${from}" to be changed`)
  writeFileSync(path, text.replace(from, to))
}

/** Another release of two tasks. */
export const changeTasks = (source: string, release: string): void => {
  for (const name of ['register-chunk', 'mark-registered']) {
    const path = join(source, `functions/handlers/${name}.ts`)
    writeFileSync(path, `${readFileSync(path, 'utf8')}\nconsole.log('release ${release}')\n`)
  }
}

/** A migration after all others. */
export const addMigration = (source: string, name: string, sql: string): void => {
  changeFile(source, MIGRATIONS, '\n] as const', `\n  '${name}',\n] as const`)
  changeMigration(source, name, sql)
}

export const changeMigration = (source: string, name: string, sql: string): void =>
  writeFileSync(join(source, 'functions/store/schema/migrations', name), sql)
