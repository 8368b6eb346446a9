// The state of every destination for people and metrics: places and counts from the disk, the rest from the shipper.
import { z } from 'zod';
import { defined } from '../../core/base/defined.ts';
import type { Clock } from '../../core/base/context.ts';
import { addressOf, type Destination, shippedSources, shippingProtocols } from '../../core/config/shipping.ts';
import { timestampText } from '../../core/wire/fields.ts';
import { readCursor } from './cursor.ts';
import { measureLag } from './lag.ts';
import type { LiveState } from './pipeline.ts';

const count = (description: string, example = 0) => z.int().min(0).meta({ description, example });

/** The state of one destination. */
export const destinationState = z.object({
  name: z.string().meta({ description: 'Name of the destination in the configuration.', example: 'siem' }),
  protocol: z.enum(shippingProtocols).meta({ typeName: 'ShippingProtocol', description: 'What the receiver speaks.', example: 'syslog' }),
  address: z.string().meta({ description: 'Host and port of the receiver.', example: 'siem.example:6514' }),
  sources: z
    .array(z.enum(shippedSources).meta({ typeName: 'ShippedSource' }))
    .meta({ description: 'What is shipped there.', example: ['audit'] }),
  onLag: z
    .enum(['continue', 'block'])
    .meta({ typeName: 'ShippingLagPolicy', description: 'What happens when `max-lag-bytes` is reached.', example: 'continue' }),
  maxLagBytes: count('Octets of the audit trail that the receiver may lack.', 1_073_741_824),
  connected: z.boolean().meta({ description: '`true` while the receiver takes records.', example: true }),
  connectedSince: timestampText()
    .optional()
    .meta({ description: 'When it took something for the first time since the last failure.', example: '2026-11-22T10:00:00.000000Z' }),
  lastError: z
    .object({
      occurredAt: timestampText().meta({ description: 'When it failed.', example: '2026-11-22T09:59:00.000000Z' }),
      message: z.string().meta({
        description: 'What failed, and the fix.',
        example: 'nothing listens there: start the receiver, or correct the address (ECONNREFUSED)',
      }),
    })
    .optional()
    .describe('The last failure, also when the receiver takes records again.'),
  blocking: z
    .boolean()
    .meta({ description: '`true` while changes and uses of keys are refused because of this destination.', example: false }),
  lagRecords: count('Records of the audit trail that the receiver has not confirmed.'),
  lagBytes: count('Octets of the audit trail that it has not confirmed.'),
  logLagBytes: count('Octets of the logs that it has not confirmed.'),
  lagSeconds: z.number().min(0).meta({ description: 'Age of the oldest record that it has not confirmed.', example: 0 }),
  sent: count('Records that the receiver has confirmed.', 1_200),
  resent: count('Records that were sent again, because nothing said that they had arrived.'),
  dropped: count('Records of the audit trail that were removed before they were sent.'),
  droppedLogFiles: count('Files of logs that were removed before they were read.'),
  rejected: count('Records that the receiver refuses for what they are.'),
  errors: count('Failures of the connection or the receiver.'),
  positions: z
    .array(
      z.object({
        chain: z.string().meta({ description: 'Chain of the audit trail.', example: 'worker-1' }),
        file: z.string().optional().meta({ description: 'File of the last confirmed record.', example: 'worker-1.000000000001.jsonl' }),
        offset: count('Octet of the file behind it.', 4_096),
        sequence: count('Its number in the chain.', 17),
        lagRecords: count('Records of the chain after it.'),
      }),
    )
    .describe('The last confirmed record of every chain.'),
});

export type DestinationState = z.output<typeof destinationState>;

/** Parts from which the report is made. */
export type ReportParts = {
  readonly data: string;
  readonly destinations: readonly Destination[];
  readonly clock: Clock;
  /** the destination that holds up changes */
  readonly behind: () => string | undefined;
  /** from the shipper; empty while it does not answer */
  readonly live: () => Promise<readonly LiveState[]>;
};

export async function reportShipping({ data, destinations, clock, behind, live }: ReportParts): Promise<readonly DestinationState[]> {
  const states = new Map((await live().catch(() => [])).map((state) => [state.name, state]));
  return Promise.all(
    destinations.map(async (destination): Promise<DestinationState> => {
      const { name, protocol, sources, onLag, maxLagBytes } = destination;
      const { host, port } = addressOf(destination);
      const cursor = readCursor(data, name);
      const { records, bytes, logBytes, seconds, chains } = await measureLag(data, destination, cursor, clock.now());
      const { connectedSince, lastError } = states.get(name) ?? { lastError: undefined, connectedSince: undefined };
      return {
        ...{ name, protocol, sources, onLag, maxLagBytes },
        address: `${host.includes(':') ? `[${host}]` : host}:${port}`,
        connected: connectedSince !== undefined,
        ...defined({ connectedSince, lastError }),
        blocking: behind() === name,
        ...{ lagRecords: records, lagBytes: bytes, logLagBytes: logBytes, lagSeconds: Math.round(seconds * 1_000) / 1_000 },
        ...(cursor?.counts ?? { sent: 0, resent: 0, dropped: 0, droppedLogFiles: 0, rejected: 0, errors: 0 }),
        positions: [...chains],
      };
    }),
  );
}
