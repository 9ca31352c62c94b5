import type { Profile } from './profile.ts'

/** Who set a version of a profile, when, and why. */
export type ProfileVersion = {
  readonly version: number
  readonly setBy: string
  readonly why: string
  readonly setAt: string
}

export type ProfileReport = {
  readonly distributor: string
  /** 0: none was ever set, and the canonical profile counts. */
  readonly version: number
  readonly profile: Profile
  /** Newest first, at most PROFILE_VERSIONS_SHOWN. */
  readonly versions: readonly ProfileVersion[]
}
