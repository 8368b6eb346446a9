// View of the destinations for a worker, from their places on the disk: whether one holds up changes, and the files that are still needed.
import type { Clock, Log } from '../../core/base/context.ts';
import { reasonOf } from '../../core/base/errors.ts';
import type { Destination } from '../../core/config/shipping.ts';
import { listStreams, type StreamFile } from '../../core/log/stream-files.ts';
import { isReadThrough } from '../../core/log/stream-position.ts';
import { paths } from '../data-directory/paths.ts';
import { readCursor } from './cursor.ts';
import { measureLagBytes } from './lag.ts';

export type ShippingWatch = {
  /** The destination because of which changes and uses of keys are refused. */
  readonly behind: string | undefined;
  /** Tells whether a file of the audit trail must not be removed yet. */
  isHeld(file: StreamFile): Promise<boolean>;
  stop(): void;
};

export type WatchParts = {
  readonly data: string;
  readonly destinations: readonly Destination[];
  readonly clock: Clock;
  readonly log: Log;
  readonly lookEveryMs?: number;
};

/** Changes go on when the lag is below this part of the bound, so that they are not refused and let through by turns. */
const caughtUp = 0.75;

/** Looks once before it resolves, and every second from then on. It needs no shipper: one that is dead makes the lag grow as well. */
export async function watchShipping({ data, destinations, log, lookEveryMs = 1_000 }: WatchParts): Promise<ShippingWatch> {
  const audited = destinations.filter(({ sources }) => sources.includes('audit'));
  const blocking = audited.filter(({ onLag }) => onLag === 'block');
  let behind: string | undefined;
  const look = async (): Promise<void> => {
    const found = await Promise.all(
      blocking.map(async ({ name, maxLagBytes }) => {
        const bytes = await measureLagBytes(data, readCursor(data, name));
        return bytes >= maxLagBytes * (name === behind ? caughtUp : 1) ? [name] : [];
      }),
    );
    const [now] = found.flat();
    if (now !== undefined && now !== behind)
      log.error('changes and uses of keys are refused until a receiver has caught up', { destination: now });
    if (now === undefined && behind !== undefined) log.info('changes and uses of keys are allowed again', { destination: behind });
    behind = now;
  };
  // A failed measurement, when descriptors are scarce for instance, leaves things as they are.
  const safely = (): Promise<void> =>
    look().catch((error: unknown) => log.warn('the lag of shipping cannot be measured', { reason: reasonOf(error) }));
  await safely();
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void safely().finally(() => (isLooking = false));
  }, lookEveryMs).unref();
  if (blocking.length === 0) clearInterval(timer);
  return {
    get behind() {
      return behind;
    },
    async isHeld(file) {
      for (const destination of audited) if (await needs(data, destination, file, log)) return true;
      return false;
    },
    stop: () => clearInterval(timer),
  };
}

/** A destination with `on-lag: block` needs what it has not had; one with `continue` does until its lag has reached the bound. */
async function needs(data: string, { name, onLag, maxLagBytes }: Destination, file: StreamFile, log: Log): Promise<boolean> {
  const cursor = readCursor(data, name);
  if (await isReadThrough(file, cursor?.audit[file.stream])) return false;
  if (onLag === 'block' || (await measureLagBytes(data, cursor)) < maxLagBytes) return true;
  const files = (await listStreams(paths.audit(data))).get(file.stream) ?? [];
  const next = files.find(({ number }) => number > file.number);
  const had = cursor?.audit[file.stream]?.sequence ?? file.number - 1;
  const lost = next === undefined ? undefined : next.number - 1 - Math.max(had, file.number - 1);
  log.error('records of the audit trail are removed before a receiver had them', { destination: name, chain: file.stream, records: lost });
  return false;
}
