// Check: the body arrived, was small enough, and was kept.
import { fail } from '../../base/errors.ts';
import type { ApiRequest } from '../context/api-request.ts';
import { bodyLimitOf } from '../body-intake.ts';
import type { ReadBody } from '../request/input.ts';

/** Throws 413 `payload-too-large`. */
export function requireBodyWithinLimit({ body, route }: ApiRequest): void {
  if (body === 'too-large') throw fail('payload-too-large', { detail: `The body may have at most ${bodyLimitOf(route.endpoint)} octets.` });
}

/**
 * Throws the refusal for which a large body was not read when it arrived, even if no check refuses it now; 503 `busy` if no memory was available
 * for it, 408 `too-slow` if it came too slowly, or in chunks of a few octets.
 */
export function requireBodyKept({ body, earlyRefusal }: ApiRequest): void {
  if (body === 'refused') throw earlyRefusal;
  if (body === 'no-room') throw fail('busy');
  if (body === 'too-slow') throw fail('too-slow');
  if (body === 'in-crumbs') throw fail('too-slow', { detail: 'The body comes in chunks of a few octets each: send it in larger ones.' });
}

/** The body, once these checks have passed. */
export function bodyOf({ body }: ApiRequest): Uint8Array | ReadBody {
  if (typeof body === 'string') throw new Error(`the checks let a request without a body pass: ${body}`);
  return body;
}
