import { rm } from 'node:fs/promises'
import { Hono } from 'hono'
import { Month } from '../../functions/contract/messages.ts'
import { lastMonth } from '../../functions/contract/months.ts'
import { OperationError } from '../operations/operation-error.ts'
import type { StartPlan } from '../operations/start-plan.ts'
import { answer, type Console, type ConsoleRequest, type Env, goTo, viewOf } from './context.ts'
import { planPage } from './pages/plan.ts'
import { startPage } from './pages/start.ts'
import { receiveUpload, type Upload } from './upload.ts'

/** The way to a start: a form, the look at the file, and the page that shows what it would change. */
export const startRoutes = (desk: Console): Hono<Env> => {
  const app = new Hono<Env>()
  const { plans, operations } = desk

  app.get('/start', (c) =>
    showForm(
      desk,
      c,
      { distributor: c.req.query('distributor'), month: c.req.query('month'), key: c.req.query('key') },
      null,
    ),
  )

  app.post('/plans', async (c) => {
    const { folder, uploadBytesMax: bytesMax, session } = desk
    const check = (fields: Upload['fields']): void => session.requireOwnForm(fields.csrf)
    const { fields, file } = await receiveUpload(c.env.incoming, { folder, bytesMax, check })
    // Nobody waits for the check of a file whose page was left.
    const gone = new AbortController()
    c.env.outgoing.once('close', () => gone.abort())
    let isKept = false
    try {
      const { words } = viewOf(desk, c)
      const source = sourceOf(fields.key?.trim() ?? '', file)
      const month = Month.safeParse(fields.month)
      if (!month.success) return await showForm(desk, c, fields, words.notMonth)
      if (source === null) return await showForm(desk, c, fields, words.oneSource)
      const slice = { distributor: fields.distributor ?? '', month: month.data }
      const plan = await operations.planStart(slice, source, undefined, gone.signal)
      const staying = plan.validation.accepted ? file : null
      const id = await plans.keep({ kind: 'start', plan, file: staying })
      isKept = staying !== null
      return goTo(desk, c, `/plans/${id}`)
    } finally {
      if (file !== null && !isKept) await rm(file, { force: true })
    }
  })

  app.get('/plans/:id', async (c) => {
    const view = viewOf(desk, c)
    const id = c.req.param('id')
    const plan = plans.get(id)
    if (plan === undefined) throw new OperationError('NotFound', view.words.planGone)
    return await answer(desk, c, view, planPage(view, id, plan, null))
  })

  return app
}

const sourceOf = (key: string, file: string | null): StartPlan['source'] | null => {
  if ((key === '') === (file === null)) return null
  return file === null ? { key } : { path: file }
}

const showForm = async (
  desk: Console,
  c: ConsoleRequest,
  fields: Readonly<Record<string, string | undefined>>,
  problem: string | null,
): Promise<Response> => {
  const view = viewOf(desk, c)
  const form = {
    distributors: await desk.operations.distributors(),
    distributor: fields.distributor ?? '',
    month: fields.month ?? lastMonth(),
    key: fields.key ?? '',
    bytesMax: desk.uploadBytesMax,
    problem,
  }
  return await answer(desk, c, view, startPage(view, form), problem === null ? 200 : 400)
}
