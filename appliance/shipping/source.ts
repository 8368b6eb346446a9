// Reads the next records for a destination from the files of the audit trail and the logs. The files are the buffer: nothing is queued.
import type { Destination } from '../../core/config/shipping.ts';
import { listStreams, type StreamFile } from '../../core/log/stream-files.ts';
import { readLinesAfter } from '../../core/log/stream-position.ts';
import { paths } from '../data-directory/paths.ts';
import { type ChainPlace, counted, type Cursor } from './cursor.ts';
import { auditRecordOf, logRecordOf, type ShippedRecord, shipperRecord } from './formats/records.ts';

/** Records in the order of each chain, and the cursor behind them. */
export type Batch = { readonly records: readonly ShippedRecord[]; readonly cursor: Cursor };

/** Octets that are read of one stream before the next one has its turn. */
const turnBytes = 64 << 10;

/** Reads records after the cursor: about `mostBytes`, from all streams in turn. Empty once all have been read. */
export async function readBatch(
  data: string,
  { sources }: Pick<Destination, 'sources'>,
  cursor: Cursor,
  mostBytes: number,
  now: string,
): Promise<Batch> {
  let batch: Batch = { records: [], cursor };
  let bytes = 0;
  const take = (next: Batch): void => {
    bytes += next.records.reduce((sum, { text }) => sum + text.length, 0);
    batch = { records: batch.records.concat(next.records), cursor: next.cursor };
  };
  const length = Math.min(turnBytes, mostBytes);
  if (sources.includes('audit')) {
    for (const [chain, files] of await listStreams(paths.audit(data)))
      if (bytes < mostBytes) take(await readChain(chain, files, batch.cursor, length, now));
  }
  if (sources.includes('logs')) {
    for (const [stream, files] of await listStreams(paths.logs(data)))
      if (bytes < mostBytes) take(await readLog(stream, files, batch.cursor, length, now));
  }
  return batch;
}

/** A chain that the cursor does not know began after it, so its first record is number 1. */
const beginning: ChainPlace = { number: 0, attempt: 0, offset: 0, sequence: 0, hash: '' };

async function readChain(chain: string, files: readonly StreamFile[], before: Cursor, mostBytes: number, now: string): Promise<Batch> {
  let place = before.audit[chain] ?? beginning;
  const { lines, isCut } = await readLinesAfter(files, place, mostBytes);
  const first = lines[0] === undefined ? undefined : auditRecordOf(chain, lines[0].text);
  if (isCut || (first !== undefined && wasReplaced(first.sequence, first.record['previous'], place)))
    return { records: [], cursor: withChain(before, chain, begunAgain(place, files)) };
  let dropped = 0;
  const records: ShippedRecord[] = [];
  for (const { text, after } of lines) {
    const record = auditRecordOf(chain, text);
    if (record === undefined) {
      records.push(shipperRecord('unreadable', now, { chain, 'after-sequence': place.sequence, bytes: text.length }));
      place = { ...place, ...after };
      continue;
    }
    const missing = record.sequence - place.sequence - 1;
    if (missing > 0) {
      dropped += missing;
      const gap = { 'after-sequence': place.sequence, 'through-sequence': record.sequence - 1, records: missing };
      records.push(shipperRecord('dropped', now, { chain, ...gap }));
    }
    records.push(record);
    place = { ...place, ...after, sequence: record.sequence, hash: record.digest };
  }
  if (lines.length === 0) return { records, cursor: before };
  return { records, cursor: withChain(counted(before, { dropped }), chain, place) };
}

/**
 * Tells whether the record before this one is no longer the one that was sent: the trail took back records that it could not keep on a full
 * disk, and wrote another one with that number. A file is begun again once for each such place; records changed by others are sent as they
 * are.
 */
function wasReplaced(sequence: number, previous: unknown, place: ChainPlace): boolean {
  if (place.hash === '' || place.reread === place.sequence) return false;
  return sequence <= place.sequence || (sequence === place.sequence + 1 && previous !== place.hash);
}

/** The place at the beginning of the file, or of the next one where the file is gone. */
function begunAgain(place: ChainPlace, files: readonly StreamFile[]): ChainPlace {
  const { number, attempt } = files.find((file) => file.number >= place.number) ?? place;
  return { number, attempt, offset: 0, sequence: Math.min(place.sequence, number - 1), hash: '', reread: place.sequence };
}

function withChain(before: Cursor, chain: string, place: ChainPlace): Cursor {
  return { ...before, audit: { ...before.audit, [chain]: place } };
}

async function readLog(stream: string, files: readonly StreamFile[], before: Cursor, mostBytes: number, now: string): Promise<Batch> {
  const place = before.logs[stream];
  const { lines, skippedFiles, isCut } = await readLinesAfter(files, place, mostBytes);
  if (isCut && place !== undefined)
    return { records: [], cursor: { ...before, logs: { ...before.logs, [stream]: { ...place, offset: 0 } } } };
  const last = lines.at(-1);
  if (last === undefined) return { records: [], cursor: before };
  const gap = skippedFiles === 0 ? [] : [shipperRecord('dropped', now, { stream, files: skippedFiles })];
  const records = lines.map((line) => logRecordOf(stream, line) ?? shipperRecord('unreadable', now, { stream, bytes: line.text.length }));
  const cursor = { ...counted(before, { droppedLogFiles: skippedFiles }), logs: { ...before.logs, [stream]: last.after } };
  return { records: [...gap, ...records], cursor };
}
