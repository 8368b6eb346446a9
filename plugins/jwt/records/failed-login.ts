// The account of failed logins, for `explain`.
import type { Claims } from '../../../core/identity/claims.ts';
import type { CheckName } from '../token/refusal.ts';

/** A login that was refused although the signature of its token was right: only who has a token of the issuer fills this. */
export type FailedLogin = {
  /** RFC 3339 UTC with six decimals */
  readonly time: string;
  readonly role: string;
  readonly check: CheckName;
  readonly reason: string;
  readonly hint: string;
  readonly claims: Claims;
};

/** Kept for each issuer, the oldest is dropped; and for how long. */
export const mostFailures = 100;
export const keptFailureSeconds = 86_400;
