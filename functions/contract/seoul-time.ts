/** The Swedish way to write a time is ISO's, which sorts. The settlement's calendar is Seoul's, wherever one sits. */
const SEOUL = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Seoul', dateStyle: 'short', timeStyle: 'medium' })

/**
 * A moment as the clocks in Seoul show it. It is converted and never cut out of a text: 2 March 02:00 there is still
 * 1 March in UTC.
 *
 * @param moment a Date, or ISO 8601
 * @returns `2026-11-05 09:12:33`
 */
export const seoulTime = (moment: Date | string): string => SEOUL.format(new Date(moment))
