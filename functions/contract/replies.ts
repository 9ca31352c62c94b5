import type { Checks } from './checks.ts'
import type { ProfileReport } from './profile-report.ts'
import type {
  AuditLine,
  Deployment,
  DistributorLine,
  Recorded,
  SetReport,
  SliceLine,
  SliceReport,
  SliceRows,
  Stopped,
  Unlocked,
  Withdrawn,
} from './reports.ts'
import type { Neighbours, WarnedFile } from './warnings.ts'

/** The reply to each question. */
export type InspectReply = {
  readonly deployment: Deployment
  readonly slices: readonly SliceLine[]
  readonly warned: readonly WarnedFile[]
  readonly slice: SliceReport
  readonly job: SliceReport
  readonly rows: SliceRows
  readonly set: SetReport | null
  readonly neighbours: Neighbours
  readonly distributors: readonly DistributorLine[]
  readonly profile: ProfileReport
  readonly audit: readonly AuditLine[]
  readonly checks: Checks
}

/** The reply to each action. */
export type OperateReply = {
  readonly record: Recorded
  readonly stop: Stopped
  readonly unlock: Unlocked
  readonly withdraw: Withdrawn
  readonly 'put-distributor': DistributorLine
  readonly 'set-profile': ProfileReport
}
