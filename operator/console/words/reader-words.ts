/** What the console says about the set that readers see, in English. */
export const readerWordsEn = {
  readersSee: (job: number | null) => (job === null ? 'Readers see no set.' : `Readers see the set of job ${job}.`),
  waitsFor: 'Waits for',
  withdraw: 'Withdraw',
  withdrawAsk: (slice: string) => `Withdraw ${slice}?`,
  withdrawWhat: (job: number) =>
    `Readers see the set of job ${job}. From then on they see none. No row is deleted: an undo shows the set again. Do this when the set belongs to another month or distributor; where an earlier set should be read instead, use Undo.`,
  noticeWithdrawn: 'Withdrawn. Readers see no set of this month; an undo shows it again.',
  noticeNotWithdrawn: 'The set had been withdrawn before. An undo shows it again.',
}

/** The same in Korean. */
export const readerWordsKo: typeof readerWordsEn = {
  readersSee: (job) => (job === null ? '조회되는 세트가 없습니다.' : `작업 ${job}의 세트가 조회됩니다.`),
  waitsFor: '대기 대상',
  withdraw: '공개 철회',
  withdrawAsk: (slice) => `${slice}의 공개를 철회하시겠습니까?`,
  withdrawWhat: (job) =>
    `지금은 작업 ${job}의 세트가 조회됩니다. 철회하면 아무 세트도 조회되지 않습니다. 행은 삭제되지 않으며 되돌리기로 다시 공개할 수 있습니다. 다른 달이나 다른 유통사의 세트일 때 사용해 주십시오. 이전 세트를 대신 공개하려면 되돌리기를 사용해 주십시오.`,
  noticeWithdrawn: '공개를 철회했습니다. 이 달은 아무 세트도 조회되지 않으며, 되돌리기로 다시 공개할 수 있습니다.',
  noticeNotWithdrawn: '이미 공개가 철회된 세트입니다. 되돌리기로 다시 공개할 수 있습니다.',
}
