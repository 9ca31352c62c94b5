import { writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../../local/host/paths.ts'
import type { Combination } from './matrix/combination.ts'
import { LARGE } from './matrix/fault-lab.ts'
import { MOMENTS } from './matrix/moments.ts'
import type { Result } from './matrix/trial.ts'
import { FAULTS } from './matrix.ts'
import { replayOf } from './run-matrix.ts'
import { replaySoak, type SoakResult } from './soak/soak.ts'

/** Where and with what a run was made. */
export type Conditions = {
  readonly command: string
  readonly mysql: string
  readonly valkey: string
  readonly minutes: number
  /** Trials for which the time was up. */
  readonly notRun: readonly Combination[]
}

/** One row of the table: all tries of a fault at a moment. */
type Row = {
  readonly fault: string
  readonly moment: string
  readonly beginnings: string
  readonly tries: number
  readonly outcome: string
  readonly violations: number
}

const PAGE = join(ROOT, 'docs', 'reliability.md')

const rowsOf = (results: readonly Result[]): Row[] =>
  FAULTS.flatMap((fault) =>
    MOMENTS.flatMap((moment): Row[] => {
      const own = results.filter((one) => one.fault === fault.id && one.moment === moment.id)
      if (own.length === 0) return []
      const outcomes = [...new Set(own.map(({ outcome }) => outcome))].join(' / ')
      const violations = own.reduce((sum, one) => sum + one.violations.length, 0)
      const beginnings = [...new Set(own.map(({ beginning }) => beginning))].join(', ')
      return [
        { fault: fault.title, moment: moment.title, beginnings, tries: own.length, outcome: outcomes, violations },
      ]
    }),
  )

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** How many runs ended by themselves, and how many needed another. */
const summaryOf = (rows: readonly Row[]): string =>
  table(
    ['fault', 'tries', 'the run itself ended exactly', 'exact by another run or when run again', 'violations'],
    FAULTS.map(({ title }) => {
      const own = rows.filter(({ fault }) => fault === title)
      const tries = own.reduce((sum, one) => sum + one.tries, 0)
      const exact = own.filter(({ outcome }) => outcome === 'exact').reduce((sum, one) => sum + one.tries, 0)
      return [title, tries, exact, tries - exact, own.reduce((sum, one) => sum + one.violations, 0)]
    }),
  )

const listOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .sort(([, one], [, other]) => other - one)
    .map(([what, times]) => `${what} ${times}`)
    .join(', ')

export const soakLines = (soak: SoakResult): string[] => [
  `- ${soak.minutes} minutes, seed ${soak.seed}: \`${replaySoak(soak)}\``,
  `- Requests: ${listOf(soak.requests)}.`,
  `- Runs by their end: ${listOf(soak.runs)}.`,
  `- Faults: ${listOf(soak.faults)}.`,
  `- Looks of the readers: ${soak.looks}.`,
  `- Violations: ${soak.violations.length}.`,
]

const version = (text: string): string => /\d+\.\d+\.\d+/.exec(text)?.[0] ?? text

const headOf = ({ command, mysql, valkey, minutes }: Conditions): string =>
  [
    `\`${command}\`, ${new Date().toISOString().slice(0, 10)}, ${minutes.toFixed(1)} minutes;`,
    `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB;`,
    `MySQL ${version(mysql)}, Valkey ${version(valkey)}, Node ${process.versions.node}.`,
  ].join(' ')

/** What a reader must not take for shown: a slow machine runs out of the matrix's time. */
const gapsOf = (notRun: readonly Combination[]): string =>
  notRun.length === 0
    ? ''
    : `\n**Not run, for the time was up: ${notRun.length} trials.** ${FAULTS.flatMap(({ id }) => {
        const moments = notRun.filter(({ fault }) => fault.id === id).map(({ moment }) => moment.id)
        return moments.length === 0 ? [] : [`\`${id}\` at ${moments.join(', ')}`]
      }).join('; ')}.\n`

/** The page of a run of the matrix. */
export const pageOf = (results: readonly Result[], soak: SoakResult | undefined, conditions: Conditions): string => {
  const rows = rowsOf(results)
  const violations = rows.reduce((sum, one) => sum + one.violations, 0)
  const violated = results.filter((one) => one.violations.length > 0)
  return `# Faults and their outcomes

Written by ${headOf(conditions)}

${results.length} runs of the job, each with one fault at one moment, **${violations} violations**. Real MySQL, Valkey and Lambda sandboxes, the production bundles, the state machine of the synthesised template; all on loopback.
${gapsOf(conditions.notRun)}
## What was done

- Three beginnings take turns. *First*: rows of an older system, which nobody is shown, replaced in place. *Standby*: a set of 150 rows is shown, the other slot has rows of nobody that the run has to delete, or for ReuseSet the whole set that an undo goes back to. *In-place*: a set is shown and the run replaces it where it lies. \`--tries 3\` has each cell from all of them.
- A run deletes 150 rows (${LARGE.rows.toLocaleString('en-US')} where a delete chunk is looked into) and registers 250 in ten chunks and two lanes, and a fault hits when the run reaches the moment. Relays in front of MySQL and Valkey see the statement pass and hold it: "after" means that the server has done it and the sandbox does not know it. A task's moment is in the middle of its work: its first effect is there, but not all of it.
- If the run does not end well, the same file is started again and has to end exactly. A lock that was left behind is checked first (it is a run's own, and it has an end). Then it is deleted, as its TTL would do.
- "Exact": the slice holds the file to the last row (a fingerprint over all rows), readers see it, the ledger agrees, the lock is free.
- MySQL is restored from a snapshot of its disk that was taken before the run, or in the middle of it, and the workers go on. In the third and the fourth kind another run has begun meanwhile. In the third it is the same server, as behind a failover that lost commits, and the run is given the same numbers; in the fourth it is another one, as RDS restores, and the run's first fence is above all that anybody was told before. The record of the lost time is lost too. A run has succeeded from MarkRegistered's answer on, so no restore comes after it.
- Valkey fails over to a second server that stopped following before the run: it knows nothing, or a lock that was released since and lasts another moment. A run that has its job has to end well.
- A transfer from S3 goes byte by byte until the task's time, which is shortened to 10 s (a chunk loop's to 44 s), is over; it completes when the same sandbox is in the middle of its next transaction.
- A status event is held and delivered when the next run is in the middle of its work; that run has to end well. For a name that is another execution's the local engine forgets the first, as Step Functions does after 90 days.
- A clock that is off is that of the functions: sandboxes that start from the moment on have another date than MySQL, Valkey and the sandboxes that were there.
- A redrive is the task called again with its recorded input, after another run has done the month: the local engine has no redrive, and the operators' policy does not allow it.

## What is checked, from outside

None of it shares code with the handlers. Triggers in MySQL record every statement that changes rows and every change of a job row, with the job as the writing transaction saw it. So the record is complete, and nothing that was rolled back is in it. MONITOR in Valkey records every change of a lock. The relays know which sandbox made it, and the stack knows what that sandbox was told. After each fault, and again after the resume:

1. Every delete happened in DELETING and every insert in REGISTERING, under the fence and the acquisition that its writer was given.
2. States went one step at a time; DELETED was set over an empty slice, REGISTERED over as many rows as the file has; fences only grew; no two jobs of a slice were open at once. Each was set under the row's own acquisition, and a job was halted for its own execution only.
3. Rows and ledger agree; a halted job says why, and readers see none of its rows. Four readers look at the slice all the time: a plain select, a \`select ... for share\`, an \`insert ... select\`, and \`require_settled_slice\` with a select behind it, under REPEATABLE READ, the last three in transactions that they hold for a moment. Each sees the rows of exactly one job, as many and with the sum that this job promised, or nothing; and in the mode standby never nothing once a set was shown, unless an operator withdrew it.
4. Locks were created by AcquireLock alone, with an end, extended and deleted only by the one that had their token, and deleted only when their job was REGISTERED or its fence raised.
5. One event for each halt and each REGISTERED, delivered, none that is not in the outbox; the sweeper may have had to publish it.
6. The months beside the slice and a bystander's slice are as they were.
7. What happened, in the order of MySQL's binary log, is taken through the model of the protocol step by step: see [model.md](model.md).

## Faults

${summaryOf(rows)}

## Soak

Operators, the schedule and faults at random on five slices at once; at the end every slice is resumed where it has to be, and compared with the file of its newest job.

${soak === undefined ? 'Not run.' : soakLines(soak).join('\n')}

## Every fault at every moment

${table(
  ['fault', 'moment', 'beginning', 'tries', 'outcome', 'violations'],
  rows.map((row) => [row.fault, row.moment, row.beginnings, row.tries, row.outcome, row.violations]),
)}
${violated.length === 0 ? '' : `\n## Violations\n\n${violated.map((one) => `- \`${replayOf(one)}\`: ${one.violations.join('; ')}`).join('\n')}\n`}
## What this does not show

It ran on one machine with local disks, one MySQL and one Valkey. A Multi-AZ failover of RDS and of ElastiCache, TLS, IAM passwords, sleeping network interfaces, a clock that makes S3 or IAM refuse a signature, throttling and the limits of AWS's own Step Functions are not in it. The local engine replaces Step Functions and waits 50 ms where the definition waits seconds. So a run here gives up after one second of an outage; in AWS it would wait for minutes. The slices are small: a fault in a full chunk lasts longer, and hits more often. Each fault comes alone, except in the soak, and the soak's seed fixes the choices, not the timing. Where a fault is answered by a relay in MySQL's place (deadlock, lock timeout, full disk) MySQL itself had none; the two that a second transaction makes are real. A violation that needs two rare moments at once may still be there: see [model.md](model.md) for the search over all orders of events.
`
}

export const writePage = async (page: string): Promise<void> => await writeFile(PAGE, page)
