import { readFile, writeFile } from 'node:fs/promises'
import { Profile } from '../../functions/contract/profile.ts'
import { OperationError } from './operation-error.ts'

/** A profile is a page of text: whatever is larger is another file. */
const PROFILE_CHARS_MAX = 100_000

/**
 * A profile from its JSON text, checked.
 *
 * @param name of the text, as the refusal calls it
 * @throws OperationError Usage, with each field that is wrong
 */
export const parseProfile = (text: string, name: string): Profile => {
  const { data, error } = Profile.safeParse(json(text, name))
  if (data !== undefined) return data
  const problems = error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '))
  throw new OperationError(
    'Usage',
    `${name} is no profile. ${problems.join('. ')}. See docs/profile.schema.json for what a profile may say.`,
  )
}

const json = (text: string, name: string): unknown => {
  if (text.length > PROFILE_CHARS_MAX) throw new OperationError('Usage', `${name} is too large for a profile.`)
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new OperationError('Usage', `${name} is not JSON: ${(error as Error).message}.`, error)
  }
}

/** A profile from a file of this machine. @throws OperationError NotFound, Usage */
export const readProfile = async (path: string): Promise<Profile> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new OperationError('NotFound', `There is no file ${path}.`, error)
    throw new OperationError('Usage', `The file ${path} cannot be read: ${error.message}.`, error)
  })
  return parseProfile(text, path)
}

/** Writes a profile that a person will look at. A file that is there is left alone. @throws OperationError Usage */
export const writeProfile = async (path: string, profile: object): Promise<void> => {
  await writeFile(path, `${JSON.stringify(profile, null, 2)}\n`, { flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      const problem =
        error.code === 'EEXIST' ? 'is there already; name another one' : `cannot be written: ${error.message}`
      throw new OperationError('Usage', `The file ${path} ${problem}.`, error)
    },
  )
}
