import { startStack } from '../../../local/stack.ts'

/** Run by local-stack.test.ts, which kills it: brings a stack up, freezes a sandbox, and says what must be gone later. */
const stack = await startStack({ app: process.argv[2] ?? '', prepare: async () => undefined })
await stack.lambda.invoke('Obedient', '{}')
const sandboxes = stack.lambda.sandboxes.map(({ pid }) => pid)
for (const pid of sandboxes) process.kill(pid, 'SIGSTOP')
const servers = [stack.database.server?.pid, stack.lock.server?.pid, stack.aws.pid]
process.stdout.write(`${JSON.stringify({ pids: [...sandboxes, ...servers], folder: stack.folder })}\n`)
process.on('SIGTERM', () => void stack.stop().then(() => process.exit(0)))
// Nothing else keeps this process up for certain.
setInterval(() => undefined, 60_000)
