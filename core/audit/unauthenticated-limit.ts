// Keeps strangers from pushing the audit trail out of its files: of what nobody known did, so many records on end, the rest as a count.
import { randomUUID } from 'node:crypto';
import type { Audit, AuditRecord } from './record.ts';
import type { Clock } from '../base/context.ts';
import { formatTimestamp } from '../base/time.ts';

/**
 * In one process: a burst, which an hour's quiet gives back. So a guesser of secrets stands on record one try after another, and a
 * flood, at half a kilobyte a record, takes months to push the usual 4 GiB of a chain out of their files.
 */
const defaults = { burst: 6_000, perMinute: 100, countEveryMs: 60_000 };
/** Names that are counted apart; beyond, only the code is. */
const maxCounts = 1_000;

export type UnauthenticatedLimits = Partial<Readonly<typeof defaults>>;

export type BoundedAudit = Audit & {
  /** Writes the count of what is not on record by itself, if there is any. For an orderly stop. */
  settle(): Promise<void>;
};

/**
 * The same trail, with a bound on the records of strangers. What is over it is counted by code and, for logins, by whose it would have
 * been; a record of kind `system` and code `strangers-counted` says so a minute later. Whoever has shown a token, a right
 * secret or a device's credential is no stranger: such records are always written.
 */
export function limitUnauthenticated(audit: Audit, clock: Clock, options: UnauthenticatedLimits = {}): BoundedAudit {
  const { burst, perMinute, countEveryMs } = { ...defaults, ...options };
  let left = burst;
  let filledAtMs = clock.monotonicMs();
  let counts = new Map<string, number>();
  let due: NodeJS.Timeout | undefined;

  function isWithinBound(): boolean {
    const nowMs = clock.monotonicMs();
    left = Math.min(burst, left + ((nowMs - filledAtMs) / 60_000) * perMinute);
    filledAtMs = nowMs;
    if (left < 1) return false;
    left -= 1;
    return true;
  }

  function count(what: string, times: number): void {
    // A trail that cannot be written tells of it by itself.
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

  return {
    settle,
    write(record) {
      if (!isUnauthenticated(record)) return audit.write(record);
      if (isWithinBound()) return audit.write(record);
      count(counts.size < maxCounts ? countedAs(record) : codeOf(record), 1);
      return Promise.resolve();
    },
    get writable() {
      return audit.writable;
    },
    get problem() {
      return audit.problem;
    },
  };
}

/** Enrolments have no token and no user; where a CA was found, other answers than these are given to accepted senders only (api 64). */
const beforeAcceptance: ReadonlySet<number | undefined> = new Set([401, 404, 405, 429]);

/**
 * A refused login is a stranger's, known name or not: to name somebody proves nothing, and if those of known names alone were waited for
 * on the disk, the time of a refusal would tell which names are known.
 */
function isUnauthenticated({ kind, accessor, tenantId, method, status }: AuditRecord): boolean {
  if (kind === 'est') return tenantId === undefined || method !== 'POST' || beforeAcceptance.has(status);
  return (kind === 'request' || kind === 'login') && accessor === undefined;
}

function codeOf({ code, status }: AuditRecord): string {
  return code ?? String(status);
}

function countedAs(record: AuditRecord): string {
  const { tenant, user } = record;
  return user === undefined ? codeOf(record) : `${codeOf(record)} of ${tenant ?? ''}/${user}`;
}
