// Why a change or a use of a key must not be done now, because of the audit trail.
import { fail, type ServiceError } from '../base/errors.ts';
import type { Audit } from './record.ts';

const behindRetrySeconds = 10;

/** `audit-unavailable` or `shipping-behind`; undefined when nothing stands against it. `onlyWritable`: it is done although a receiver is behind. */
export function refusalOf(audit: Audit, onlyWritable = false): ServiceError | undefined {
  if (!audit.writable) return fail('audit-unavailable');
  if (onlyWritable || audit.behind === undefined) return undefined;
  return fail('shipping-behind', { retryAfterSeconds: behindRetrySeconds });
}
