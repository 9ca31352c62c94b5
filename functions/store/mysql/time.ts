/** `2026-10-10 02:00:00.123456`, as MySQL writes a moment in UTC -> `2026-10-10T02:00:00.123Z`. */
export const isoTime = (text: string): string => `${text.slice(0, 10)}T${text.slice(11, 23)}Z`

export const isoTimeOrNull = (text: string | null): string | null => (text === null ? null : isoTime(text))
