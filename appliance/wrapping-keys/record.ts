// What the store remembers of the wrapping key of each token, and what of it is told.
import { z } from 'zod';
import { defined } from '../../core/base/defined.ts';
import type { Store, Table } from '../../core/store/store.ts';
import { formatTimestamp } from '../../core/base/time.ts';

/**
 * `rewrapping`: keys are wrapped anew, or nobody may need the old wrapping key any more and that is being made sure. `destroying`: nothing
 * is under an old wrapping key, nothing can come under one again, and they are taken out of the token. `done`: that is over; with `failed`
 * above 0 the old ones are still there, because so many keys could not be wrapped anew.
 */
export type WrappingRecord = {
  /** of the wrapping key in use */
  readonly number: number;
  readonly phase: 'rewrapping' | 'destroying' | 'done';
  readonly startedAt: string;
  readonly finishedAt?: string;
  /** keys wrapped anew, of so many */
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  /** how many keys were committed that had been made just before: the search for old ones has to begin again */
  readonly latecomers: number;
};

/** A rotation that begins. */
export function beginning(number: number, now: Temporal.Instant): WrappingRecord {
  return { number, phase: 'rewrapping', startedAt: formatTimestamp(now), done: 0, total: 0, failed: 0, latecomers: 0 };
}

/** [name of the token]; absent for a token whose wrapping key was never rotated */
export function wrappingTable(store: Store): Table<WrappingRecord> {
  return store.table<WrappingRecord>('wrapping-keys');
}

export const wrappingState = z.object({
  number: z.int().min(1).meta({ description: 'Number of the wrapping key in use; each rotation makes the next.', example: 2 }),
  state: z
    .enum(['in-use', 'rewrapping', 'incomplete'])
    .describe(
      '`rewrapping`: keys are being wrapped anew. `incomplete`: some could not be, so the old wrapping key is kept; it is tried again at every start.',
    ),
  done: z.int().min(0).describe('Keys wrapped anew by the last rotation.'),
  total: z.int().min(0).describe('Keys it has to wrap anew, as far as it has counted.'),
  failed: z.int().min(0).describe('Keys that could not be wrapped anew; system:logs names them.'),
  started: z.string().optional().meta({ description: 'When the last rotation began.', example: '2026-07-01T12:00:00.000000Z' }),
  finished: z.string().optional().meta({ description: 'When it ended.', example: '2026-07-01T12:00:30.000000Z' }),
});

export type WrappingState = z.output<typeof wrappingState>;

/** What is told of a record. */
export function describeWrapping(record: WrappingRecord | undefined): WrappingState {
  if (record === undefined) return { number: 1, state: 'in-use', done: 0, total: 0, failed: 0 };
  const { number, phase, done, total, failed, startedAt, finishedAt } = record;
  const state = phase === 'done' ? (failed > 0 ? 'incomplete' : 'in-use') : 'rewrapping';
  return { number, state, done, total, failed, started: startedAt, ...defined({ finished: finishedAt }) };
}
