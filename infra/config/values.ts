import { z } from 'zod'

/** What the fields of the configuration are made of. */
export const Name = z.string().regex(/^[a-z][a-z0-9-]{1,19}$/, 'a name: 2-20 of a-z, 0-9 and -')
export const id = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}-[0-9a-f]{8,17}$`), `an id such as ${prefix}-0a1b2c3d`)
export const AccountId = z.string().regex(/^\d{12}$/, 'an account id of 12 digits')
export const Region = z.string().regex(/^[a-z]{2}-[a-z]+-\d$/, 'a region such as ap-northeast-2')
export const Port = z.int().min(1).max(65_535)
export const HostName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]+\.[a-z]+$/, "a host name, as the server's certificate has it")
