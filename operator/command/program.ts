import { Command } from 'commander'
import packed from '../../package.json' with { type: 'json' }
import { table } from '../format/table.ts'
import { addAudit } from './audit.ts'
import { addCompletion } from './completion.ts'
import { addConsole } from './console.ts'
import { addDemo } from './demo.ts'
import { addDiff } from './diff.ts'
import { addDistributors } from './distributors.ts'
import { addDoctor } from './doctor.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { addExport } from './export.ts'
import { withFormat } from './formats.ts'
import { addList } from './list.ts'
import { addPlan } from './plan.ts'
import { addProfile } from './profile.ts'
import { addReport } from './report.ts'
import { addResume } from './resume.ts'
import { throwErrors } from './run-program.ts'
import { addShow } from './show.ts'
import { addStart } from './start.ts'
import { addStop } from './stop.ts'
import { addUndo } from './undo.ts'
import { addUnlock } from './unlock.ts'
import { addValidate } from './validate.ts'
import { addWatch } from './watch.ts'
import { addWithdraw } from './withdraw.ts'

const exitCodes = (): string =>
  ['Exit codes:', ...table(EXIT_CODES.map(({ code, name, meaning }) => [`  ${code}`, name, meaning]))].join('\n')

const EXAMPLES = `Examples:
  sharelock validate shares.csv                          is the file right? needs no AWS
  sharelock plan -d ARIA -m 2026-10 --file shares.csv    what would change, row by row
  sharelock start -d ARIA -m 2026-10 --file shares.csv   register it, and watch
  sharelock list                                         how far every month is
  sharelock doctor                                       what is wrong, and what fixes it

AWS is found as by every AWS tool: AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL_... and the files under ~/.aws. The variables
that \`npm run local\` prints lead to the local stack instead.`

/** The whole command. Errors are thrown, not printed: the caller decides how they are shown. */
export const buildProgram = (): Command => {
  const program = new Command('sharelock')
    .description("Registers distributors' monthly share ratios, and watches, stops, resumes and undoes their runs.")
    .version(packed.version, '-V, --version', 'print the version')
    .option('--stage <name>', 'the stage, e.g. prod (or set SHARELOCK_STAGE)')
    .option('-q, --quiet', 'no progress: answers, refusals and errors only')
    .option('--json', 'one JSON document on stdout (watch: one line a look); text for people goes to stderr')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .addHelpText('after', `\n${EXAMPLES}\n\n${exitCodes()}`)
  for (const add of [
    addValidate,
    addPlan,
    addStart,
    addWatch,
    addList,
    addShow,
    addResume,
    addStop,
    addUndo,
    addUnlock,
  ])
    add(program)
  for (const add of [addWithdraw, addExport, addDiff, addReport, addDistributors, addProfile]) add(program)
  for (const add of [addDoctor, addAudit, addConsole, addDemo]) add(program)
  addCompletion(program)
  withFormat(program)
  throwErrors(program)
  return program
}
