type Compare = (a: number, b: number) => number

/**
 * The numbers 0 to `count` - 1 in the order of `compare`; equal ones keep their order. A merge sort over two arrays of
 * 4 bytes a number: TypedArray.prototype.sort with a comparator copies into arrays of values several times as large.
 * Input in order, the usual case of an exported file, costs one pass.
 */
export const sortOrder = (count: number, compare: Compare): Uint32Array => {
  let order = new Uint32Array(count)
  let ordered = true
  for (let place = 0; place < count; place++) {
    order[place] = place
    if (ordered && place > 0) ordered = compare(place - 1, place) <= 0
  }
  if (ordered) return order
  let merged = new Uint32Array(count)
  for (let width = 1; width < count; width *= 2) {
    for (let start = 0; start < count; start += 2 * width) {
      const middle = Math.min(start + width, count)
      mergeRuns(order, merged, start, middle, Math.min(middle + width, count), compare)
    }
    ;[order, merged] = [merged, order]
  }
  return order
}

/** Merges two neighbouring ordered runs of `from` into the same places of `to`. */
const mergeRuns = (
  from: Uint32Array,
  to: Uint32Array,
  start: number,
  middle: number,
  end: number,
  compare: Compare,
): void => {
  if (middle === end || compare(from[middle - 1] as number, from[middle] as number) <= 0) {
    to.set(from.subarray(start, end), start)
    return
  }
  let left = start
  let right = middle
  for (let place = start; place < end; place++) {
    const takesLeft = right >= end || (left < middle && compare(from[left] as number, from[right] as number) <= 0)
    to[place] = from[takesLeft ? left++ : right++] as number
  }
}
