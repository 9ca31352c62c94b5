import { Command } from 'commander'

/** Reads the command line of `npm run local`; prints help or what is wrong with an option and ends. */
export const readOptions = (argv: readonly string[]): { readonly fresh: boolean } =>
  new Command('npm run local --')
    .description(
      `Keeps MySQL, Valkey and the services of AWS up on this machine until Ctrl-C, for \`sharelock\`, the AWS CLI or an SDK.

Data and ports stay as they are for the next start. \`sharelock\` finds the stack by itself while it runs and no other stage is named.`,
    )
    .option('--fresh', 'throw the data of earlier starts away first', false)
    .addHelpText(
      'after',
      `
Examples:
  npm run local                the stack as it was left
  npm run local -- --fresh     an empty one
  sharelock demo               in another terminal: eight distributors and a year`,
    )
    .parse(argv as string[])
    .opts<{ fresh: boolean }>()
