import {
  AcquireLockInput,
  ChunkInput,
  HaltFromCatch,
  OpenJobInput,
  PublishEventsInput,
  ReadHeadInput,
  ReleaseLockInput,
  StageSourceInput,
  TransitionInput,
} from '../../../functions/contract/messages.ts'

/** What each task takes at its door. */
export const SCHEMAS = {
  StageSource: StageSourceInput,
  AcquireLock: AcquireLockInput,
  ReadHead: ReadHeadInput,
  OpenJob: OpenJobInput,
  ReuseSet: TransitionInput,
  PlanDelete: TransitionInput,
  DeleteChunk: ChunkInput,
  MarkDeleted: TransitionInput,
  BeginRegistering: TransitionInput,
  RegisterChunk: ChunkInput,
  MarkRegistered: TransitionInput,
  ReleaseLock: ReleaseLockInput,
  PublishEvents: PublishEventsInput,
  HaltJob: HaltFromCatch,
} as const
