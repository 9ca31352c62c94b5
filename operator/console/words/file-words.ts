import type { Warning } from '../../../functions/contract/warnings.ts'
import { koreanOf } from '../../../functions/job/staging/report/korean.ts'

/** What the console says about warnings and reports of a file, in English. */
export const fileWordsEn = {
  warnings: 'Warnings',
  warningsLead: 'All of this is legal and probably a mistake. Look at the file before you start it.',
  warningSentence: ({ message }: Warning) => `The file ${message}.`,
  warningRows: (count: string) => `${count} found`,
  warningLine: (line: string) => `line ${line}`,
  accept: (name: string) => `I have looked, and ${name} is right`,
  wereConfirmed: 'A job of this month had exactly these rows before, so nobody is asked again.',
  report: 'Report for the sender',
  warnedFiles: 'Not started by the schedule: look at these files, and confirm their warnings where they are right',
  held: 'Held back',
  heldRows: (rows: string, tracks: string, sum: string) =>
    `${rows} rows of ${tracks} tracks above 100, sum ${sum}; they are not registered.`,
  errorsShown: (shown: string, total: string) => `The first ${shown} of ${total} errors`,
  errorsStopped: (line: string) => `There are more: reading stopped at line ${line}.`,
  line: 'Line',
  column: 'Column',
  value: 'Value',
  rule: 'Rule',
  problem: 'What is wrong',
}

/** The same in Korean. */
export const fileWordsKo: typeof fileWordsEn = {
  warnings: '경고',
  warningsLead: '아래 내용은 허용되지만 대개 실수입니다. 시작하기 전에 파일을 확인해 주십시오.',
  warningSentence: ({ name }) => koreanOf(name),
  warningRows: (count) => `${count}건`,
  warningLine: (line) => `${line}행`,
  accept: (name) => `확인했으며 ${name} 경고는 문제가 없습니다`,
  wereConfirmed: '이 정산월의 작업에 이미 같은 행이 등록된 적이 있어 다시 묻지 않습니다.',
  report: '보낸 곳에 돌려줄 보고서',
  warnedFiles: '일정에 따라 시작되지 않은 파일입니다. 확인하고 문제가 없으면 경고를 확인해 주십시오',
  held: '보류',
  heldRows: (rows, tracks, sum) => `합이 100을 넘는 ${tracks}곡의 ${rows}행(합계 ${sum})은 등록되지 않습니다.`,
  errorsShown: (shown, total) => `오류 ${total}건 중 처음 ${shown}건`,
  errorsStopped: (line) => `오류가 더 있습니다. ${line}번째 줄에서 읽기를 멈췄습니다.`,
  line: '줄',
  column: '열',
  value: '값',
  rule: '규칙',
  problem: '문제',
}
