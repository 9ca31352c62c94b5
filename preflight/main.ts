import { parseArgs } from 'node:util'
import { pipelineConfig, STAGE_NAMES, stageConfig } from '../infra/config/stages.ts'
import { lookAtPlace, lookAtQuotas } from './account.ts'
import { lookAtLocal } from './against-local.ts'
import { type Findings, joined, linesOf } from './lacks.ts'
import { lookAtStores } from './stores.ts'
import { lookAtPipelineValues, lookAtValues } from './values.ts'

const USAGE = `npm run preflight -- --stage NAME     what its account, its quotas and its existing MySQL and Valkey lack
npm run preflight -- --stage pipeline what the pipeline's account and its values lack
npm run preflight -- --against local  the same questions to the local stack's MySQL and Valkey

It changes nothing, and ends with 1 if something is lacking. It asks AWS with your own credentials. Where a stage has stores
that exist, run it where they can be reached: in the VPC. SHARELOCK_VALKEY_USER and SHARELOCK_VALKEY_PASSWORD may name a user
of Valkey that may ask INFO, since the locks' own user may not.`

const lookAtStage = async (stage: string): Promise<Findings> => {
  if (stage === 'pipeline') return joined([lookAtPipelineValues(), await lookAtPlace(pipelineConfig())])
  const config = stageConfig(stage)
  if (config.kind === 'local') throw new Error('The local stage is not deployed; try --against local')
  const place = await lookAtPlace(config)
  // Another account's quotas, or nobody's, would be answers about something else.
  const isThere = place.lacks.every(({ check }) => check !== 'credentials' && check !== 'account')
  return joined([
    lookAtValues(config),
    place,
    ...(isThere ? [await lookAtQuotas(config), await lookAtStores(config, process.env)] : []),
  ])
}

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: { stage: { type: 'string' }, against: { type: 'string' }, help: { type: 'boolean' } },
  })
  const { stage, against, help = false } = values
  if (help || (stage === undefined) === (against === undefined) || (against ?? 'local') !== 'local') {
    console.log(`${USAGE}\n\nThe stages are: ${STAGE_NAMES.join(', ')}`)
    process.exitCode = help ? 0 : 2
    return
  }
  const say = (line: string) => console.error(line)
  const findings = stage === undefined ? await lookAtLocal(process.env, say) : await lookAtStage(stage)
  for (const line of linesOf(findings)) console.log(line)
  const { length } = findings.lacks
  console.log(
    length === 0 ? '\nNothing is lacking.' : `\n${length === 1 ? 'One thing is' : `${length} things are`} lacking.`,
  )
  process.exitCode = length === 0 ? 0 : 1
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
