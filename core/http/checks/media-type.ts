// The body is of a type the endpoint takes.
import type { ApiRequest } from '../context/api-request.ts';
import { requireMediaType } from '../request/input.ts';
import { bodyOf } from './body.ts';

/** 415 `unsupported-media-type`. */
export function requireAcceptedMediaType(context: ApiRequest): void {
  requireMediaType(context.route.endpoint, context.exchange.headers, bodyOf(context));
}

/** The same of a body that is still to come. */
export function requireAcceptedMediaTypeEarly(context: ApiRequest): void {
  requireMediaType(context.route.endpoint, context.exchange.headers, toCome);
}

const toCome = { length: 1 } as const;
