import { z } from 'zod'

/** The environment of the migrator, the only function that reads the master secret. It names it; it does not hold it. */
const MigratorEnv = z.object({
  AWS_REGION: z.string(),
  DATABASE_HOST: z.string().min(1),
  DATABASE_PORT: z.coerce.number().int().min(1).max(65_535).default(3306),
  DATABASE_NAME: z
    .string()
    .regex(/^\w{1,64}$/)
    .default('sharelock'),
  /** The functions' user, which the migrator creates. */
  DATABASE_USER: z.string().min(1),
  /** Settlement programs' user, which the migrator creates too; none if empty. */
  READER_USER: z.string().default(''),
  MASTER_SECRET_ARN: z.string().startsWith('arn:'),
  /** `db-...`: an instance keeps it for life, and a restored one has another. */
  DATABASE_RESOURCE_ID: z.string().default(''),
  /** The code of the distributor whose slices the smoke job replaces; none where it does not run. */
  SMOKE_DISTRIBUTOR: z.string().default(''),
})
export type MigratorEnv = z.output<typeof MigratorEnv>

/** Reads the environment or says, in one sentence each, which variables are wrong. */
export const readMigratorEnv = (source: Record<string, string | undefined>): MigratorEnv => {
  const result = MigratorEnv.safeParse(source)
  if (result.success) return result.data
  throw new Error(`The migrator's environment is wrong:\n${z.prettifyError(result.error)}`)
}

/** What a master secret holds besides: RDS writes user name and password, others more. */
export const MasterSecret = z.object({ username: z.string().min(1), password: z.string().min(1) })
export type MasterSecret = z.output<typeof MasterSecret>
