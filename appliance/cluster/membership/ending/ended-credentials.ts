// The end of a removed appliance's way to the shared store: every member of etcd gets the revocation list and drops its connections.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { TableKinds } from '../../../../core/store/records/table-kinds.ts';
import type { Clock, Job } from '../../../../core/base/context.ts';
import { writeDurably } from '../../../../core/base/durable-files.ts';
import { formatTimestamp } from '../../../../core/base/time.ts';
import { clusterUnavailable } from '../../../../core/base/unavailable.ts';
import type { MemberConfig } from '../../../../core/config/cluster.ts';
import { type MemberRole, memberRoles } from '../../../../core/plugin/services/member-certificates.ts';
import type { OpenStore } from '../../../../core/store/open.ts';
import type { Store, Table } from '../../../../core/store/store.ts';
import type { ClusterWay } from '../../cluster-way.ts';
import { isConnected } from './connections.ts';
import { memberFiles } from '../files.ts';

type Credentials = {
  /** number of times that certificates of appliances have ended */
  readonly ended?: number;
  /** of those appliances; one may be added again later */
  readonly addresses?: readonly string[];
  /** the appliance that restarts its etcd */
  readonly turn?: { readonly appliance: string; readonly until: string };
};

/** ['all'], and ['applied', id of an appliance]: the part of it that holds there */
const commonTable = (store: Store): Table<Credentials> => store.table<Credentials>('cluster-credentials');
const appliedTable = (store: Store): Table<number> => store.table<number>('cluster-credentials-applied');
export const credentialTableKinds: TableKinds = {
  'cluster-credentials': { of: 'cluster' },
  'cluster-credentials-applied': { of: 'cluster' },
};
const key = ['all'];

const turnSeconds = 30;
const lookEverySeconds = 1;
const restartMs = 20_000;
const againMs = 200;
const confirmMs = 20_000;

/** Notes that certificates of appliances at these addresses have ended; answers the number that members confirm. */
export function noteEnded(store: Store, addresses: readonly string[]): Promise<number> {
  return store.write((transaction) => {
    const present = transaction.get(commonTable(store), key) ?? {};
    const ended = (present.ended ?? 0) + (addresses.length > 0 ? 1 : 0);
    if (addresses.length > 0)
      transaction.put(commonTable(store), key, {
        ...present,
        ended,
        addresses: [...new Set([...(present.addresses ?? []), ...addresses])],
      });
    return ended;
  });
}

/**
 * Waits until every member that may answer has confirmed it; answers the names of those that have not, after twenty seconds. Rejects with
 * `cluster-unavailable` if the members are unknown for that time, as while the follower is being started again.
 */
export async function awaitConfirmed(store: Store, cluster: ClusterWay, ended: number): Promise<readonly string[]> {
  for (const deadlineMs = performance.now() + confirmMs; ; await setTimeout(againMs)) {
    const isLate = performance.now() > deadlineMs;
    const known = await cluster.state().catch((cause: unknown) => {
      if (isLate) throw clusterUnavailable('unknown', cause);
    });
    if (known === undefined) continue;
    store.refresh();
    const missing = known.members.filter(({ id, state }) => state === 'in' && (appliedTable(store).get([id]) ?? 0) < ended);
    if (missing.length === 0 || isLate) return missing.map(({ name }) => name);
  }
}

export type EndingParts = {
  readonly data: string;
  readonly member: MemberConfig;
  readonly store: OpenStore;
  readonly cluster: ClusterWay;
  readonly clock: Clock;
  readonly revocations: (role: MemberRole) => Promise<Uint8Array>;
  /** Ends the own member of etcd and starts it again. */
  readonly restartServer: () => Promise<void>;
};

/**
 * Of each appliance. A certificate that is revoked closes no connection that is open; where there is one, etcd starts again, one after
 * another.
 */
export function endingJob(parts: EndingParts): Job {
  const { store, cluster, member, restartServer } = parts;
  const self = cluster.appliance;
  return {
    name: 'member-revocations',
    everySeconds: lookEverySeconds,
    whileClockInDoubt: true,
    isOfEach: true,
    async run(signal) {
      store.refresh();
      const { ended = 0, addresses = [] } = commonTable(store).get(key) ?? {};
      if ((appliedTable(store).get([self]) ?? 0) >= ended) return;
      for (const role of memberRoles) writeDurably(memberFiles(parts.data).ofRole(role).revocations, await parts.revocations(role));
      if (mayBeConnected(addresses, member.clientPort)) {
        if (!(await takeTurn(parts, self))) return;
        await restartServer();
        await untilItAnswers(cluster, self, signal);
      }
      await store.write((transaction) => {
        transaction.put(appliedTable(store), [self], ended);
        const { turn, ...others } = transaction.get(commonTable(store), key) ?? {};
        if (turn?.appliance === self) transaction.put(commonTable(store), key, others);
      });
    },
  };
}

/** One at a time: the majority goes on. A turn that is not given back ends by itself. */
function takeTurn({ store, clock }: EndingParts, appliance: string): Promise<boolean> {
  return store.write((transaction) => {
    const present = transaction.get(commonTable(store), key) ?? {};
    const { turn } = present;
    const now = clock.now();
    const isFree = turn === undefined || turn.appliance === appliance || Temporal.Instant.compare(turn.until, now) < 0;
    if (isFree)
      transaction.put(commonTable(store), key, {
        ...present,
        turn: { appliance, until: formatTimestamp(now.add({ seconds: turnSeconds })) },
      });
    return isFree;
  });
}

async function untilItAnswers(cluster: ClusterWay, self: string, signal: AbortSignal): Promise<void> {
  for (const deadlineMs = performance.now() + restartMs; performance.now() < deadlineMs && !signal.aborted; await setTimeout(againMs)) {
    const servers = await cluster.servers().catch(() => []);
    if (servers.some(({ appliance, problem }) => appliance === self && problem === undefined)) return;
  }
}

/** True also if the kernel does not tell: then etcd is started again. A machine without IPv6 has no table of it. */
function mayBeConnected(addresses: readonly string[], port: number): boolean {
  try {
    const tables = ['/proc/self/net/tcp', '/proc/self/net/tcp6'].filter((file, index) => index === 0 || existsSync(file));
    return isConnected(
      tables.map((file) => readFileSync(file, 'utf8')),
      addresses,
      [port],
    );
  } catch {
    return true;
  }
}
