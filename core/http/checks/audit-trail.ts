// The audit trail can be written, and no receiver that everything waits for is behind.
import { refusalOf } from '../../audit/record.ts';
import type { ApiRequest } from '../context/api-request.ts';

/** 503 `audit-unavailable` or `shipping-behind` for endpoints whose effect must not go unrecorded. */
export function requireWritableTrail({ route, server }: ApiRequest): void {
  const { audit, whileBehind } = route.endpoint;
  const refusal = audit === 'required' ? refusalOf(server.audit, whileBehind) : undefined;
  if (refusal !== undefined) throw refusal;
}
