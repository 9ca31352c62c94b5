/**
 * The encodings that a profile may name, by the names of their standards or, where there are several readings, of
 * Microsoft's code pages, since that is what a spreadsheet writes. Each decodes exactly or refuses.
 */
const NAMED_ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'cp949', 'cp932', 'gb18030', 'cp950', 'windows-1252'] as const

export const ENCODINGS = ['detected', ...NAMED_ENCODINGS] as const
export type Encoding = (typeof ENCODINGS)[number]
