// The part of the appliance about its machine: clock, disk and its content, the image, and the operations of an appliance.
import { z } from 'zod';
import { gaugesOf } from '../../core/plugin/gauges.ts';
import { type AnyPlugin, definePlugin } from '../../core/plugin/plugin.ts';
import { readDisk, readStoreBytes } from '../data-directory/disk.ts';
import { clockEndpoint } from './clock-endpoint.ts';
import type { ClockWatch } from './clock-watch.ts';
import { clockPart, damageParts, diskPart, type DiskParts } from './health.ts';
import { machineEndpoints } from './machine-endpoints.ts';

export type MachineParts = DiskParts & {
  readonly clockWatch: ClockWatch;
  /** As in Runtime. */
  readonly damage?: (() => string | undefined) | undefined;
  /** Socket of the machine operations; absent unless the machine is an appliance. */
  readonly operationsSocket?: string | undefined;
};

export function machinePlugin(parts: MachineParts): AnyPlugin {
  const { directory, clockWatch, damage, operationsSocket } = parts;
  return definePlugin({
    name: 'machine',
    contract: 1,
    config: z.unknown(),
    provision: ({ clock }) => ({
      endpoints: [clockEndpoint(clockWatch), ...machineEndpoints(operationsSocket)],
      jobs: [clockWatch.job],
      gauges: [
        ...gaugesOf(
          () => readDisk(directory),
          [
            {
              name: 'keystored_disk_free_bytes',
              help: 'Room left in the file system of the data directory',
              value: ({ freeBytes }) => freeBytes,
            },
            {
              name: 'keystored_disk_size_bytes',
              help: 'Size of the file system of the data directory',
              value: ({ sizeBytes }) => sizeBytes,
            },
            { name: 'keystored_store_bytes', help: 'Size of the store', value: () => readStoreBytes(directory) },
          ],
        ),
        ...gaugesOf(
          () => clock,
          [
            {
              name: 'keystored_clock_plausible',
              help: '0 while certificates, expiry and rotation are held because the clock cannot be right',
              value: ({ doubt }) => (doubt === undefined ? 1 : 0),
            },
            {
              name: 'keystored_clock_seconds',
              help: 'The time that the appliance uses, seconds since 1970',
              value: (read) => read.now().epochMilliseconds / 1_000,
            },
          ],
        ),
      ],
      health: () => [diskPart(parts), clockPart(clock), ...damageParts(damage?.())],
    }),
  });
}
