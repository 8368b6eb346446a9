// The revision: a number that every commit increments, with the keys changed by the latest commits, for coherent caches.
import { Packr } from 'msgpackr';
import type { Environment } from './environment.ts';
import { keyBytes } from './keys.ts';

/** Key of the revision. No table name starts with a control character. */
export const revisionKey = keyBytes('\u0002revision');

/** Commits whose changed keys are kept; a process that is further behind drops its whole cache. */
const keptCommits = 256;
/** A commit that changes more keys than this counts as having changed everything. */
const maxNotedKeys = 1_000;

const packr = new Packr();

/** The number in a revision record; 0 for a new store. */
export function revisionOf(value: Uint8Array | undefined): number {
  return value === undefined ? 0 : Number(new DataView(value.buffer, value.byteOffset).getBigUint64(0));
}

/** Inside a commit: increments the revision and records the changed keys. Answers the new revision. */
export function noteChanges(environment: Environment, changed: ReadonlySet<string>): number {
  const revision = revisionOf(environment.get(revisionKey)) + 1;
  raiseRevision(environment, revision);
  environment.put(changesKey(revision), packr.pack(changed.size > maxNotedKeys ? null : [...changed]));
  environment.remove(changesKey(revision - keptCommits));
  return revision;
}

/** Inside a commit: what was noted of the revisions that are left out is unknown to every cache. */
export function raiseRevision(environment: Environment, revision: number): void {
  const value = new Uint8Array(8);
  new DataView(value.buffer).setBigUint64(0, BigInt(revision));
  environment.put(revisionKey, value);
}

/** Keys changed after one revision up to another, or undefined when they are not recorded. */
export function changesBetween(environment: Environment, from: number, to: number): readonly string[] | undefined {
  if (to < from || to - from > keptCommits) return undefined;
  const changed: string[] = [];
  for (let revision = from + 1; revision <= to; revision++) {
    const noted = environment.get(changesKey(revision));
    const keys = noted === undefined ? null : (packr.unpack(noted) as string[] | null);
    if (keys === null) return undefined;
    changed.push(...keys);
  }
  return changed;
}

function changesKey(revision: number): Buffer {
  return keyBytes(`\u0002changes\0${String(Math.max(revision, 0)).padStart(16, '0')}`);
}
