// Keeps the follower running beside the workers: starts it, starts it again when it ends, stops it last.
import { type ChildProcess, fork } from 'node:child_process';
import { warnOnStandardError } from '../../core/log/journal.ts';
import { type Channel, openChannel } from '../processes/channel.ts';
import { endProcess } from '../processes/end-process.ts';
import { memoryEnvironment } from '../processes/memory.ts';
import { nothingAsked, workerPort } from '../processes/messages.ts';
import { StartRefused } from '../state/start-refused.ts';
import { followerOrders, type FollowerOrders } from './messages.ts';

export type FollowerProcess = {
  /** The process of the moment, for those who watch over processes. */
  readonly pid: number | undefined;
  /** Call it when no process answers any more. */
  stop(): Promise<void>;
};

/** The processes that serve may answer for a second and a half without it. */
const firstDelayMs = 20;
const longestDelayMs = 5_000;
const stopMs = 5_000;

/**
 * Resolves when the shared store, if there is one, is here and followed. Rejects with StartRefused when it cannot be. `ordersOf` is asked at
 * each start, so that a certificate that was renewed is used.
 */
export async function keepFollower(ordersOf: () => FollowerOrders): Promise<FollowerProcess> {
  let isStopping = false;
  let delayMs = firstDelayMs;
  let current: { readonly child: ChildProcess; readonly channel: Channel<typeof followerOrders> } | undefined;

  const start = async (orders: FollowerOrders): Promise<void> => {
    const child = fork(new URL('../follower.ts', import.meta.url), [], { env: { ...process.env, ...memoryEnvironment() } });
    const channel = openChannel({
      ...{ port: workerPort(child), asks: followerOrders, serves: nothingAsked, handlers: {} },
      report: warnOnStandardError,
    });
    current = { child, channel };
    let hasBegun = false;
    const ended = (how: string): void => {
      current = undefined;
      if (isStopping) return;
      warnOnStandardError(`the follower ended (${how}); starting it again`);
      delayMs = hasBegun ? firstDelayMs : Math.min(2 * delayMs, longestDelayMs);
      startAgain();
    };
    child.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`));
    // A machine that cannot start another process, or a message to one that has just ended.
    child.on('error', (error) => {
      if (child.pid === undefined) ended(error.message);
    });
    const { refused } = await channel.request('begin', orders);
    hasBegun = refused === undefined;
    if (hasBegun) return;
    // Its end starts it again, later each time; the first time there is nobody to wait for it.
    child.kill('SIGKILL');
    throw new StartRefused(refused ?? '');
  };

  const startAgain = (): void => {
    setTimeout(() => {
      if (isStopping) return;
      const failed = (error: Error): void => warnOnStandardError(`the follower cannot start again: ${error.message}`);
      let orders: FollowerOrders;
      try {
        orders = ordersOf();
      } catch (error) {
        failed(error as Error);
        delayMs = Math.min(2 * delayMs, longestDelayMs);
        return startAgain();
      }
      start(orders).catch(failed);
    }, delayMs);
  };

  try {
    await start(ordersOf());
  } catch (error) {
    isStopping = true;
    throw error instanceof StartRefused ? error : new StartRefused(`the follower of the cluster ${(error as Error).message}`);
  }
  return {
    get pid() {
      return current?.child.pid;
    },
    async stop() {
      isStopping = true;
      await endProcess(current?.child, () => current?.channel.request('stop', undefined), stopMs);
    },
  };
}
