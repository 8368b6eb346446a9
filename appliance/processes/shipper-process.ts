// Keeps the shipper running beside the workers: starts it, starts it again when it ends, stops it last.
import { type ChildProcess, fork } from 'node:child_process';
import { fail } from '../../core/base/errors.ts';
import { warnOnStandardError } from '../../core/log/journal.ts';
import { type Channel, openChannel, Unanswered } from './channel.ts';
import { endProcess } from './end-process.ts';
import { memoryEnvironment } from './memory.ts';
import { nothingAsked, shipperRequests, type SupervisorHandlers, workerPort } from './messages.ts';

export type ShipperProcess = Pick<SupervisorHandlers, 'shipping' | 'testShipping'> & {
  /** Starts it; it has nothing to send before workers serve. */
  start(): void;
  /** What was sent is confirmed, five seconds at most; the rest is sent by the next start. */
  stop(): Promise<void>;
};

const firstDelayMs = 200;
const longestDelayMs = 30_000;
/** A shipper that ran for so long is started again at once. */
const calmMs = 60_000;
const stateMs = 2_000;
const testMs = 60_000;
const stopMs = 7_000;

/** For an appliance without destinations there is no shipper. */
export const noShipper: ShipperProcess = {
  start: () => undefined,
  shipping: () => [],
  testShipping() {
    throw fail('not-found');
  },
  stop: async () => undefined,
};

/** The shipper, which reads the same arguments. It knows nothing of seals, and goes on during them. */
export function keepShipper(args: readonly string[]): ShipperProcess {
  let isStopping = false;
  let delayMs = firstDelayMs;
  let current: { readonly child: ChildProcess; readonly channel: Channel<typeof shipperRequests> } | undefined;

  const start = (): void => {
    if (isStopping) return;
    const child = fork(new URL('../shipper.ts', import.meta.url), [...args], { env: { ...process.env, ...memoryEnvironment() } });
    const channel = openChannel({
      port: workerPort(child),
      asks: shipperRequests,
      serves: nothingAsked,
      handlers: {},
      report: warnOnStandardError,
    });
    const startedMs = performance.now();
    current = { child, channel };
    let hasEnded = false;
    const ended = (how: string): void => {
      if (hasEnded) return;
      hasEnded = true;
      current = undefined;
      if (isStopping) return;
      warnOnStandardError(`the shipper ended (${how}); starting it again`);
      delayMs = performance.now() - startedMs > calmMs ? firstDelayMs : Math.min(2 * delayMs, longestDelayMs);
      setTimeout(start, delayMs);
    };
    child.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`));
    // A machine that cannot start another process, or a message to one that has just ended.
    child.on('error', (error) => {
      if (child.pid === undefined) ended(error.message);
    });
  };

  return {
    start,
    shipping: async () => (await current?.channel.request('state', undefined, stateMs).catch(() => [])) ?? [],
    async testShipping(argument) {
      try {
        if (current === undefined) throw new Unanswered('is being started again');
        return await current.channel.request('test', argument, testMs);
      } catch (error) {
        if (error instanceof Unanswered) throw fail('shipper-unavailable', { retryAfterSeconds: 5 });
        throw error;
      }
    },
    async stop() {
      isStopping = true;
      await endProcess(current?.child, () => current?.channel.request('stop', undefined), stopMs);
    },
  };
}
