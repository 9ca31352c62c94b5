import { en, type Words } from './en.ts'
import { ko } from './ko.ts'

export const LANGUAGES = ['en', 'ko'] as const
export type Language = (typeof LANGUAGES)[number]

/** Each language under its own name, as its readers look for it. */
export const LANGUAGE_NAMES = { en: 'English', ko: '한국어' } as const satisfies Record<Language, string>

const CATALOGUES: Record<Language, Words> = { en, ko }

export const wordsOf = (language: Language): Words => CATALOGUES[language]
