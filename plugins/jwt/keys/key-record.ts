// The keys of an issuer as they were fetched last: one record for all processes and appliances.
import type { SkippedKey, StoredJwk } from './key-set.ts';

export type KeyRecord = {
  /** that of the issuer's record: keys of another source are never used */
  readonly keySource: string;
  /** the last attempt to fetch them, and the last that succeeded; RFC 3339 UTC with six decimals */
  readonly triedTime: string;
  readonly fetchedTime?: string;
  /** an attempt is under way, begun at `triedTime` */
  readonly pending?: true;
  /** of the last success; a key that has left the set is gone */
  readonly keys: readonly StoredJwk[];
  readonly skipped: readonly SkippedKey[];
  /** reason for which the last attempt failed, in a sentence */
  readonly problem?: string;
};

/** Keys that could not be fetched again are used for so long. */
export const keptKeySeconds = 86_400;
/** Keys are fetched again in the background when they are this old. */
export const refreshSeconds = 900;
/** Tokens that name an unknown key have the keys fetched this often at most. */
export const unknownKeySeconds = 300;
/** An issuer without usable keys is asked this often at most. */
export const retrySeconds = 30;
/** An attempt that takes longer has ended with its process. */
export const longestAttemptSeconds = 20;
