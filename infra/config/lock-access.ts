import { lockPrefix } from './stores.ts'

/** Every command that the lock's scripts and their client send, and no other. */
export const LOCK_COMMANDS = ['get', 'set', 'del', 'pexpire', 'pttl', 'eval'] as const

/** On the stage's own locks only, without channels. The braces are part of the key: see lockKey in contract/words.ts. */
export const accessString = (stage: string): string =>
  `on ~${lockPrefix(stage)}{sharelock:* resetchannels -@all ${LOCK_COMMANDS.map((command) => `+${command}`).join(' ')}`
