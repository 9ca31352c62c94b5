/** What the console says about the rows of a job and how they differ from another's, in English. */
export const setWordsEn = {
  exportSet: 'Save these rows (CSV, gzip)',
  compareWith: 'Compare with the rows of',
  compare: 'Compare',
  compareTitle: (before: number, after: number) => `Job ${before} and job ${after}`,
  jobOfSlice: (job: number, slice: string) => `Job ${job}, ${slice}`,
  largestChanges: 'Largest changes',
  partiesChanges: 'Each party',
  ofAll: (shown: string, all: string) => `${shown} of ${all}`,
  right: 'Right',
  party: 'Party',
  shareBefore: 'Before',
  shareAfter: 'After',
  shareDifference: 'Difference',
  allChanges: 'All rows that differ (CSV)',
  allParties: 'All parties (CSV)',
  noChanges: 'No row differs.',
}

/** The same in Korean. */
export const setWordsKo: typeof setWordsEn = {
  exportSet: '이 행들을 저장(CSV, gzip)',
  compareWith: '행을 비교할 작업',
  compare: '비교',
  compareTitle: (before, after) => `작업 ${before}번과 ${after}번`,
  jobOfSlice: (job, slice) => `작업 ${job}번, ${slice}`,
  largestChanges: '가장 큰 변경',
  partiesChanges: '수취인별',
  ofAll: (shown, all) => `${all}건 중 ${shown}건`,
  right: '권리',
  party: '수취인',
  shareBefore: '이전',
  shareAfter: '이후',
  shareDifference: '차이',
  allChanges: '달라진 모든 행(CSV)',
  allParties: '모든 수취인(CSV)',
  noChanges: '달라진 행이 없습니다.',
}
