// What the follower does on orders: joins the cluster, and serves the processes of its appliance over a socket.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { ServiceError } from '../../core/base/errors.ts';
import { defined } from '../../core/base/defined.ts';
import { joinCluster } from '../../core/cluster/member.ts';
import { isValid, machineMoment } from '../../core/cluster/validity.ts';
import { EtcdClient } from '../../core/etcd/client.ts';
import type { Log } from '../../core/base/context.ts';
import { warnOnStandardError } from '../../core/log/journal.ts';
import { type Channel, openChannel } from '../processes/channel.ts';
import { type FollowerHandlers, type FollowerOrders, followerRequests, linkRequests, type OrderHandlers } from './messages.ts';
import { socketPort } from './socket-port.ts';

export type RunningFollower = {
  readonly state: OrderHandlers['state'];
  /** Says goodbye. The processes that serve must not answer any more. */
  stop(): Promise<void>;
};

/** Rejects with the reason, in one sentence, when this appliance cannot be a member. `onReplaced` as in joinCluster. */
export async function runFollower(orders: FollowerOrders, onReplaced: () => void, log: Log): Promise<RunningFollower> {
  const { endpoints, tls, directory, id, name, limits } = orders;
  const client = new EtcdClient({ endpoints, nowMs: () => performance.now(), ...defined({ tls: tls && octetsOf(tls) }) });
  const links = new Set<Channel<typeof linkRequests>>();
  const tell = (): void => {
    if (member === undefined) return;
    const state = { position: member.position, ...defined({ sent: member.sent }) };
    for (const link of links) link.request('state', state).catch(() => undefined);
  };
  let member: Awaited<ReturnType<typeof joinCluster>> | undefined;
  const joined = await joinCluster({
    ...{ client, directory, id, name, limits, log, onReplaced },
    moment: machineMoment,
    onChange: tell,
  });
  member = joined;

  const handlers: FollowerHandlers = {
    async commit({ name, intent }) {
      try {
        return { outcome: await joined.commit(name, intent) };
      } catch (error) {
        // The text says whether the change may have been made.
        if (error instanceof ServiceError) return { unavailable: error.message };
        throw error;
      }
    },
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

  return {
    state: () => ({
      epoch: joined.epoch,
      position: joined.position,
      isValid: isValid(joined.sent, machineMoment()),
      members: Array.from(joined.members, ([id, { name, state, applied }]) => ({ id, name, state, applied })),
    }),
    async stop() {
      server.close();
      await joined.stop();
      client.close();
    },
  };
}

function octetsOf(tls: NonNullable<FollowerOrders['tls']>): { readonly ca: Buffer; readonly certificate: Buffer; readonly key: Buffer } {
  return { ca: Buffer.from(tls.ca), certificate: Buffer.from(tls.certificate), key: Buffer.from(tls.key) };
}
