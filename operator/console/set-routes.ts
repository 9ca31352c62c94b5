import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { Hono } from 'hono'
import { streamChanges } from '../operations/change-stream.ts'
import { OperationError } from '../operations/operation-error.ts'
import { answer, type Console, type ConsoleRequest, type Env, viewOf } from './context.ts'
import { comparePage } from './pages/set.ts'

const jobOf = (text: string | undefined): number => {
  if (/^[1-9]\d{0,14}$/.test(text ?? '')) return Number(text)
  throw new OperationError('NotFound', "A job's number is needed.")
}

/** Saved and not shown. What breaks off is a download that failed: the connection ends before the body does. */
const saved = (c: ConsoleRequest, name: string, type: string, lines: Readable): Response =>
  c.body(Readable.toWeb(lines) as ReadableStream, 200, {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${name}"`,
  })

/** The rows of a job, and how those of two differ. */
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
    const jobs = { before: jobOf(c.req.query('before')), after: jobOf(c.req.query('after')) }
    const view = viewOf(desk, c)
    return await answer(desk, c, view, comparePage(view, await operations.diffSets(jobs)))
  })

  app.get('/compare/rows.csv', (c) => {
    const jobs = { before: jobOf(c.req.query('before')), after: jobOf(c.req.query('after')) }
    const { lines, found } = streamChanges((take) => operations.diffSets(jobs, take))
    // The stream breaks with it.
    found.catch(() => undefined)
    return saved(c, `job-${jobs.before}-job-${jobs.after}.csv`, 'text/csv; charset=utf-8', lines)
  })
  return app
}
