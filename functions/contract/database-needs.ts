import { PACKET_BYTES_MIN } from './limits.ts'

/** What is known of a server before anything is touched. */
export type DatabaseFacts = {
  readonly version: string
  readonly localInfile: boolean
  readonly maxAllowedPacket: number
  readonly isReadOnly: boolean
  /** Empty where the server has the one format only. */
  readonly binlogFormat: string
}

/** Something that a run needs of the server and does not have. */
export type Lack = { readonly check: string; readonly what: string; readonly remedy: string }

const VERSION_MIN = [8, 4] as const

const isOld = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < VERSION_MIN[0] || (major === VERSION_MIN[0] && minor < VERSION_MIN[1])
}

/** Everything that would make each run fail behind its first delete; a read-only server is not among it, for that passes. */
export const lacksOf = (facts: DatabaseFacts): Lack[] => {
  const found: Lack[] = []
  const add = (check: string, what: string, remedy: string) => found.push({ check, what, remedy })
  if (isOld(facts.version))
    add(
      'mysql-version',
      `MySQL is ${facts.version}, older than ${VERSION_MIN.join('.')}.`,
      'Upgrade the database to MySQL 8.4 or later.',
    )
  if (!facts.localInfile)
    add(
      'local-infile',
      'local_infile is off, so no chunk can be loaded.',
      'Set local_infile=1 in the parameter group of the database (the data stack does), or: set global local_infile = 1;',
    )
  if (facts.maxAllowedPacket < PACKET_BYTES_MIN)
    add(
      'max-allowed-packet',
      `max_allowed_packet is ${facts.maxAllowedPacket} bytes, less than the ${PACKET_BYTES_MIN} of our largest statement.`,
      'Set max_allowed_packet=67108864 in the parameter group of the database, or: set global max_allowed_packet = 67108864;',
    )
  if (!['', 'ROW'].includes(facts.binlogFormat))
    add(
      'binlog-format',
      `binlog_format is ${facts.binlogFormat}, and MySQL refuses READ COMMITTED writes in any format but ROW.`,
      'Set binlog_format=ROW in the parameter group of the database.',
    )
  return found
}
