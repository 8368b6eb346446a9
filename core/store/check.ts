// Checks every record of the store and reports those that do not open, decode or belong.
import type { CheckFinding } from '../base/context.ts';
import { decodeKey, encodeKey } from './keys.ts';
import { describeKey, type TableContext, openRecord, textsIn } from './tables.ts';

/** The findings of the whole store; reads past the cache. */
export function* checkRecords(context: TableContext): Iterable<CheckFinding> {
  // The store's own entries sort below every table; see revision.ts and data-key.ts.
  const everyTable = { low: Buffer.from('\u0003'), high: Buffer.of(0xff) };
  for (const text of textsIn(context.environment, everyTable)) {
    const { table, key } = decodeKey(text);
    if (encodeKey(table, key) !== text) {
      yield { where: JSON.stringify(text), problem: 'the key is not one the store writes' };
      continue;
    }
    try {
      openRecord(context, text);
    } catch (error) {
      yield { where: describeKey(text), problem: error instanceof Error ? error.message : String(error) };
    }
  }
}
