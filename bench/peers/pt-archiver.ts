import type { Method } from './method.ts'
import type { Tools } from './tools.ts'

/** Percona Toolkit’s archiver as a deleter: chunks of 10,000 rows along the primary key, each committed. */
export const ptArchiver = (tools: Tools): Method => ({
  name: 'pt-archiver',
  step: 'delete',
  pace: 'fast',
  atomic: false,
  start: ({ host, port, database, user, distributorId, month }) =>
    tools.start('pt-archiver', [
      ...['--source', `h=${host},P=${port},D=${database},t=share_ratio,u=${user}`],
      ...[
        '--where',
        `distributor_id = ${distributorId} and settlement_month = '${month}' and slot = 0 and isrc > '' and isrc < '['`,
      ],
      ...['--purge', '--primary-key-only', '--bulk-delete', '--limit', '10000', '--commit-each', '--no-check-charset'],
    ]),
})
