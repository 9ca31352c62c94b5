/** What a shell sees of a program that a closed pipe ended (128 and SIGPIPE's 13): Node ignores that signal. */
export const PIPE_CLOSED = 141

/**
 * Ends the process without a word once nobody reads what it writes, as in `sharelock audit --json | head -c 100`. Not
 * with 0: not all of the answer was written, and what came behind it was not done.
 */
export const endWithPipe = (): void => {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(PIPE_CLOSED)
      throw error
    })
}
