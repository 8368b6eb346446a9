// Protection against forged forms: a token that only a page of this browser's session knows, and the browser's own headers.
import { createHash } from 'node:crypto';
import { encodeUtf8, equalConstantTime } from '../../../core/base/bytes.ts';
import type { PublicCall } from '../../../core/http/endpoint.ts';
import { LoginFailure } from '../failures.ts';

/** The hidden token of a form; only a page of this session knows it. */
export function formTokenOf(cookie: string, purpose: string): string {
  return createHash('sha256').update(`keystored form\0${purpose}\0${cookie}`).digest('base64url');
}

/** Throws LoginFailure `form-refused` for a form of another site or session. */
export function requireForm(call: PublicCall, sent: string, expected: string): void {
  const ours = comesFromHere(call.headers);
  if (ours && equalConstantTime(encodeUtf8(sent), encodeUtf8(expected))) return;
  throw new LoginFailure('form-refused', 'session', ours ? 'form-token' : 'other-site');
}

/**
 * Tells by the browser's headers whether this site sent the form. Old browsers send no Sec-Fetch-Site, but an Origin, which may be `null`.
 */
function comesFromHere({ 'sec-fetch-site': site, origin = 'null', host }: PublicCall['headers']): boolean {
  return site === undefined ? origin === 'null' || origin === `https://${host}` : site === 'same-origin';
}
