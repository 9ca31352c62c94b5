import { Hono } from 'hono'
import { REPORT_FORMS, type ReportForm } from '../../functions/contract/file-report.ts'
import { reportText } from '../../functions/job/staging/report/report-text.ts'
import { localReport } from '../operations/local-report.ts'
import { OperationError } from '../operations/operation-error.ts'
import { type Console, type ConsoleRequest, type Env, viewOf } from './context.ts'
import { sliceOf } from './page-data.ts'

const formOf = (form: string | undefined): ReportForm => {
  if (form !== undefined && Object.hasOwn(REPORT_FORMS, form)) return form as ReportForm
  throw new OperationError('NotFound', 'A report is csv, html or json.')
}

/** Reports are saved and not shown: what a file holds is never a page of the console. */
const saved = (c: ConsoleRequest, form: ReportForm, name: string, text: string): Response =>
  c.body(text, 200, {
    'Content-Type': REPORT_FORMS[form],
    'Content-Disposition': `attachment; filename="${name.replace(/[^\w.-]/g, '_')}.${form}"`,
  })

/** The reports of files, to send back to their senders. */
export const reportRoutes = (desk: Console): Hono<Env> => {
  const app = new Hono<Env>()
  app.get('/slices/:distributor/:month/report/:execution/:form', async (c) => {
    const slice = sliceOf(c.req.param('distributor'), c.req.param('month'))
    const [form, execution] = [formOf(c.req.param('form')), c.req.param('execution')]
    const { text } = await desk.operations.report(slice, form, execution)
    return saved(c, form, execution, text)
  })
  app.get('/plans/:id/report/:form', (c) => {
    const kept = desk.plans.get(c.req.param('id'))
    if (kept === undefined) throw new OperationError('NotFound', viewOf(desk, c).words.planGone)
    const { plan } = kept
    const form = formOf(c.req.param('form'))
    const key = 'key' in plan.source ? plan.source.key : ''
    return saved(
      c,
      form,
      `${plan.distributor}-${plan.month}`,
      reportText(form, localReport(key, plan, plan.validation, plan.warnings)),
    )
  })
  return app
}
