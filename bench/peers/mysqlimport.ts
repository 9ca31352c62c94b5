import { LANES } from '../harness/floor.ts'
import type { Method, Target } from './method.ts'
import type { Tools } from './tools.ts'

/** MySQL’s own loader: LOAD DATA LOCAL from the command line, a transaction a file. It deletes whole tables only. */
const started = (tools: Tools, { host, port, user, database }: Target, args: readonly string[]) =>
  tools.start('mysqlimport', ['-h', host, '-P', String(port), '-u', user, '--local', '--silent', database, ...args])

export const mysqlimport = (tools: Tools): readonly Method[] => [
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
