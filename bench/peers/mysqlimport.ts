import { LANES } from '../floor.ts'
import type { Tools } from './tools.ts'
import type { Target, Way } from './way.ts'

/** MySQL’s own loader: LOAD DATA LOCAL from the command line, a transaction a file. It deletes whole tables only. */
const started = (tools: Tools, { host, port, user, database }: Target, args: readonly string[]) =>
  tools.start('mysqlimport', ['-h', host, '-P', String(port), '-u', user, '--local', '--silent', database, ...args])

export const mysqlimport = (tools: Tools): readonly Way[] => [
  {
    name: 'mysqlimport, one file',
    step: 'register',
    pace: 'fast',
    atomic: true,
    start: (target) => started(tools, target, [target.files.one]),
  },
  {
    name: `mysqlimport, ${LANES} threads, a file a chunk`,
    step: 'register',
    pace: 'fast',
    atomic: false,
    start: (target) => started(tools, target, [`--use-threads=${LANES}`, ...target.files.split]),
  },
]
