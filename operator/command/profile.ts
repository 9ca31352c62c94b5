import type { Command } from 'commander'
import { profileDocument } from '../../functions/contract/profile.ts'
import type { ProfileReport } from '../../functions/contract/profile-report.ts'
import { table } from '../format/table.ts'
import { OperationError } from '../operations/operation-error.ts'
import { acting, codeOf } from './command-context.ts'
import { addPropose } from './profile-propose.ts'
import { addTest } from './profile-test.ts'

const VERSION = /^\d{1,9}$/

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
    .summary("show how a distributor's files are written")
    .option('--version <number>', 'an older version; 0 is the canonical file')
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock profile show ARIA\n  sharelock profile show ARIA --version 1 --json',
    )
    .action(
      acting(async ({ out, operations }, code: string, { version }: { readonly version?: string }) => {
        if (version !== undefined && !VERSION.test(version))
          throw new OperationError('Usage', '--version is the number of a version.')
        const asked = version === undefined ? undefined : Number(version)
        const report = await (await operations()).profile(codeOf(code), asked)
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
    .argument('<profile>', 'a JSON file, as `profile propose` writes it')
    .summary('set how they are written, from the next file on')
    .option('--why <text>', 'a reason, for the audit trail')
    .addHelpText('after', '\nExample:\n  sharelock profile set ARIA aria.json --why "they send workbooks from now on"')
    .action(
      acting(async ({ out, operations }, code: string, path: string, { why = '' }: { readonly why?: string }) => {
        const { readProfile } = await import('../operations/profile-file.ts')
        const profile = await readProfile(path)
        const report = await (await operations()).setProfile(codeOf(code), profile, why)
        out.document(report)
        out.answer(...reportLines(report))
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
