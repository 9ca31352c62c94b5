import { Hono } from 'hono'
import type { SliceName } from '../../functions/contract/words.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { OperationError } from '../operations/operation-error.ts'
import type { StartOptions, StartPlan } from '../operations/start-plan.ts'
import { openWarnings } from '../operations/warnings.ts'
import { answer, type Console, type ConsoleRequest, type Env, goTo, viewOf } from './context.ts'
import { sliceAddress, sliceOf } from './page-data.ts'
import { type Action, askPage } from './pages/ask.ts'
import type { View } from './pages/layout.ts'
import { planPage } from './pages/plan.ts'
import { acceptedOf } from './pages/warnings.ts'
import { problemLine, STATUS_OF } from './problems.ts'

/** A form's fields by name. */
type Fields = Readonly<Record<string, string>>

/** Where a change leads, and what its page says at the top. */
type Done = { readonly execution?: string; readonly notice: string }

/**
 * Everything that changes something, by POST alone. A refusal brings the form back with its reason, so that what was
 * wrong can be corrected where it was typed.
 */
export const actionRoutes = (desk: Console): Hono<Env> => {
  const app = new Hono<Env>()
  const { operations, plans } = desk

  app.post('/slices/:distributor/:month/resume', (c) =>
    act(desk, c, 'resume', async (slice, fields) => {
      const seen = { job: numberOf(fields.job), fence: numberOf(fields.fence) }
      const { executionArn, joined } = await operations.resume(slice, {
        wait: fields.wait === '1',
        why: fields.why,
        seen,
      })
      return { execution: executionArn, notice: joined ? 'Joined' : 'Resumed' }
    }),
  )

  app.post('/slices/:distributor/:month/stop', (c) =>
    act(desk, c, 'stop', async (slice, fields) => {
      const stopped = await operations.stop(slice, fields.why ?? '')
      if ('ended' in stopped) return { notice: 'Ended' }
      return { notice: stopped.halted ? 'Stopped' : 'NotStopped' }
    }),
  )

  app.post('/slices/:distributor/:month/unlock', (c) =>
    act(desk, c, 'unlock', async (slice, fields) => {
      requireTyped(viewOf(desk, c), slice, fields)
      const { released } = await operations.unlock(slice, fields.tokenDigest ?? '', fields.why ?? '')
      return { notice: released ? 'Unlocked' : 'NotUnlocked' }
    }),
  )

  app.post('/slices/:distributor/:month/withdraw', (c) =>
    act(desk, c, 'withdraw', async (slice, fields) => {
      requireTyped(viewOf(desk, c), slice, fields)
      const { withdrawn } = await operations.withdraw(numberOf(fields.job), fields.why ?? '')
      return { notice: withdrawn ? 'Withdrawn' : 'NotWithdrawn' }
    }),
  )

  app.post('/slices/:distributor/:month/undo', async (c) => {
    await ownFields(desk, c)
    const plan = await operations.planUndo(sliceOf(c.req.param('distributor'), c.req.param('month')))
    return goTo(desk, c, `/plans/${await plans.keep({ kind: 'undo', plan, file: null })}`)
  })

  app.post('/plans/:id/start', async (c) => {
    const fields = await ownFields(desk, c)
    const id = c.req.param('id')
    const kept = plans.get(id)
    const view = viewOf(desk, c)
    if (kept === undefined) throw new OperationError('NotFound', view.words.planGone)
    try {
      const { executionArn, joined } = await operations[kept.kind](kept.plan, optionsOf(fields))
      await plans.forget(id)
      const notice = joined ? 'Joined' : kept.kind === 'undo' ? 'Undone' : 'Started'
      return goTo(desk, c, sliceAddress(kept.plan, executionArn, notice))
    } catch (error) {
      if (!(error instanceof OperationError)) throw error
      const problem = startProblem(view, kept.plan, optionsOf(fields), error)
      return await answer(desk, c, view, planPage(view, id, kept, problem), STATUS_OF[error.name])
    }
  })

  return app
}

/** @throws OperationError Unconfirmed where the slice's name was not typed */
const requireTyped = ({ words }: View, slice: SliceName, { confirmation }: Fields): void => {
  const name = sliceName(slice)
  if (confirmation !== name) throw new OperationError('Unconfirmed', words.mistyped(name))
}

/** Why a start did not begin: most often the slice's name was mistyped. */
const startProblem = ({ words }: View, plan: StartPlan, options: StartOptions, error: OperationError): string =>
  error.name === 'Unconfirmed' && openWarnings(plan, options).length === 0
    ? words.mistyped(sliceName(plan))
    : problemLine(words, error)

const optionsOf = (fields: Fields): StartOptions => ({
  supersede: fields.supersede === '1',
  force: fields.force === '1',
  wait: fields.wait === '1',
  why: fields.why,
  confirmation: fields.confirmation || undefined,
  accept: acceptedOf(fields),
})

/** A number that our own page put into the form; 0, which no job and no fence is, where somebody took it out. */
const numberOf = (text: string | undefined): number => Number(text) || 0

/** The fields of one of our own forms. @throws ForeignRequest */
const ownFields = async ({ session }: Console, c: ConsoleRequest): Promise<Fields> => {
  const body = await c.req.parseBody()
  session.requireOwnForm(body.csrf)
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value.trim()]] : [])),
  )
}

const act = async (
  desk: Console,
  c: ConsoleRequest,
  action: Action,
  run: (slice: SliceName, fields: Fields) => Promise<Done>,
): Promise<Response> => {
  const fields = await ownFields(desk, c)
  const slice = sliceOf(c.req.param('distributor'), c.req.param('month'))
  try {
    const { execution, notice } = await run(slice, fields)
    return goTo(desk, c, sliceAddress(slice, execution, notice))
  } catch (error) {
    if (!(error instanceof OperationError) || error.name === 'Unreachable') throw error
    const view = viewOf(desk, c)
    const report = await desk.operations.show(slice)
    return await answer(
      desk,
      c,
      view,
      askPage(view, action, report, problemLine(view.words, error)),
      STATUS_OF[error.name],
    )
  }
}
