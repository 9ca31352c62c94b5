import { rm } from 'node:fs/promises'
import { Hono } from 'hono'
import { DistributorCode } from '../../functions/contract/messages.ts'
import type { Profile } from '../../functions/contract/profile.ts'
import type { Preview } from '../../functions/job/staging/preview-source.ts'
import { OperationError } from '../operations/operation-error.ts'
import { parseProfile } from '../operations/profile-file.ts'
import type { Proposal } from '../operations/proposal.ts'
import { answer, type Console, type ConsoleRequest, type Env, goTo, viewOf } from './context.ts'
import { type ProfileDesk, profilePage, profileText } from './pages/profile.ts'
import { problemLine, STATUS_OF } from './problems.ts'
import { receiveUpload } from './upload.ts'

type Shown = Partial<Omit<ProfileDesk, 'report' | 'bytesMax'>>

/** How a distributor's files are written: to see, to propose from a file, to try on one, to set. */
export const profileRoutes = (desk: Console): Hono<Env> => {
  const app = new Hono<Env>()
  const { operations } = desk

  app.get('/distributors/:distributor/profile', (c) => show(desk, c, { wasSet: c.req.query('notice') === 'Set' }, 200))

  app.post('/distributors/:distributor/profile', async (c) => {
    const { folder, uploadBytesMax: bytesMax, session } = desk
    const check = (fields: Readonly<Record<string, string>>): void => session.requireOwnForm(fields.csrf)
    const { fields, file } = await receiveUpload(c.env.incoming, { folder, bytesMax, check })
    const code = codeOf(c)
    const gone = new AbortController()
    c.env.outgoing.once('close', () => gone.abort())
    const { profile: text = '', why = '' } = fields
    try {
      if (c.req.query('what') === 'set') {
        await operations.setProfile(code, written(c, desk, text), why)
        return goTo(desk, c, `/distributors/${code}/profile?notice=Set`)
      }
      if (file === null) throw new OperationError('Usage', viewOf(desk, c).words.profileNeedsFile)
      if (c.req.query('what') !== 'propose')
        return await show(desk, c, {
          text,
          why,
          preview: await preview(desk, code, file, written(c, desk, text), gone.signal),
        })
      const proposal = await propose(desk, file, gone.signal)
      const shown = { why, proposal, preview: await preview(desk, code, file, proposal.profile, gone.signal) }
      return await show(desk, c, { ...shown, text: profileText(proposal) })
    } catch (error) {
      if (!(error instanceof OperationError) || error.name === 'Unreachable') throw error
      const problem = problemLine(viewOf(desk, c).words, error)
      return await show(desk, c, { text, why, problem }, STATUS_OF[error.name])
    } finally {
      if (file !== null) await rm(file, { force: true })
    }
  })

  return app
}

/** @throws OperationError NotFound */
const codeOf = (c: ConsoleRequest): string => {
  const { data } = DistributorCode.safeParse(c.req.param('distributor'))
  if (data !== undefined) return data
  throw new OperationError('NotFound', `There is no distributor ${c.req.param('distributor')}.`)
}

const written = (c: ConsoleRequest, desk: Console, text: string): Profile =>
  parseProfile(text.trim() === '' ? '{}' : text, viewOf(desk, c).words.profileField)

const propose = async ({ operations }: Console, file: string, signal: AbortSignal): Promise<Proposal> =>
  await operations.proposeProfile(file, { encoding: 'detected' }, { columns: {}, rightType: undefined }, signal)

const preview = async (
  { operations }: Console,
  code: string,
  file: string,
  profile: Profile,
  signal: AbortSignal,
): Promise<Preview> => {
  const rules = (await operations.distributors()).find((each) => each.code === code)
  if (rules === undefined) throw new OperationError('NotFound', `No distributor has the code ${code}.`)
  return await operations.testProfile(file, { rules, profile }, signal)
}

const show = async (
  desk: Console,
  c: ConsoleRequest,
  shown: Shown,
  status: Parameters<typeof answer>[4] = 200,
): Promise<Response> => {
  const view = viewOf(desk, c)
  const report = await desk.operations.profile(codeOf(c))
  const page = profilePage(view, {
    ...{ report, bytesMax: desk.uploadBytesMax, text: profileText(report), why: '' },
    ...{ problem: null, wasSet: false, proposal: null, preview: null },
    ...shown,
  })
  return await answer(desk, c, view, page, status)
}
