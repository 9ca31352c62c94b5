import type { Findings } from '../harness/result.ts'
import type { Sizes } from '../harness/settings.ts'
import type { Say, Testbed } from '../harness/testbed.ts'

type Common = {
  readonly name: string
  readonly title: string
  readonly about: string
}

/** What the findings say about themselves beside the machine: versions and settings of servers and peers. */
export type Found = Findings & { readonly settings?: Readonly<Record<string, string>> }

/** A part of the benchmark that can be run by itself. Those that need MySQL share one testbed. */
export type Section = Common &
  (
    | { readonly needs: 'testbed'; readonly measure: (testbed: Testbed) => Promise<Found> }
    | { readonly needs: 'nothing'; readonly measure: (sizes: Sizes, say: Say) => Promise<Found> }
  )
