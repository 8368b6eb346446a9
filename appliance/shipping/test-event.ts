// A marked record to one destination, on a connection of its own: tests whether the receiver takes it, and reports its answer.
import { formatTimestamp } from '../../core/base/time.ts';
import type { Clock } from '../../core/base/context.ts';
import type { Destination } from '../../core/config/shipping.ts';
import { shipperRecord } from './formats/records.ts';
import { openConnection } from './receivers/open.ts';
import { quoted, ReceiverError } from './receivers/receiver.ts';

export type TestResult = {
  /** `id` of the record, to find it at the receiver */
  readonly id: string;
  readonly accepted: boolean;
  /** answer of the receiver, or the reason for which it could not be reached */
  readonly answer: string;
  readonly milliseconds: number;
};

/** Shorter than for records: a person waits. */
const patienceMs = 10_000;
const quietMs = 500;
const acknowledgeMs = 10_000;

export async function sendTestEvent(destination: Destination, host: string, clock: Clock): Promise<TestResult> {
  const message = 'This is a test event of keystored. Nothing has happened.';
  const record = shipperRecord('test', formatTimestamp(clock.now()), { destination: destination.name, message });
  const connection = openConnection({ destination, host, patienceMs, quietMs, acknowledgeMs });
  const startedMs = clock.monotonicMs();
  const result = (accepted: boolean, answer: string): TestResult => {
    return { id: record.id, accepted, answer: quoted(answer), milliseconds: Math.round(clock.monotonicMs() - startedMs) };
  };
  try {
    const { whole } = await connection.send([record]);
    if (whole !== undefined) return result(false, whole.reason);
    await connection.confirm();
    return result(true, connection.answer);
  } catch (error) {
    if (error instanceof ReceiverError) return result(false, error.message);
    throw error;
  } finally {
    connection.close();
  }
}
