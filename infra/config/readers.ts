import { z } from 'zod'
import { AccountId, id } from './values.ts'

/** Settlement programs and others that read a month, and no row besides. */
export const ReaderSettings = z.strictObject({
  /** Security groups of theirs, in the stage's VPC or one that is peered with it. The stage has one for them, too. */
  groups: z.array(id('sg')).default([]),
  /** Where they come from, if not from a group: an office behind a VPN, a VPC behind a transit gateway. */
  cidrs: z
    .array(
      z
        .cidrv4('a range such as 10.1.0.0/16')
        .refine((cidr) => !/\/([0-9]|1[0-5])$/.test(cidr), 'a range of /16 or smaller: this one is half a network'),
    )
    .default([]),
  /** Accounts that may subscribe to the topic of events. */
  accounts: z.array(AccountId).default([]),
})
export type ReaderSettings = z.output<typeof ReaderSettings>

/** What a stage tells its readers, each a parameter of the Systems Manager under the stage's own path. */
export const READER_PARAMETERS = {
  'database/host': "the database's endpoint",
  'database/port': 'its port',
  'database/schema': 'where the views are',
  'database/user': 'who reads: an IAM user of MySQL, who may do nothing else',
  'database/resource-id': 'what IAM calls the instance in rds-db:connect',
  'database/group': "the database's security group",
  'readers/group': 'a security group that it lets in: put readers in it',
  'readers/policy': 'a managed policy to log in as the user: attach it to their roles',
  'network/vpc': 'the VPC',
  'network/subnets': 'its isolated subnets, with commas',
  'network/zones': 'their zones, in the same order',
  'events/topic': 'the topic of events',
  'events/key': 'its KMS key',
} as const

export type ReaderParameter = keyof typeof READER_PARAMETERS

export const parameterName = (stage: string, name: ReaderParameter): string => `/sharelock/${stage}/${name}`
