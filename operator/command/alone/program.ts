import { Command } from 'commander'
import packed from '../../../package.json' with { type: 'json' }
import { addOwnProfile } from '../profile.ts'
import { throwErrors } from '../run-program.ts'
import { addValidate } from '../validate.ts'

/** The commands that need no AWS. */
export const buildAlone = (): Command => {
  const program = new Command('sharelock')
    .description('Checks files of share ratios by every rule that they are registered by. It needs nothing but Node.')
    .version(packed.version, '-V, --version', 'print the version')
    .option('--json', 'one JSON document on stdout; text for people goes to stderr')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
  addValidate(program)
  addOwnProfile(program)
  throwErrors(program)
  return program
}
