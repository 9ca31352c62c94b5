import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { OperationError } from '../operations/operation-error.ts'

const Stage = z.strictObject({
  profile: z.string().min(1).optional(),
  region: z.string().min(1).optional(),
})

const Configuration = z.strictObject({
  /** The stage of calls that name none. */
  stage: z.string().min(1).optional(),
  stages: z.record(z.string(), Stage).optional(),
})
type Configuration = z.infer<typeof Configuration>

type Variables = Readonly<Record<string, string | undefined>>

const pathOf = ({ SHARELOCK_CONFIG, XDG_CONFIG_HOME, HOME }: Variables): string | undefined => {
  if (SHARELOCK_CONFIG !== undefined) return SHARELOCK_CONFIG
  const folder = XDG_CONFIG_HOME || (HOME ? join(HOME, '.config') : undefined)
  return folder === undefined ? undefined : join(folder, 'sharelock', 'config.json')
}

/** @throws OperationError Usage, which names the file and the field, where it is no configuration */
const read = (env: Variables): Configuration => {
  const path = pathOf(env)
  let text: string
  try {
    text = readFileSync(path ?? '', 'utf8')
  } catch (error) {
    if (env.SHARELOCK_CONFIG === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new OperationError('Usage', `The configuration cannot be read: ${(error as Error).message}`, error)
  }
  try {
    return Configuration.parse(JSON.parse(text))
  } catch (error) {
    const why =
      error instanceof z.ZodError
        ? error.issues.map((issue) => `${[...issue.path, ''].join('.')} ${issue.message}`.trim()).join('; ')
        : (error as Error).message
    throw new OperationError('Usage', `The configuration ${path} is wrong: ${why}. Correct it, or move it away.`, error)
  }
}

/**
 * What the configuration says of a call: its stage where none is named, and the profile and region of that stage. A
 * variable that is set, and an option, come before it.
 */
export const configured = (
  given: string | undefined,
  env: Variables,
): { readonly stage: string | undefined; readonly variables: Variables } => {
  const { stage: usual, stages = {} } = read(env)
  const stage = given ?? env.SHARELOCK_STAGE ?? usual
  const { profile, region } = stage === undefined || !Object.hasOwn(stages, stage) ? {} : (stages[stage] ?? {})
  return {
    stage,
    variables: {
      ...(profile === undefined || env.AWS_PROFILE !== undefined ? {} : { AWS_PROFILE: profile }),
      ...(region === undefined || env.AWS_REGION !== undefined ? {} : { AWS_REGION: region }),
    },
  }
}
