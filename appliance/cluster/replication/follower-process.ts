// The follower beside the workers, which has to begin before anything else does, and takes up renewed certificates.
import { defined } from '../../../core/base/defined.ts';
import { lockFileOfStore } from '../../../core/store/files/store-files.ts';
import { warnOnStandardError } from '../../../core/log/journal.ts';
import { keepProcess } from '../../processes/kept-process.ts';
import { StartRefused } from '../../start-refused.ts';
import { followerOrders, type FollowerOrders } from './messages.ts';

export type FollowerProcess = {
  /** The process of the moment, for those who watch over processes. */
  readonly pid: number | undefined;
  /** Stops it. Call it once no process answers requests. */
  stop(): Promise<void>;
};

/** A start that takes longer is explained: etcd does not answer, or the whole shared store is on its way. */
const explainedAfterMs = 5_000;
const renewalLookMs = 60_000;

/**
 * Resolves when the shared store, if there is one, is here and followed. Rejects with StartRefused when it cannot be. `ordersOf` is asked
 * at each start and every minute, so that a certificate that was renewed is used. The processes that serve may answer for a second and a
 * half without it.
 */
export async function keepFollower(ordersOf: () => FollowerOrders, lookEveryMs = renewalLookMs): Promise<FollowerProcess> {
  /** the certificates in use, and the last message about unusable ones */
  let [used, told] = ['', ''];
  /** of the store, from the first one that has begun on */
  let storeLock: string | undefined;
  const kept = keepProcess({
    ...{ name: 'follower', program: new URL('../../follower.ts', import.meta.url), asks: followerOrders },
    ...{ calmMs: 0, firstDelayMs: 20, longestDelayMs: 5_000, stopMs: 5_000 },
    async begin(channel) {
      const orders = ordersOf();
      const late = setTimeout(
        () => warnOnStandardError('the follower waits for etcd, or fetches the store of the cluster …'),
        explainedAfterMs,
      );
      const { refused } = await channel
        .request('begin', { ...orders, examines: storeLock === undefined, ...defined({ storeLock }) })
        .finally(() => clearTimeout(late));
      if (refused !== undefined) throw new StartRefused(refused);
      storeLock ??= lockFileOfStore(orders.directory);
      used = JSON.stringify(orders.tls);
    },
    askToStop: (channel) => channel.request('stop', undefined),
  });
  try {
    await kept.start();
  } catch (error) {
    await kept.stop();
    throw error instanceof StartRefused ? error : new StartRefused(`the follower of the cluster ${(error as Error).message}`);
  }

  const look = async (): Promise<void> => {
    try {
      const { tls } = ordersOf();
      if (tls === undefined || kept.current === undefined || JSON.stringify(tls) === used) return;
      const { refused } = await kept.current.channel.request('renew', tls);
      if (refused !== undefined) throw new Error(refused);
      [used, told] = [JSON.stringify(tls), ''];
    } catch (error) {
      // Key and certificate may be written one after the other; it is tried again.
      const { message } = error as Error;
      if (message !== told) warnOnStandardError(`the renewed certificate for etcd is not used yet: ${message}`);
      told = message;
    }
  };
  let looked: Promise<void> | undefined;
  const looking = setInterval(() => {
    looked ??= look().finally(() => (looked = undefined));
  }, lookEveryMs).unref();
  return {
    get pid() {
      return kept.current?.child.pid;
    },
    async stop() {
      clearInterval(looking);
      await kept.stop();
    },
  };
}
