import { CANONICAL } from '../../../functions/contract/profile.ts'
import type { Preview } from '../../../functions/job/staging/preview-source.ts'
import { previewSource } from '../../../functions/job/staging/preview-source.ts'
import type { Judging } from '../check-source.ts'
import { PREVIEW_ROWS } from '../limits.ts'
import type { Named, Proposal, SampleOptions } from '../proposal.ts'
import { openFile, readable } from '../validate.ts'
import { propose } from './propose.ts'

/** What a profile makes of the first rows of a file of this machine. @throws OperationError NotFound, Usage, Rejected */
export const testProfile = async (path: string, { rules, profile = CANONICAL }: Judging): Promise<Preview> => {
  await openFile(path)
  return await previewSource(readable(path), rules, profile, PREVIEW_ROWS)
}

/** A profile for files like this one. @throws OperationError NotFound, Usage, Rejected */
export const proposeFor = async (path: string, options: SampleOptions, named: Named): Promise<Proposal> => {
  await openFile(path)
  return await propose(() => readable(path), options, named)
}
