// Check: the appliance is not sealed.
import { fail } from '../../base/errors.ts';
import type { ApiRequest } from '../context/api-request.ts';

/** Throws 503 `sealed` while the appliance waits for the PIN; some endpoints, such as health, work even then. */
export function requireUnsealed({ route, server }: ApiRequest): void {
  if (route.endpoint.whileSealed !== true && server.sealed()) throw fail('sealed');
}
