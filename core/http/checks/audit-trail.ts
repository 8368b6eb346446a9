// Check: the audit trail can be written, and no blocking receiver is behind.
import { refusalOf } from '../../audit/record.ts';
import type { ApiRequest } from '../context/api-request.ts';

/** Throws 503 `audit-unavailable` or `shipping-behind` for endpoints whose effect must be recorded. */
export function requireWritableTrail({ route, server }: ApiRequest): void {
  const { audit, whileBehind } = route.endpoint;
  const refusal = audit === 'required' ? refusalOf(server.audit, whileBehind) : undefined;
  if (refusal !== undefined) throw refusal;
}
