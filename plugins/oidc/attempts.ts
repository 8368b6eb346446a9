// Guesses at sign-ins: states, poll tokens, requests, names of tenants. What fails by the caller's doing counts as a failed login does.
import { ServiceError } from '../../core/base/errors.ts';
import type { PublicCall } from '../../core/http/endpoint.ts';
import { LoginFailure, loginFailures } from './failures.ts';
import type { Oidc } from './context.ts';

/**
 * Runs what may be a guess at a name. Once its address has failed too often in a minute it is refused, right or wrong, because the
 * answer tells: throws `rate-limited`.
 */
export async function attempt<T>(oidc: Oidc, call: PublicCall, guess: () => T | Promise<T>): Promise<T> {
  requireNotTooMany(oidc, call);
  return prove(oidc, call, guess);
}

/**
 * Runs what brings a secret nobody can guess. A right one is let through, whatever others behind its address did; of wrong ones those
 * over the limit are refused with `rate-limited`.
 */
export async function prove<T>(oidc: Oidc, call: PublicCall, proof: () => T | Promise<T>): Promise<T> {
  try {
    return await proof();
  } catch (error) {
    if (isOwnDoing(error)) await noteFailure(oidc, call);
    throw error;
  }
}

/** Counts a failure; throws `rate-limited` instead when it is one too many. */
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

/** The faults of a provider, or of how it is set up, are nobody's guess. */
function isOwnDoing(error: unknown): boolean {
  if (error instanceof LoginFailure) return loginFailures[error.code].status < 500;
  return error instanceof ServiceError && error.code === 'no-such-provider';
}
