const NUMBER = new Intl.NumberFormat('en-US')

/** How people read a number: `1,600`. */
export const count = (value: number): string => NUMBER.format(value)

/** `1 row`, `1,600 rows`. @param nouns of any other number than one */
export const counted = (value: number, noun: string, nouns = `${noun}s`): string =>
  `${count(value)} ${value === 1 ? noun : nouns}`
