// The audit trail can be written.
import { fail } from '../../base/errors.ts';
import type { ApiRequest } from '../context/api-request.ts';

/** 503 `audit-unavailable` for endpoints whose effect must not go unrecorded. */
export function requireWritableTrail({ route, server }: ApiRequest): void {
  if (route.endpoint.audit === 'required' && !server.audit.writable) throw fail('audit-unavailable');
}
