// The body arrived, was small enough, and was kept.
import { fail } from '../../base/errors.ts';
import type { ApiRequest } from '../context/api-request.ts';
import { bodyLimitOf } from '../body-intake.ts';
import type { ReadBody } from '../request/input.ts';

/** 413 `payload-too-large`. */
export function requireBodyWithinLimit({ body, route }: ApiRequest): void {
  if (body === 'too-large') throw fail('payload-too-large', { detail: `The body may have at most ${bodyLimitOf(route.endpoint)} octets.` });
}

/**
 * 401 `invalid-token` where a large body was dropped because its token did not work when it arrived, even if it does now; 503 `busy`
 * where there was no memory for it.
 */
export function requireBodyKept({ body }: ApiRequest): void {
  if (body === 'untrusted') throw fail('invalid-token');
  if (body === 'no-room') throw fail('busy');
}

/** The body, once these checks have passed. */
export function bodyOf({ body }: ApiRequest): Uint8Array | ReadBody {
  if (typeof body === 'string') throw new Error(`the checks let a request without a body pass: ${body}`);
  return body;
}
