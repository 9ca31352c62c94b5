import { ITEM_CHUNKS_MIN, MAP_ITEMS_MAX } from './limits.ts'
import type { Item } from './messages.ts'

/**
 * Groups chunk numbers into Map items: contiguous in number, at most MAP_ITEMS_MAX of them.
 * Numbers need not be contiguous (a resumed job has gaps); an item's gap holds only marked chunks, which are skipped.
 *
 * @param numbers ascending numbers of the chunks still to do
 */
export const planItems = (numbers: readonly number[]): Item[] => {
  const size = Math.max(ITEM_CHUNKS_MIN, Math.ceil(numbers.length / MAP_ITEMS_MAX))
  const items: Item[] = []
  for (let start = 0; start < numbers.length; start += size) {
    const from = numbers[start]
    const to = numbers[Math.min(start + size, numbers.length) - 1]
    if (from !== undefined && to !== undefined) items.push({ from, to })
  }
  return items
}
