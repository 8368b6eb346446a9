// The process that follows the shared store of a cluster: it alone writes the replica of this appliance, and holds no key.
import { catchStrayErrors } from '../core/base/async/last-resort.ts';
import { systemClock } from '../core/base/time.ts';
import { endSilentConnections } from '../core/etcd/silent-connections.ts';
import { warnOnStandardError } from '../core/log/journal.ts';
import { openLog } from '../core/log/log.ts';
import { type RunningFollower, runFollower } from './cluster/replication/follower-service.ts';
import { followerOrders, type FollowerOrders, type OrderHandlers } from './cluster/replication/messages.ts';
import { openChannel } from './processes/channel.ts';
import { requireSharedLock } from './data-directory/store-files.ts';
import { nothingAsked, supervisorPort } from './processes/messages.ts';

// Signals of the terminal reach every process of the group; only the supervisor decides when this one ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
catchStrayErrors({ tell: end, give: end });
// It connects to etcd only.
endSilentConnections();

let running: RunningFollower | undefined;

const handlers: OrderHandlers = {
  async begin(orders: FollowerOrders) {
    const log = openLog({ stream: 'follower', clock: systemClock, terminal: false, ...orders.logs });
    try {
      requireSharedLock(orders.directory, orders.storeLock);
      running = await runFollower(orders, (reason) => end(new Error(reason)), log);
      return {};
    } catch (error) {
      return { refused: (error as Error).message };
    }
  },
  async renew(tls) {
    return (await running?.renew(tls)) ?? { refused: 'it has not begun' };
  },
  async stop() {
    await running?.stop();
    process.exit(0);
  },
};

openChannel({
  ...{ port: supervisorPort, asks: nothingAsked, serves: followerOrders, handlers },
  report: (line) => warnOnStandardError(`follower: ${line}`),
});

/** The supervisor starts another one, which goes on where this one was. */
function end(error: unknown): void {
  warnOnStandardError(`the follower ends: ${(error as Error).message}`);
  process.exit(1);
}
