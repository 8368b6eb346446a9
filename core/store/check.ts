// Checks every record of the store: finds those that do not open, decode or belong, and compares all of them with what was written.
import { setImmediate } from 'node:timers/promises';
import type { CheckFinding } from '../base/context.ts';
import type { Environment } from './environment.ts';
import { addContent, contentOf, firstTable } from './files/content.ts';
import { decodeKey, encodeKey } from './keys.ts';
import { contentIn, keepContent, revisionKey, revisionOf } from './revision.ts';
import { describeKey, type TableContext, openRecord, textsIn } from './tables.ts';

/** Yields the findings of the whole store; reads past the cache. */
export function* checkRecords(context: TableContext): Iterable<CheckFinding> {
  const everyTable = { low: firstTable, high: Buffer.of(0xff) };
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

/** Records read before other work gets its turn. */
const readAtOnce = 512;

/** Number of reads: if other processes write meanwhile, the store is read again. */
const mostReads = 5;

export type ExaminedContent = {
  /** true also for a store of an earlier version, which did not keep the content */
  readonly isAsWritten: boolean;
  readonly records: number;
  /** accepts the found content as the written one */
  readonly accept: () => Promise<void>;
};

/** Reads every record, about 300 ms for 100,000 of them. */
export async function examineContent(environment: Environment): Promise<ExaminedContent> {
  for (let left = mostReads; ; left--) {
    environment.refresh(revisionKey, () => true);
    const state = environment.get(revisionKey);
    const kept = contentIn(state);
    const { content, records } = await readContent(environment);
    const isSame = revisionOf(environment.get(revisionKey)) === revisionOf(state);
    if (isSame || left === 1) {
      return {
        isAsWritten: !isSame || kept === undefined || kept === content,
        records,
        accept: () => (isSame ? accept(environment, kept, content, revisionOf(state)) : Promise.resolve()),
      };
    }
  }
}

async function readContent(environment: Environment): Promise<{ readonly content: bigint; readonly records: number }> {
  let [content, records] = [0n, 0];
  for (let low = firstTable; ;) {
    const keys = environment.keys({ low, high: Buffer.of(0xff) }, readAtOnce, false);
    for (const key of keys) content = addContent(content, contentOf(key, environment.get(key)));
    records += keys.length;
    const last = keys.at(-1);
    if (last === undefined) return { content, records };
    low = Buffer.concat([last, Buffer.of(0)]);
    await setImmediate();
  }
}

/** Accepts the found content. Meanwhile writes have changed the kept content; if none was kept, the difference is unknown. */
async function accept(environment: Environment, kept: bigint | undefined, content: bigint, revision: number): Promise<void> {
  await environment.commit(() => {
    const now = environment.get(revisionKey);
    const present = contentIn(now);
    if (kept !== undefined && present !== undefined) keepContent(environment, addContent(present, content - kept));
    else if (revisionOf(now) === revision) keepContent(environment, content);
  });
}
