// Check: the endpoint accepts the media type of the body.
import type { ApiRequest } from '../context/api-request.ts';
import { requireMediaType } from '../request/input.ts';
import { bodyOf } from './body.ts';

/** Throws 415 `unsupported-media-type`. */
export function requireAcceptedMediaType(context: ApiRequest): void {
  requireMediaType(context.route.endpoint, context.exchange.headers, bodyOf(context));
}

/** As requireAcceptedMediaType, for a body that has not arrived yet. */
export function requireAcceptedMediaTypeEarly(context: ApiRequest): void {
  requireMediaType(context.route.endpoint, context.exchange.headers, toCome);
}

const toCome = { length: 1 } as const;
