import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Database } from '../functions/store/mysql/database.ts'
import type { Stack } from '../local/stack.ts'
import { SdkClient } from './sdk-client.ts'

/** A local stack, and what works on it from outside. */
export type Setting = {
  readonly stack: Stack
  readonly sdk: SdkClient
  readonly database: Database
  /** For generated files. */
  readonly folder: string
}

export const openSetting = async (stack: Stack): Promise<Setting> => {
  const folder = join(stack.folder, 'files')
  await mkdir(folder, { recursive: true })
  const database = new Database(stack.database.masterAddress)
  return { stack, sdk: new SdkClient(stack), database, folder }
}

export const closeSetting = async (setting: Setting): Promise<void> => {
  setting.sdk.close()
  await setting.database.close()
}
