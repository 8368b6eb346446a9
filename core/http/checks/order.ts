// The order in which a request is checked (api 55): one list, here alone.
import type { ApiRequest } from '../context/api-request.ts';
import { requireWritableTrail } from './audit-trail.ts';
import { requireAuthorization } from './authorization.ts';
import { requireBodyKept, requireBodyWithinLimit } from './body.ts';
import { readValidInput, requireAllowedValues, requireNamedEntries } from './input.ts';
import { requireAcceptedMediaType, requireAcceptedMediaTypeEarly } from './media-type.ts';
import { requireKnownQuery } from './query.ts';
import { findTarget } from './target.ts';
import { requireQuota } from './quota.ts';
import { requireUnsealed } from './unsealed.ts';

/** Throws the ServiceError that refuses the request, or fills in what later checks and the endpoint rely on. */
export type Check = (context: ApiRequest) => void;

/**
 * After routing (400 repeated header, 404 path, 405 method) and before the endpoint runs. A caller without a token learns nothing but
 * 401, one that policies refuse nothing but 403, and what does not exist is 404 before its input is looked at.
 */
export const checks: readonly Check[] = [
  requireBodyWithinLimit, // 413
  requireUnsealed, // 503
  requireAuthorization, // 401, 403, 404
  requireQuota, // 429
  requireBodyKept, // 408, 503
  requireAcceptedMediaType, // 415
  findTarget, // 404, 412
  requireKnownQuery, // 400
  readValidInput, // 400
  requireAllowedValues, // 403
  requireNamedEntries, // 403
  requireWritableTrail, // 503
];

/** Those that need no body, in the same order: what they refuse gets no room for a large one. They are asked again in their turn. */
export const checksBeforeBody: readonly Check[] = [
  requireUnsealed,
  requireAuthorization,
  requireQuota,
  requireAcceptedMediaTypeEarly,
  findTarget,
  requireKnownQuery,
  requireWritableTrail,
];
