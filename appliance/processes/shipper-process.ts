// The shipper beside the workers, and their requests to it.
import { fail } from '../../core/base/errors.ts';
import { Unanswered } from './channel.ts';
import { keepProcess } from './kept-process.ts';
import { shipperRequests, type SupervisorHandlers } from './messages.ts';

export type ShipperProcess = Pick<SupervisorHandlers, 'shipping' | 'testShipping'> & {
  /** Starts it; it has nothing to send before workers serve. */
  start(): void;
  /** Stops it. Sent records are confirmed, for five seconds at most; the next start sends the rest. */
  stop(): Promise<void>;
};

const stateMs = 2_000;
const testMs = 60_000;

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
  const kept = keepProcess({
    ...{ name: 'shipper', program: new URL('../shipper.ts', import.meta.url), args, asks: shipperRequests },
    ...{ calmMs: 60_000, firstDelayMs: 200, longestDelayMs: 30_000, stopMs: 7_000 },
    askToStop: (channel) => channel.request('stop', undefined),
  });
  return {
    start: () => void kept.start(),
    shipping: async () => (await kept.current?.channel.request('state', undefined, stateMs).catch(() => [])) ?? [],
    async testShipping(argument) {
      try {
        if (kept.current === undefined) throw new Unanswered('is being started again');
        return await kept.current.channel.request('test', argument, testMs);
      } catch (error) {
        if (error instanceof Unanswered) throw fail('shipper-unavailable', { retryAfterSeconds: 5 });
        throw error;
      }
    },
    stop: () => kept.stop(),
  };
}
