import { z } from 'zod'
import { Profile } from './profile.ts'

/** A profile as a JSON schema, for editors: what no schema can say, `sharelock profile` checks too. */
export const profileSchema = (): Record<string, unknown> => ({
  $id: 'profile.schema.json',
  title: "How a distributor's files are written",
  ...z.toJSONSchema(Profile, { io: 'input' }),
})
