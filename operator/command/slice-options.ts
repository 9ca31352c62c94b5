import type { Command } from 'commander'

/** `--distributor` and `--month`, which name a slice. */
export const withSlice = (command: Command): Command =>
  command
    .option('-d, --distributor <code>', 'the distributor, e.g. ARIA')
    .option('-m, --month <month>', 'the settlement month, e.g. 2026-10')

/** What has to be typed where a change asks for it, given beforehand. */
export const withConfirmation = (command: Command): Command =>
  command.option('--confirm <text>', 'what would have to be typed, e.g. "ARIA 2026-10"')

/** What every command that starts a run may be told. */
export const withBeginning = (command: Command): Command =>
  command
    .option('--wait', 'wait for a run that holds the slice, up to two hours, instead of being refused')
    .option('--detach', 'start and leave; do not watch')
    .option('--why <text>', 'a reason, for the audit trail')
