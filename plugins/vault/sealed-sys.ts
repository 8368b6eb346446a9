// Documents about the service itself, and the answers to clients while the appliance is sealed.
import type { JsonObject } from '../../core/wire/json.ts';
import type { SealedAnswer } from '../../core/plugin/plugin.ts';

/** The version of the API that this is a view of, as clients compare it. */
const version = '1.15.0';
const cluster = { cluster_name: 'keystored', cluster_id: '' };

/** Answer of `sys/health`. */
export function healthDocument(sealed: boolean, now: Temporal.Instant): JsonObject {
  return {
    ...{ initialized: true, sealed, standby: false, performance_standby: false },
    ...{ replication_performance_mode: 'disabled', replication_dr_mode: 'disabled' },
    ...{ server_time_utc: Math.floor(now.epochMilliseconds / 1_000), version, ...cluster },
  };
}

/** Answer of `sys/seal-status`: one PIN opens it. */
export function sealDocument(sealed: boolean): JsonObject {
  const seal = { type: 'pkcs11', initialized: true, sealed, t: 1, n: 1, progress: 0, nonce: '', version, migration: false };
  return { ...seal, ...(sealed ? {} : cluster), recovery_seal: true, storage_type: 'keystored', build_date: '', commit_date: '' };
}

/** The status that the client wants in place of one of Vault's own. */
export function wantedStatus(query: URLSearchParams, name: 'activecode' | 'sealedcode', own: number): number {
  const wanted = Number(query.get(name) ?? own);
  return takesContent(wanted) ? wanted : own;
}

/** The answer has content, which a 204, a 205 and a 304 must not have. */
function takesContent(status: number): boolean {
  return Number.isInteger(status) && status >= 200 && status <= 599 && ![204, 205, 304].includes(status);
}

const notServing = 503;

export const sealedSys: readonly SealedAnswer[] = [
  {
    path: '/v1/sys/health',
    answer: (query, now) => ({ status: wantedStatus(query, 'sealedcode', notServing), document: healthDocument(true, now) }),
  },
  { path: '/v1/sys/seal-status', answer: () => ({ status: 200, document: sealDocument(true) }) },
  { path: '/v1/sys/init', answer: () => ({ status: 200, document: { initialized: true } }) },
];
