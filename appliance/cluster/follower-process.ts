// Keeps the follower running beside the workers: starts it, starts it again when it ends, stops it last.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { warnOnStandardError } from '../../core/log/journal.ts';
import { type Channel, openChannel } from '../processes/channel.ts';
import { endProcess } from '../processes/end-process.ts';
import { memoryEnvironment } from '../processes/memory.ts';
import { nothingAsked, workerPort } from '../processes/messages.ts';
import { StartRefused } from '../state/start-refused.ts';
import { followerOrders, type FollowerOrders, type OrderHandlers } from './messages.ts';

export type FollowerProcess = {
  /** Undefined while it is being started again. */
  state(): ReturnType<OrderHandlers['state']>;
  /** The process of the moment, for those who watch over processes. */
  readonly pid: number | undefined;
  /** Call it when no process answers any more. */
  stop(): Promise<void>;
};

/** The processes that serve may answer for a second and a half without it. */
const firstDelayMs = 20;
const longestDelayMs = 5_000;
const stateMs = 1_000;
const stopMs = 5_000;

/** Resolves when the replica is filled and followed. Rejects with StartRefused when it cannot be. */
export async function keepFollower(orders: FollowerOrders): Promise<FollowerProcess> {
  let isStopping = false;
  let delayMs = firstDelayMs;
  let current: { readonly child: ChildProcess; readonly channel: Channel<typeof followerOrders> } | undefined;

  const start = async (): Promise<void> => {
    const child = fork(join(import.meta.dirname, '../follower.ts'), [], { env: { ...process.env, ...memoryEnvironment() } });
    const channel = openChannel({
      ...{ port: workerPort(child), asks: followerOrders, serves: nothingAsked, handlers: {} },
      report: warnOnStandardError,
    });
    current = { child, channel };
    let hasBegun = false;
    child.once('exit', (code, signal) => {
      current = undefined;
      if (isStopping) return;
      warnOnStandardError(`the follower ended (${signal ?? `exit code ${code}`}); starting it again`);
      delayMs = hasBegun ? firstDelayMs : Math.min(2 * delayMs, longestDelayMs);
      setTimeout(() => {
        if (!isStopping) start().catch((error: Error) => warnOnStandardError(`the follower cannot start again: ${error.message}`));
      }, delayMs);
    });
    const { refused } = await channel.request('begin', orders);
    hasBegun = refused === undefined;
    if (hasBegun) return;
    // Its end starts it again, later each time; the first time there is nobody to wait for it.
    child.kill('SIGKILL');
    throw new StartRefused(refused ?? '');
  };

  try {
    await start();
  } catch (error) {
    isStopping = true;
    throw error instanceof StartRefused ? error : new StartRefused(`the follower of the cluster ${(error as Error).message}`);
  }
  return {
    state: async () => current?.channel.request('state', undefined, stateMs).catch(() => undefined),
    get pid() {
      return current?.child.pid;
    },
    async stop() {
      isStopping = true;
      await endProcess(current?.child, () => current?.channel.request('stop', undefined), stopMs);
    },
  };
}
