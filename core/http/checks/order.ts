// The order in which a request is checked: one list, here alone.
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
 * Checks after routing (400 repeated header, 404 path, 405 method) and before the endpoint runs. A caller without a token gets only
 * 401, one that policies refuse only 403, and a missing target is 404 before its input is examined.
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

/** Checks that need no body, in the same order: a request that they refuse gets no room for a large body. They are repeated in their turn. */
export const checksBeforeBody: readonly Check[] = [
  requireUnsealed,
  requireAuthorization,
  requireQuota,
  requireAcceptedMediaTypeEarly,
  findTarget,
  requireKnownQuery,
  requireWritableTrail,
];
