// Records of attempts to unseal. Sealed processes have no audit trail: attempts are recorded in the chain of the supervisor.
import { inTime } from '../../core/base/async/in-time.ts';
import { defined } from '../../core/base/defined.ts';
import type { Configuration } from '../../core/config/config.ts';
import { chainNames } from '../../core/audit/chains.ts';
import { openAuditTrail } from '../../core/audit/trail.ts';
import type { Clock, Log } from '../../core/base/context.ts';
import { fail, ServiceError } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { isMember } from '../cluster/membership/files.ts';
import { provideIdentity } from '../cluster/membership/identity.ts';
import { paths } from '../data-directory/paths.ts';
import type { UnsealAttempt } from '../processes/messages.ts';

/** The disk of the audit trail may hang. */
const longestOpeningMs = 60_000;

type RecordParts = { readonly configuration: Configuration; readonly clock: Clock; readonly log: Log };

/** Runs an attempt with its record. Rejects as the attempt does, and with `audit-unavailable` before it where nothing can be recorded. */
export async function audited(
  { configuration, clock, log }: RecordParts,
  attempt: UnsealAttempt,
  run: (attempt: UnsealAttempt) => Promise<unknown>,
  { parameters, status: done = 204 }: { readonly parameters?: Readonly<Record<string, unknown>>; readonly status?: 200 | 204 } = {},
): Promise<void> {
  const { requestId, clientIp, userAgent } = attempt;
  const appliance = isMember(configuration) ? provideIdentity(configuration.data) : undefined;
  const opening = openAuditTrail({ directory: paths.audit(configuration.data), chain: chainNames(appliance).supervisor, clock, log });
  const trail = await inTime(opening, longestOpeningMs, () => {
    throw fail('audit-unavailable', { cause: new Error('the disk of the audit trail does not answer') });
  });
  try {
    if (!trail.writable) throw fail('audit-unavailable');
    const record = (status: number, code?: string): Promise<void> =>
      trail.write({
        kind: 'console',
        occurredAt: formatTimestamp(clock.now()),
        requestId,
        clientIp,
        userAgent,
        method: 'POST',
        path: '/v1/state/keystore/system/unseal',
        status,
        ...defined({ code, requestParameters: parameters }),
      });
    try {
      await run(attempt);
    } catch (error) {
      const { status, code } = error instanceof ServiceError ? error : fail('internal-error');
      await record(status, code).catch(() => undefined);
      throw error;
    }
    await record(done);
  } finally {
    await trail.close();
  }
}
