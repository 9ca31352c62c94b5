import { z } from 'zod'

/**
 * The environment of every function, validated once per sandbox. No secret is in it: in AWS, database and lock take
 * IAM passwords signed per connection; a password is for servers without IAM, such as the local stack's.
 */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/

const Port = z.coerce.number().int().min(1).max(65_535)

const Shape = z.object({
  STAGE: z.string().min(1),
  AWS_REGION: z.string().default('ap-northeast-2'),
  BUCKET: z.string().min(1),
  TOPIC_ARN: z.string().default(''),

  DATABASE_HOST: z.string().min(1),
  DATABASE_PORT: Port.default(3306),
  DATABASE_NAME: z
    .string()
    .regex(/^\w{1,64}$/)
    .default('sharelock'),
  DATABASE_USER: z.string().min(1),
  DATABASE_AUTH: z.enum(['iam', 'password']).default('iam'),
  DATABASE_PASSWORD: z.string().optional(),
  DATABASE_TLS: z.enum(['verify', 'off']).default('verify'),

  LOCK_HOST: z.string().min(1),
  LOCK_PORT: Port.default(6379),
  LOCK_USER: z.string().default(''),
  LOCK_AUTH: z.enum(['iam', 'none']).default('iam'),
  /** The replication group's id: an IAM password is signed for it and not for the endpoint. */
  LOCK_GROUP_ID: z.string().default(''),
  LOCK_TLS: z.enum(['verify', 'off']).default('verify'),
  /** What every lock's key begins with: stages may share one Valkey. */
  LOCK_PREFIX: z
    .string()
    .regex(/^[\w:-]{0,64}$/)
    .default(''),
})

export const Env = Shape.superRefine((env, context) => {
  if (env.DATABASE_TLS === 'off' && !LOOPBACK.test(env.DATABASE_HOST))
    context.addIssue({ code: 'custom', path: ['DATABASE_TLS'], message: 'TLS may be off on loopback only' })
  if (env.LOCK_TLS === 'off' && !LOOPBACK.test(env.LOCK_HOST))
    context.addIssue({ code: 'custom', path: ['LOCK_TLS'], message: 'TLS may be off on loopback only' })
})
export type Env = z.output<typeof Env>

/** Reads the environment or says, in one sentence each, which variables are wrong. */
export const readEnv = (source: Record<string, string | undefined>): Env => {
  const result = Env.safeParse(source)
  if (result.success) return result.data
  throw new Error(`The function's environment is wrong:\n${z.prettifyError(result.error)}`)
}
