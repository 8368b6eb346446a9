// Limits audit records of unauthenticated requests, so that they cannot displace other records: the rest is only counted.
import { randomUUID } from 'node:crypto';
import { type Audit, type AuditRecord, hasCredential, writingBy } from './record.ts';
import type { Clock } from '../base/context.ts';
import { formatTimestamp } from '../base/time.ts';
import { TokenBucket } from '../base/token-bucket.ts';

/**
 * Limits of one process: a burst, which is available again after an hour without such requests. The attempts of an attacker who guesses
 * secrets are recorded one by one, while a flood, at half a kilobyte a record, needs months to displace the usual 4 GiB of a chain.
 */
const defaults = { burst: 6_000, perMinute: 100, countEveryMs: 60_000 };
/** Limit of users counted separately; for further ones only the code is counted. */
const maxCounts = 1_000;

export type UnauthenticatedLimits = Partial<Readonly<typeof defaults>>;

export type BoundedAudit = Audit & {
  /** Writes pending counts at once, for an orderly stop. */
  settle(): Promise<void>;
};

/**
 * Adds a limit on records of unauthenticated requests to a trail. Excess records are counted by code and, for logins, by user; a record
 * of kind `system` and code `strangers-counted` follows a minute later. Requests with a valid token, secret or device credential are always
 * recorded.
 */
export function limitUnauthenticated(audit: Audit, clock: Clock, options: UnauthenticatedLimits = {}): BoundedAudit {
  const { burst, perMinute, countEveryMs } = { ...defaults, ...options };
  const bucket = new TokenBucket(burst, perMinute, clock.monotonicMs());
  let counts = new Map<string, number>();
  let due: NodeJS.Timeout | undefined;

  function count(what: string, times: number): void {
    // A trail that cannot be written reports that itself.
    due ??= setTimeout(() => void settle().catch(() => undefined), countEveryMs).unref();
    counts.set(what, (counts.get(what) ?? 0) + times);
  }

  async function settle(): Promise<void> {
    clearTimeout(due);
    due = undefined;
    if (counts.size === 0) return;
    const counted = counts;
    counts = new Map();
    try {
      await audit.write({
        kind: 'system',
        occurredAt: formatTimestamp(clock.now()),
        requestId: randomUUID(),
        code: 'strangers-counted',
        requestParameters: Object.fromEntries(counted),
      });
    } catch (error) {
      for (const [what, times] of counted) count(what, times);
      throw error;
    }
  }

  const limited = writingBy(audit, (record) => {
    if (!isUnauthenticated(record) || bucket.take(clock.monotonicMs()) === 0) return audit.write(record);
    count(counts.size < maxCounts ? countedAs(record) : codeOf(record), 1);
    return Promise.resolve();
  });
  // Not by a spread, which would keep what the trail is now.
  return Object.assign(limited, { settle });
}

/**
 * Tells whether a record is of an unauthenticated request. A refused login is one even if the user exists: a name proves nothing, and if
 * only refusals of existing users waited for the disk, their response time would reveal which users exist.
 */
function isUnauthenticated(record: AuditRecord): boolean {
  const { kind, accessor } = record;
  // Enrolments have no token and no user.
  if (kind === 'est' || kind === 'scep' || kind === 'acme' || kind === 'cmp') return record[hasCredential] !== true;
  return (kind === 'request' || kind === 'login') && accessor === undefined;
}

function codeOf({ code, status }: AuditRecord): string {
  return code ?? String(status);
}

function countedAs(record: AuditRecord): string {
  const { tenant, user } = record;
  return user === undefined ? codeOf(record) : `${codeOf(record)} of ${tenant ?? ''}/${user}`;
}
