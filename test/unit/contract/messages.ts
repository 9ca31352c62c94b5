/* One whole message of each kind. */

export const DIGEST = '0123456789abcdef'.repeat(4)
export const request = { distributor: 'ARIA', month: '2026-10', source: { key: 'incoming/ARIA/2026-10.csv' } }
export const execution = 'arn:aws:states:ap-northeast-2:000000000000:execution:Job:ARIA-2026-10-1'

export const full = {
  ...{ ...request, onHeld: 'wait', onOutage: 'proceed', supersede: true, force: true, requestedBy: 'schedule' },
  expect: { digest: DIGEST, head: { job: 11, fence: 2, state: 'REGISTERED' }, after: [execution] },
}

export const slice = { distributorId: 7, distributor: 'ARIA', month: '2026-10' }
export const staged = { digest: DIGEST, rows: 800_000, shareSum: '20000000.000000', chunks: 80 }
export const lock = { token: 'ARIA-2026-10-1/8c5f', held: true }
export const job = { id: 12, fence: 3, state: 'REGISTERING', outcome: 'taken over', reusesSet: false }
export const head = { job: 12, fence: 3 }
export const guarded = { slice, lock, onOutage: 'halt', job }
const failure = { Error: 'ChunkMismatch', Cause: '{}' }
export const fromCatch = { execution, slice, lock, job, failure }
export const life = { startedAt: '2026-10-31T09:15:00.123Z', redrives: 0 }
export const detail = { executionArn: execution, status: 'TIMED_OUT', startDate: 1_793_438_100_123, redriveCount: 0 }
export const statusEvent = { 'detail-type': 'Step Functions Execution Status Change', detail }

export const month = {
  month: '2026-10',
  starts: [
    {
      ...{ distributor: 'ARIA', ending: 'csv.gz', run: 'scheduled-0123456789ab-2' },
      head: { job: 11, fence: 2, state: 'REGISTERED' },
    },
  ],
  already: [{ distributor: 'BALLAD', job: 12 }],
  left: [{ distributor: 'CANTATA', reason: 'job 13, requested by kim, REGISTERED at 2026-11-10T02:00:00.000Z' }],
  leftCount: 1,
  warned: [{ distributor: 'ETUDE', reason: 'warnings of incoming/ETUDE/2026-10.csv: fractions (3)' }],
  warnedCount: 1,
  missing: [{ distributor: 'DUET', reason: 'no file' }],
  missingCount: 1,
}

export const manifest = {
  version: 1,
  digest: DIGEST,
  rows: 30,
  shareSum: '1000.000000',
  tracks: 10,
  parties: 12,
  chunks: [
    { number: 0, rows: 20, bytes: 900, digest: DIGEST, firstIsrc: 'KRA012600001', lastIsrc: 'KRA012600006' },
    { number: 1, rows: 10, bytes: 450, digest: DIGEST, firstIsrc: 'KRA012600007', lastIsrc: 'KRA012600010' },
  ],
}
