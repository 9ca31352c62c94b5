import type { Command } from 'commander'
import { profileDocument } from '../../functions/contract/profile.ts'
import type { ProfileReport } from '../../functions/contract/profile-report.ts'
import { quoted } from '../../functions/contract/visible.ts'
import { table } from '../format/table.ts'
import { OperationError } from '../operations/operation-error.ts'
import { acting, type CommandContext, codeOf } from './command-context.ts'
import { addPropose } from './profile-propose.ts'
import { addTest } from './profile-test.ts'

const VERSION = /^\d{1,9}$/

type SetOptions = { readonly why?: string; readonly again?: string }

const versionOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  if (VERSION.test(text)) return Number(text)
  throw new OperationError('Usage', `${quoted(text)} is not the number of a version.`)
}

const reportLines = ({ distributor, version, profile, versions }: ProfileReport): string[] => [
  version === 0
    ? `${distributor} has no profile: its files are canonical CSV.`
    : `${distributor}, version ${version} of its profile; what it does not say is as in the canonical file:`,
  ...(version === 0 ? [] : JSON.stringify(profileDocument(profile), null, 2).split('\n')),
  ...(versions.length === 0 ? [] : ['', ...versionLines(versions)]),
]

const versionLines = (versions: ProfileReport['versions']): string[] =>
  table([
    ['version', 'set at', 'by', 'why'],
    ...versions.map(({ version, setAt, setBy, why }) => [String(version), setAt, setBy, why]),
  ])

const addShow = (parent: Command): void => {
  parent
    .command('show')
    .argument('<code>', 'the distributor')
    .argument('[version]', 'an older version; 0 is the canonical file')
    .summary("show how a distributor's files are written")
    .addHelpText('after', '\nExamples:\n  sharelock profile show ARIA\n  sharelock profile show ARIA 1 --json')
    .action(
      acting(async ({ out, operations }, code: string, version: string | undefined, _options: object) => {
        const report = await (await operations()).profile(codeOf(code), versionOf(version))
        out.document(report)
        out.answer(...reportLines(report))
        return 0
      }),
    )
}

const addSet = (parent: Command): void => {
  parent
    .command('set')
    .argument('<code>', 'the distributor')
    .argument('[profile]', 'a JSON file, as `profile propose` writes it')
    .summary('set how they are written, from the next file on')
    .option('--again <version>', 'or what this version says; 0 is the canonical file')
    .option('--why <text>', 'a reason, for the audit trail')
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock profile set ARIA aria.json --why "they send workbooks from now on"\n  sharelock profile set ARIA --again 1',
    )
    .action(
      acting(async (context: CommandContext, code: string, path: string | undefined, options: SetOptions) => {
        const { why = '', again } = options
        if ((path === undefined) === (again === undefined))
          throw new OperationError('Usage', 'Name either a profile or an older version: PROFILE or --again VERSION.')
        const operations = await context.operations()
        const { readProfile } = await import('../operations/profile-file.ts')
        const profile =
          path === undefined
            ? (await operations.profile(codeOf(code), versionOf(again))).profile
            : await readProfile(path)
        const report = await operations.setProfile(codeOf(code), profile, why)
        context.out.document(report)
        context.out.answer(...reportLines(report))
        return 0
      }),
    )
}

export const addProfile = (program: Command): void => {
  const parent = program
    .command('profile')
    .summary("show, set, propose or test how a distributor's files are written")
    .description(
      "Shows, sets, proposes or tests a profile: how a distributor's files are written. `propose` and `test` need neither AWS nor a database.",
    )
  addShow(parent)
  addSet(parent)
  addPropose(parent)
  addTest(parent)
}

/** What of it needs no AWS. */
export const addOwnProfile = (program: Command): void => {
  const parent = program.command('profile').summary('propose or test how files are written')
  addPropose(parent)
  addTest(parent)
}
