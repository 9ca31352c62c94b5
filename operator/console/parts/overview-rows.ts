import type { DistributorLine, SliceLine } from '../../../functions/contract/reports.ts'

export type OverviewCell = SliceLine | 'late' | null

/** One distributor with its cells, in the order of the months. */
export type OverviewRow = { readonly distributor: DistributorLine; readonly cells: readonly OverviewCell[] }

/**
 * The months (newest first) of every distributor that is active or has a job in them.
 *
 * A month without a job is late where the distributor is active and another one's is settled. Months before its first
 * job do not count, for it may be new; where it never had one here, only the newest settled month does.
 */
export const overviewRows = (
  distributors: readonly DistributorLine[],
  slices: readonly SliceLine[],
  months: readonly string[],
): OverviewRow[] => {
  const found = new Map(slices.map((slice) => [`${slice.distributor} ${slice.month}`, slice]))
  const settled = new Set(slices.filter(({ status }) => status === 'settled').map(({ month }) => month))
  const newestSettled = months.find((month) => settled.has(month))
  return distributors
    .map((distributor) => {
      const lines = months.map((month) => found.get(`${distributor.code} ${month}`) ?? null)
      const first = lines.findLastIndex((line) => line !== null)
      const isLate = (month: string, index: number): boolean =>
        distributor.active && settled.has(month) && (first === -1 ? month === newestSettled : index < first)
      const cells = lines.map((line, index) => line ?? (isLate(months[index] ?? '', index) ? 'late' : null))
      return { distributor, cells }
    })
    .filter(({ distributor, cells }) => distributor.active || cells.some((cell) => cell !== null))
}
