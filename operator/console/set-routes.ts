import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { Hono } from 'hono'
import { streamChanges } from '../operations/change-stream.ts'
import type { ChangeSinks } from '../operations/changes.ts'
import { OperationError } from '../operations/operation-error.ts'
import { answer, type Console, type ConsoleRequest, type Env, viewOf } from './context.ts'
import { comparePage } from './pages/set.ts'

const jobOf = (text: string | undefined): number => {
  if (/^[1-9]\d{0,14}$/.test(text ?? '')) return Number(text)
  throw new OperationError('NotFound', "A job's number is needed.")
}

const jobsOf = (c: ConsoleRequest) => ({ before: jobOf(c.req.query('before')), after: jobOf(c.req.query('after')) })

/** Saved and not shown. What breaks off is a download that failed: the connection ends before the body does. */
const saved = (c: ConsoleRequest, name: string, type: string, lines: Readable): Response =>
  c.body(Readable.toWeb(lines) as ReadableStream, 200, {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${name}"`,
  })

const CSV = 'text/csv; charset=utf-8'

/** Every changed row of a comparison, as it finds them. */
const savedRows = (c: ConsoleRequest, name: string, run: (sinks: ChangeSinks) => Promise<unknown>): Response => {
  const { lines, found } = streamChanges((rows) => run({ rows }))
  // The stream breaks with it.
  found.catch(() => undefined)
  return saved(c, name, CSV, lines)
}

/** Every party of a comparison, once it is done. */
const savedParties = async (
  c: ConsoleRequest,
  name: string,
  run: (sinks: ChangeSinks) => Promise<unknown>,
): Promise<Response> => {
  let text = ''
  await run({
    parties: async (lines) => {
      text = [...lines].join('')
    },
  })
  return saved(c, name, CSV, Readable.from([text]))
}

/** The rows of a job, how those of two differ, and what a plan would change. */
export const setRoutes = (desk: Console): Hono<Env> => {
  const app = new Hono<Env>()
  const { operations } = desk

  app.get('/jobs/:job/rows.csv.gz', async (c) => {
    const set = await operations.exportSet(jobOf(c.req.param('job')))
    const packed = createGzip()
    const rows = Readable.from(set.csv, { objectMode: false })
    rows.once('error', (error) => packed.destroy(error))
    packed.once('close', () => rows.destroy())
    return saved(c, `${set.distributor}-${set.month}-job-${set.job}.csv.gz`, 'application/gzip', rows.pipe(packed))
  })

  app.get('/compare', async (c) => {
    const view = viewOf(desk, c)
    return await answer(desk, c, view, comparePage(view, await operations.diffSets(jobsOf(c))))
  })

  for (const [what, give] of [
    ['rows', savedRows],
    ['parties', savedParties],
  ] as const) {
    app.get(`/compare/${what}.csv`, (c) => {
      const jobs = jobsOf(c)
      const name = `job-${jobs.before}-job-${jobs.after}-${what}.csv`
      return give(c, name, (sinks) => operations.diffSets(jobs, sinks))
    })
    // The file is read once more, so that no plan keeps a second copy of its rows on the disk.
    app.get(`/plans/:id/${what}.csv`, (c) => {
      const kept = desk.plans.get(c.req.param('id'))
      if (kept === undefined) throw new OperationError('NotFound', viewOf(desk, c).words.planGone)
      const { distributor, month, source } = kept.plan
      const gone = new AbortController()
      c.env.outgoing.once('close', () => gone.abort())
      return give(c, `${distributor}-${month}-${what}.csv`, (sinks) =>
        operations.planStart({ distributor, month }, source, undefined, gone.signal, sinks),
      )
    })
  }
  return app
}
