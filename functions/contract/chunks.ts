import { ITEM_CHUNKS, ITEM_SHARE_MAX, ITEMS_ADDED_MAX, MAP_ITEMS_MAX } from './limits.ts'
import type { Item } from './messages.ts'

/**
 * Groups chunk numbers into Map items: contiguous in number, at most MAP_ITEMS_MAX of them, smaller towards the end. What
 * fits into one item is one: a second sandbox takes longer to start.
 * Numbers need not be contiguous (a resumed job has gaps); an item's gap holds only marked chunks, which are skipped.
 *
 * @param numbers ascending numbers of the chunks still to do
 */
export const planItems = (numbers: readonly number[]): Item[] => {
  const largest = Math.max(ITEM_CHUNKS, Math.ceil(numbers.length / (MAP_ITEMS_MAX - ITEMS_ADDED_MAX)))
  const share = numbers.length > ITEM_CHUNKS ? ITEM_SHARE_MAX : 1
  const items: Item[] = []
  for (let start = 0, size = 0; start < numbers.length; start += size) {
    size = Math.min(largest, Math.ceil((numbers.length - start) * share))
    const from = numbers[start]
    const to = numbers[start + size - 1]
    if (from !== undefined && to !== undefined) items.push({ from, to })
  }
  return items
}
