// Progress of a destination: a place in each chain and log, and counts, kept in one small file that is replaced whole.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isUnfinished, writeDurably } from '../../core/base/durable-files.ts';
import { listStreams } from '../../core/log/stream-files.ts';
import { paths } from '../data-directory/paths.ts';

const count = z.int().min(0);
const place = { number: count, attempt: count, offset: count };

/**
 * `sequence`, `hash`: the last record before the place; empty hash if unknown. `reread`: the last record because of which a file was begun
 * again.
 */
const chainPlace = z.object({ ...place, sequence: count, hash: z.string(), reread: count.optional() });
export type ChainPlace = z.output<typeof chainPlace>;

const cursor = z.object({
  version: z.literal(1),
  /** by chain of the audit trail */
  audit: z.record(z.string(), chainPlace),
  /** by process that writes a log */
  logs: z.record(z.string(), z.object(place)),
  counts: z.object({
    /** records that the receiver has taken */
    sent: count,
    /** records sent again, because nothing said that they had arrived */
    resent: count,
    /** records of the audit trail that were removed before they were sent */
    dropped: count,
    /** records that the receiver refuses for their content */
    rejected: count,
    /** files of logs that were removed before they were read */
    droppedLogFiles: count,
    /** failures of the connection or of the receiver */
    errors: count,
  }),
});

/** An immutable state of a destination. */
export type Cursor = z.output<typeof cursor>;
export type Counts = Cursor['counts'];

const noCounts: Counts = { sent: 0, resent: 0, dropped: 0, rejected: 0, droppedLogFiles: 0, errors: 0 };

/** The cursor of a destination as kept on the disk; undefined when it has none, or one that cannot be read. */
export function readCursor(data: string, destination: string): Cursor | undefined {
  try {
    return cursor.parse(JSON.parse(readFileSync(cursorPath(data, destination), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Resolves with a cursor before the first record that there is, for a destination that is new. */
export async function firstCursor(data: string): Promise<Cursor> {
  const streams = await listStreams(paths.audit(data));
  const audit = [...streams].flatMap(([chain, [first]]) =>
    // The number of a file is that of its first record: files removed before the destination existed do not count as lost to it.
    first === undefined ? [] : [[chain, { number: first.number, attempt: 0, offset: 0, sequence: first.number - 1, hash: '' }] as const],
  );
  return { version: 1, audit: Object.fromEntries(audit), logs: {}, counts: noCounts };
}

/** Puts the cursor on the disk, whole. Throws when it cannot be written. */
export function keepCursor(data: string, destination: string, kept: Cursor): void {
  writeDurably(cursorPath(data, destination), JSON.stringify(kept));
}

/** Makes the directory, and removes the leftovers of a killed process in it. */
export function prepareCursors(data: string): void {
  const directory = paths.shipping(data);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(directory)) if (isUnfinished(name)) rmSync(join(directory, name), { force: true });
}

/** The same cursor with changed counts. */
export function counted(before: Cursor, changes: Partial<Counts>): Cursor {
  const sums = Object.entries(changes).map(([name, more]) => [name, before.counts[name as keyof Counts] + more]);
  return { ...before, counts: { ...before.counts, ...Object.fromEntries(sums) } };
}

function cursorPath(data: string, destination: string): string {
  return join(paths.shipping(data), `${destination}.json`);
}
