// Serves in the follower: follows the shared store, and answers the processes of its appliance over a socket.
import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { reasonOf, ServiceError } from '../../../core/base/errors.ts';
import { defined } from '../../../core/base/defined.ts';
import { clusterUnavailable } from '../../../core/base/unavailable.ts';
import { layout } from '../../../core/cluster/layout.ts';
import { ClusterMember } from '../../../core/cluster/member.ts';
import { isValid, machineMoment } from '../../../core/cluster/validity.ts';
import { EtcdClient } from '../../../core/etcd/client.ts';
import type { Log } from '../../../core/base/context.ts';
import { ownLevels } from '../../../core/store/records/level.ts';
import { warnOnStandardError } from '../../../core/log/journal.ts';
import { type Channel, openChannel } from '../../processes/channel.ts';
import type { ClusterState } from '../cluster-way.ts';
import { writeEndpoints } from '../membership/files.ts';
import { describeReached, describeServers, removeServerOf, watchServers } from './own-servers.ts';
import { ForeignReports } from './foreign-reports.ts';
import { type FollowerHandlers, type FollowerOrders, followerRequests, linkRequests } from './messages.ts';
import { socketPort } from './socket-port.ts';

type Certificates = NonNullable<FollowerOrders['tls']>;

export type RunningFollower = {
  /** Uses renewed certificates, or answers why etcd does not take them. */
  renew(tls: Certificates): Promise<{ readonly refused?: string }>;
  /** Says goodbye. The serving processes must have stopped answering. */
  stop(): Promise<void>;
};

const trialMs = 5_000;
const tellingMs = 500;
/** A change, and a record of the trail. */
const recordingMs = 15_000;

/**
 * Rejects with the reason, in one sentence, when this appliance cannot be a member. `onEnded` as in MemberOptions.
 * Long because what is opened first is what every later step works with.
 */
export async function runFollower(orders: FollowerOrders, onEnded: (reason: string) => void, log: Log): Promise<RunningFollower> {
  const { endpoints, tls, directory, id, name, version, run, publicUrl, limits, examines = false } = orders;
  const client = new EtcdClient({ endpoints, nowMs: () => performance.now(), ...defined({ tls: tls && octetsOf(tls) }) });
  const links = new Set<Channel<typeof linkRequests>>();
  const tell = (): void => {
    if (member === undefined) return;
    const seen = Array.from(member.members);
    const missing = seen.flatMap(([, one]) => (one.state === 'in' || one.state === 'removed' ? [] : [one.name]));
    const members = seen.flatMap(([other, { state }]) => (state === 'removed' ? [] : [other]));
    const { position, settled, sent, othersStartMs } = member;
    const state = { position, settled, missing, members, ...defined({ sent, othersStartMs }) };
    for (const link of links) link.request('state', state).catch(() => undefined);
  };
  let member: ClusterMember | undefined;
  const foreign = new ForeignReports(async (report) => {
    for (const link of links) if (await link.request('foreignWrites', report, recordingMs).catch(() => false)) return true;
    return false;
  });
  const joined = await ClusterMember.connect({
    ...{ client, directory, id, limits, log, examines },
    onEnded: (reason) => {
      // The processes that serve hear it before this one ends.
      void Promise.all(Array.from(links, (link) => link.request('over', { reason }, tellingMs).catch(() => undefined))).then(() =>
        onEnded(reason),
      );
    },
    self: { name, version, levels: ownLevels, run, publicUrl },
    moment: machineMoment,
    onChange: tell,
    onForeignWrite: (write) => foreign.add(write),
  });
  member = joined;

  const handlers: FollowerHandlers = {
    wrappedKeys: () => orUnavailable(async () => defined({ octets: await orUnknown(joined.wrappedKeys()) })),
    replaceWrappedKeys: ({ from, to }) => orUnavailable(() => joined.replaceWrappedKeys(from, to)),
    bootstrap: ({ octets }) => orRefused(() => joined.bootstrap(octets)),
    enter: () => orRefused(() => joined.enter()),
    commit: ({ caller, name, intent }) => orUnavailable(() => joined.commit(caller, name, intent)),
    untilSettled: ({ revision }) =>
      orUnavailable(async () => {
        await joined.untilSettled(revision);
        return true as const;
      }),
    remove: ({ id: other, evenIfAlive }) =>
      orUnavailable(async () => {
        const outcome = await joined.remove(other, evenIfAlive);
        // One that was admitted may have a server and have sent no heartbeat.
        if (outcome !== 'alive' && orders.data !== undefined) await orUnknown(removeServerOf(client, other, log));
        return outcome;
      }),
    state: () => stateOf(joined, id),
    servers: ({ alone }) =>
      orUnavailable(async () => {
        if (alone) return [...(await describeReached(client))];
        return orders.data === undefined ? [] : [...(await orUnknown(describeServers(client)))];
      }),
  };
  const server = createServer((socket) => {
    const link = openChannel({
      ...{ port: socketPort(socket), asks: linkRequests, serves: followerRequests, handlers },
      report: (line) => warnOnStandardError(`follower: ${line}`),
    });
    links.add(link);
    socket.once('close', () => links.delete(link));
    tell();
  });
  // Left by a predecessor that was killed; the supervisor starts one follower at a time.
  rmSync(orders.socket, { force: true });
  server.listen(orders.socket);
  await once(server, 'listening');
  chmodSync(orders.socket, 0o600);

  let certificates = tls && octetsOf(tls);
  const { data } = orders;
  const endServerWatch =
    data === undefined
      ? () => undefined
      : watchServers(client, id, log, (urls) => {
          client.renew(certificates, urls);
          writeEndpoints(data, urls);
          log.info('the members of etcd are others than before', { urls: urls.join(' ') });
        });

  return {
    renew: (renewed) =>
      orRefused(async () => {
        const wanted = octetsOf(renewed);
        const trial = new EtcdClient({ endpoints: client.endpoints, nowMs: () => performance.now(), tls: wanted });
        try {
          await trial.range({ key: layout.epoch }, trialMs);
        } finally {
          trial.close();
        }
        client.renew(wanted);
        certificates = wanted;
        log.info('the renewed certificate for etcd is used');
      }),
    async stop() {
      endServerWatch();
      foreign.stop();
      server.close();
      await joined.stop();
      client.close();
    },
  };
}

function stateOf(member: ClusterMember, id: string): ClusterState {
  const now = machineMoment();
  return {
    id,
    ...defined({ epoch: member.epoch, level: member.level }),
    position: member.position,
    isValid: isValid(member.sent, now),
    members: Array.from(member.members, ([other, { name, version, levels, state, publicUrl, applied, seenMs }]) => ({
      ...{ id: other, name, version, levels, state, applied, ...defined({ publicUrl }) },
      silentMs: Math.max(0, now.monotonicMs - seenMs),
    })),
  };
}

/** The text says whether the change may have been made. */
async function orUnavailable<T>(run: () => Promise<T>): Promise<{ readonly outcome: T } | { readonly unavailable: string }> {
  try {
    return { outcome: await run() };
  } catch (error) {
    if (error instanceof ServiceError) return { unavailable: error.message };
    throw error;
  }
}

/** For calls to etcd whose failure says nothing else to callers. */
function orUnknown<T>(asked: Promise<T>): Promise<T> {
  return asked.catch((error: unknown) => {
    throw clusterUnavailable('unknown', error);
  });
}

async function orRefused(run: () => Promise<void>): Promise<{ readonly refused?: string }> {
  try {
    await run();
    return {};
  } catch (error) {
    return { refused: reasonOf(error) };
  }
}

function octetsOf(tls: Certificates): { readonly ca: Buffer; readonly certificate: Buffer; readonly key: Buffer } {
  return { ca: Buffer.from(tls.ca), certificate: Buffer.from(tls.certificate), key: Buffer.from(tls.key) };
}
