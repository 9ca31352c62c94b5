import type { Ground, Say } from '../ground.ts'
import type { Findings } from '../result.ts'
import type { Sizes } from '../settings.ts'

type Common = {
  readonly name: string
  readonly title: string
  readonly about: string
}

/** What the findings say about themselves beside the machine: versions and settings of servers and peers. */
export type Found = Findings & { readonly settings?: Readonly<Record<string, string>> }

/** A part of the benchmark that can be run by itself. Those that need MySQL share one ground. */
export type Section = Common &
  (
    | { readonly needs: 'ground'; readonly measure: (ground: Ground) => Promise<Found> }
    | { readonly needs: 'nothing'; readonly measure: (sizes: Sizes, say: Say) => Promise<Found> }
  )
