// What makes a form ours: a token that only a page of this very browser's session can know, and a browser that says the same.
import { createHash } from 'node:crypto';
import { encodeUtf8, equalConstantTime } from '../../../core/base/bytes.ts';
import type { PublicCall } from '../../../core/http/endpoint.ts';
import { LoginFailure } from '../failures.ts';

/** What a form of ours carries: only a page of this very session can know it. */
export function formTokenOf(cookie: string, purpose: string): string {
  return createHash('sha256').update(`keystored form\0${purpose}\0${cookie}`).digest('base64url');
}

/** Throws LoginFailure `form-refused` for forms of other sites and of other sessions. */
export function requireForm(call: PublicCall, sent: string, expected: string): void {
  const ours = comesFromHere(call.headers);
  if (ours && equalConstantTime(encodeUtf8(sent), encodeUtf8(expected))) return;
  throw new LoginFailure('form-refused', 'session', ours ? 'form-token' : 'other-site');
}

/** What the browser says of the page that sent the form; one too old for Sec-Fetch-Site names its origin, or `null` when asked not to. */
function comesFromHere({ 'sec-fetch-site': site, origin = 'null', host }: PublicCall['headers']): boolean {
  return site === undefined ? origin === 'null' || origin === `https://${host}` : site === 'same-origin';
}
