/** What the console says where something did not go, in English. */
export const problemWordsEn = {
  problemFailed: 'Something unexpected happened',
  problemUsage: 'This request is not possible',
  problemRejected: 'The file is refused',
  problemBusy: 'Another run works on this month',
  problemHalted: 'The run did not reach its end',
  problemUnconfirmed: 'It was not confirmed',
  problemUnreachable: 'A service cannot be reached',
  problemNotFound: 'This does not exist',
  problemFindings: 'Something was found',
  problemPlanMoved: 'What was shown has changed since',
  problemRetries: 'This page asks again every few seconds.',
  problemPage: 'There is no page at this address.',
  problemMethod: 'This address does not accept such a request. Use the buttons on the pages.',
  problemForged: 'This request did not come from a page of this console. Nothing was done.',
  problemTooLarge: 'What was sent is too large.',
  problemMalformed: 'The upload could not be read. Send the file again.',
}

/** The same in Korean. */
export const problemWordsKo: typeof problemWordsEn = {
  problemFailed: '예기치 않은 문제가 발생했습니다',
  problemUsage: '요청을 처리할 수 없습니다',
  problemRejected: '파일이 거부되었습니다',
  problemBusy: '이 정산월은 다른 실행이 처리하고 있습니다',
  problemHalted: '실행이 끝까지 진행되지 못했습니다',
  problemUnconfirmed: '확인되지 않았습니다',
  problemUnreachable: '서비스에 연결할 수 없습니다',
  problemNotFound: '찾을 수 없습니다',
  problemFindings: '확인이 필요한 항목이 있습니다',
  problemPlanMoved: '확인한 뒤에 내용이 바뀌었습니다',
  problemRetries: '이 화면은 몇 초마다 다시 확인합니다.',
  problemPage: '이 주소에는 화면이 없습니다.',
  problemMethod: '이 주소는 이러한 요청을 받지 않습니다. 조치는 화면의 버튼으로 수행해 주십시오.',
  problemForged: '이 콘솔의 화면에서 보낸 요청이 아닙니다. 아무 작업도 수행하지 않았습니다.',
  problemTooLarge: '보낸 내용이 너무 큽니다.',
  problemMalformed: '업로드를 읽을 수 없습니다. 파일을 다시 보내 주십시오.',
}
