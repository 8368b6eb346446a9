// Limits wrong states, poll tokens, requests and names. A failure caused by the caller counts as a failed login.
import { ServiceError } from '../../core/base/errors.ts';
import type { PublicCall } from '../../core/http/endpoint.ts';
import { LoginFailure, loginFailures } from './failures.ts';
import type { Oidc } from './context.ts';

/**
 * Runs a step with a secret that cannot be guessed, or with names. A right one always passes, whatever other callers of its address did, or
 * one of them could lock out all others; wrong ones over the limit are refused with `rate-limited`.
 */
export async function prove<T>(oidc: Oidc, call: PublicCall, proof: () => T | Promise<T>): Promise<T> {
  try {
    return await proof();
  } catch (error) {
    if (isCallersFault(error)) await noteFailure(oidc, call);
    throw error;
  }
}

/** Counts a failure; throws `rate-limited` instead when the limit is reached. */
export async function noteFailure(oidc: Oidc, call: PublicCall): Promise<void> {
  requireNotTooMany(oidc, call);
  const { attempts } = oidc.accounts;
  try {
    await oidc.store.write((transaction) => attempts.count(transaction, call.clientIp, call.now));
  } catch (error) {
    call.noteAudit({ kind: 'login' });
    throw error;
  }
}

function requireNotTooMany(oidc: Oidc, call: PublicCall): void {
  try {
    oidc.accounts.attempts.requireFew(call.clientIp, call.now);
  } catch (error) {
    call.noteAudit({ kind: 'login' });
    throw error;
  }
}

/** Faults of a provider or of its settings are not guesses. */
function isCallersFault(error: unknown): boolean {
  if (error instanceof LoginFailure) return loginFailures[error.code].status < 500;
  return error instanceof ServiceError && error.code === 'no-such-provider';
}
