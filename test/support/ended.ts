/** How an execution ended, as DescribeExecution tells it. */
export type Ended = {
  readonly arn: string
  readonly name: string
  readonly status: string
  readonly error: string | undefined
  readonly cause: string
  readonly output: Output
}

/** What tests look at in the final state of an execution. */
export type Output = {
  readonly job?: { readonly id: number; readonly fence: number; readonly state: string; readonly outcome: string }
  readonly staged?: { readonly digest: string; readonly rows: number; readonly chunks: number }
  readonly lock?: { readonly held: boolean }
  readonly reacquire?: { readonly count: number }
  readonly publish?: { readonly published: number }
  readonly release?: { readonly released: boolean }
  readonly replan?: { readonly Error: string }
}

/** A Lambda failure's cause is JSON text, as in AWS; a person reads its message. */
export const causeText = (cause: string | undefined): string => {
  try {
    return String((JSON.parse(cause ?? '') as { errorMessage?: string }).errorMessage)
  } catch {
    return cause ?? ''
  }
}
