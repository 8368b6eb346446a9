// The record of each token's wrapping key, and its public state.
import { z } from 'zod';
import type { TableKinds } from '../../core/store/records/table-kinds.ts';
import { defined } from '../../core/base/defined.ts';
import type { Store, Table } from '../../core/store/store.ts';
import type { OwnKeyName } from '../../hsm/api.ts';
import { formatTimestamp } from '../../core/base/time.ts';

/**
 * `rewrapping`: keys are being rewrapped, or all are and the job waits until no process can need the old wrapping key. `destroying`: no key
 * is under an old wrapping key, none can be again, and the old wrapping keys are being destroyed. `done`: the rotation has ended. With
 * `failed` above 0, that many keys could not be rewrapped, and the old wrapping keys are kept.
 */
export type WrappingRecord = {
  /** number of the wrapping key in use */
  readonly number: number;
  /** of a group of tokens: the carrying by which it came into each (hsm/setup/carry.ts) */
  readonly carrying?: string;
  /** ids of the appliances into whose tokens it was carried, in a cluster with a token in each */
  readonly holders?: readonly string[];
  readonly phase: 'rewrapping' | 'destroying' | 'done';
  readonly startedAt: string;
  readonly finishedAt?: string;
  /** keys rewrapped, of `total` */
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  /** keys made before the rotation and committed after its start: the search for old ones has to begin again */
  readonly latecomers: number;
  /** begun by the job that looks for interrupted rotations, and by no caller yet */
  readonly isAdopted?: boolean;
};

/** The record at the start of a rotation. */
export function beginning(
  { number, carrying, holders }: OwnKeyName & Pick<WrappingRecord, 'holders'>,
  now: Temporal.Instant,
): WrappingRecord {
  return {
    number,
    ...defined({ carrying, holders }),
    phase: 'rewrapping',
    startedAt: formatTimestamp(now),
    done: 0,
    total: 0,
    failed: 0,
    latecomers: 0,
  };
}

/** By the name of a token, which all appliances give to the same keys. */
export const wrappingTableKinds: TableKinds = { 'wrapping-keys': { of: 'all' } };

/** [name of the token]; absent for a token whose wrapping key was never rotated */
export function wrappingTable(store: Store): Table<WrappingRecord> {
  return store.table<WrappingRecord>('wrapping-keys');
}

export const wrappingState = z.object({
  number: z.int().min(1).meta({ description: 'Number of the wrapping key in use; each rotation makes the next.', example: 2 }),
  state: z
    .enum(['in-use', 'rewrapping', 'incomplete'])
    .meta({ typeName: 'WrappingKeyState' })
    .describe(
      '`rewrapping`: keys are being rewrapped. `incomplete`: some could not be, so the old wrapping key is kept; every start tries again.',
    ),
  done: z.int().min(0).describe('Keys rewrapped by the last rotation.'),
  total: z.int().min(0).describe('Keys to rewrap, as counted so far.'),
  failed: z.int().min(0).describe('Keys that could not be rewrapped; system:logs names them.'),
  started: z.string().optional().meta({ description: 'When the last rotation began.', example: '2026-07-01T12:00:00.000000Z' }),
  finished: z.string().optional().meta({ description: 'When it ended.', example: '2026-07-01T12:00:30.000000Z' }),
});

export type WrappingState = z.output<typeof wrappingState>;

/** The public state of a record. */
export function describeWrapping(record: WrappingRecord | undefined): WrappingState {
  if (record === undefined) return { number: 1, state: 'in-use', done: 0, total: 0, failed: 0 };
  const { number, phase, done, total, failed, startedAt, finishedAt } = record;
  const state = phase === 'done' ? (failed > 0 ? 'incomplete' : 'in-use') : 'rewrapping';
  return { number, state, done, total, failed, started: startedAt, ...defined({ finished: finishedAt }) };
}
