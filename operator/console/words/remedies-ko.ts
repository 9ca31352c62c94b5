import type { EndName, FailureName } from '../../../functions/contract/failure-table.ts'
import { type Remedy, remedyText } from '../../../functions/contract/remedies.ts'

const SHOW = '이 정산월의 현재 상태를 확인해 주십시오'
const OTHER_WROTE =
  '다른 프로그램이 이 정산월에 데이터를 기록했습니다. 그 프로그램을 중지한 뒤 처음부터 다시 시작해 주십시오'
const OVERTAKEN = '다른 실행이 작업을 이어받았습니다. 최신 작업을 확인해 주십시오'
const VALKEY_CAUSE = '원인에 적힌 Valkey 문제를 해결한 뒤 계속 진행해 주십시오'

/** The advice of each failure, as in the table of failures: a name without a row here does not compile. */
const ADVICE_KO: Readonly<Record<FailureName | EndName, string>> = {
  LockHeld:
    '이 정산월을 점유한 실행이 계속 진행 중인지, 잠금만 남겨 두었는지 확인해 주십시오. 기다리도록 선택하고 시작할 수도 있습니다',
  LockAwaited: '어느 실행이 몇 시간째 이 정산월을 점유하고 있는지 확인해 주십시오',
  LockTaken: '다른 실행이 이 정산월을 너무 오래 점유했습니다. 그 실행이 끝나면 계속 진행해 주십시오',
  DatabaseUnreachable: 'MySQL이 다시 응답하면 계속 진행해 주십시오',
  DatabaseBlocked: '원인에 적힌 세션이 끝나면 계속 진행해 주십시오',
  ReadersInTheWay: '원인에 적힌 조회 프로그램의 트랜잭션이 끝나면 이어서 진행하세요',
  DatabaseFull: 'MySQL에 여유 공간이 생기면 계속 진행해 주십시오',
  DatabaseReadOnly: 'MySQL이 다시 쓰기를 허용하면 계속 진행해 주십시오',
  DatabaseLoginRefused: 'MySQL이 함수의 로그인을 다시 허용하면 계속 진행해 주십시오',
  LockUnreachable: 'Valkey가 다시 응답하면 계속 진행해 주십시오',
  LockRefused: VALKEY_CAUSE,
  StorageUnreachable: 'S3가 다시 응답하면 계속 진행해 주십시오',
  OutOfTime: '저장소가 느려 태스크의 제한 시간을 넘겼습니다. 속도가 회복되면 계속 진행해 주십시오',
  InvocationOver: '태스크가 끝나기 전에 이미 응답이 처리되었습니다. 계속 진행해 주십시오',
  LockLost: '잠금을 여러 번 잃었습니다. 계속 진행해 주십시오',
  StaleFence: '다른 실행이 작업을 이어받았거나 누군가 이 실행을 중지했습니다. 최신 작업을 확인해 주십시오',
  Superseded: OVERTAKEN,
  ExecutionEnded: '시작하기 전에 중지되거나 잠금이 해제되었습니다. 준비되면 계속 진행해 주십시오',
  InvalidInput: '요청이 잘못되었고 아무것도 변경되지 않았습니다. 다시 시작해 주십시오',
  UnknownDistributor: '유통사 코드를 확인해 주십시오. 대소문자를 구분하며, 새 유통사는 첫 파일 전에 추가해야 합니다',
  SourceMissing: '파일이 버킷에 없습니다. 파일이 있는 곳에서 다시 시작해 주십시오',
  SourceRejected: '아무것도 변경되지 않았습니다. 파일을 고친 뒤 다시 시작해 주십시오',
  WarningsUnconfirmed:
    '아무것도 변경되지 않았습니다. 파일이 맞는지 확인해 주십시오. 계획이 각 경고를 보여 주고 확인을 요청합니다',
  NothingToUndo: '이전에 등록된 세트가 없습니다. 현재 상태를 확인해 주십시오',
  PlanMoved: '아무것도 변경되지 않았습니다. 새 계획을 확인한 뒤 다시 시작해 주십시오',
  StagedSourceDamaged: '그 세트의 원본 파일로 다시 시작해 주십시오. 없어진 부분이 새로 기록됩니다',
  JobOpenError: '열린 작업을 그대로 재개하거나, 그 작업을 닫고 새 파일로 시작해 주십시오',
  ChunkMismatch: OTHER_WROTE,
  SliceNotEmpty: '행이 남아 있습니다. 계속 진행해 주십시오',
  SliceKeepsFilling: '다른 프로그램이 계속 행을 추가하고 있습니다. 그 프로그램을 중지한 뒤 계속 진행해 주십시오',
  SliceMismatch: OTHER_WROTE,
  ChunksUnfinished: '등록되지 않은 청크가 있습니다. 계속 진행해 주십시오',
  DatabaseMisconfigured: '원인에 적힌 MySQL 문제를 해결한 뒤 계속 진행해 주십시오',
  DatabaseRefused: '이 데이터베이스에서 그 오류가 무엇을 뜻하는지 확인한 뒤 계속 진행해 주십시오',
  ConstraintRefused: '다른 프로그램의 외래 키, 트리거 또는 체크를 제거한 뒤 계속 진행해 주십시오',
  LockMisconfigured: VALKEY_CAUSE,
  UnknownJob: '작업이 있는 정산월의 목록을 확인해 주십시오',
  NotLocked: SHOW,
  NotOpen: SHOW,
  NotShown: '지금 조회되는 세트와 그 작업을 확인해 주십시오',
  LockChanged: '잠금을 해제하기 전에 다시 확인해 주십시오',
  DistributorExists: '추가하지 말고 기존 유통사를 변경해 주십시오',
  ExecutionABORTED: '누군가 실행을 중지했습니다. 준비되면 계속 진행해 주십시오',
  ExecutionTIMED_OUT: '실행이 허용된 시간을 넘겼습니다. 계속 진행해 주십시오',
  ExecutionFAILED: '작업을 중단하기 전에 실행이 실패했습니다. 계속 진행해 주십시오',
  Abandoned: '작업의 실행이 사라졌습니다. 계속 진행해 주십시오',
  Stopped: '운영자가 중지했습니다. 준비되면 계속 진행해 주십시오',
  Unlocked: '운영자가 잠금을 해제했습니다. 준비되면 계속 진행해 주십시오',
}

/** Of what Lambda or Step Functions calls an error. */
const UNKNOWN = '원인을 확인한 뒤 계속 진행해 주십시오'

export const remedyKo = ({ failure, command }: Remedy): string => {
  const advice = Object.hasOwn(ADVICE_KO, failure) ? ADVICE_KO[failure as FailureName] : UNKNOWN
  return remedyText({ advice, command })
}
