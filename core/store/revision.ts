// The revision: a number that every commit increments, stored with the keys changed by the latest commits, for coherent caches, and with the content.
import { Packr } from 'msgpackr';
import { addContent } from './files/content.ts';
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

/** Inside a commit: increments the revision and records the changed keys. Returns the new revision. */
export function noteChanges(environment: Environment, changed: ReadonlySet<string>): number {
  const revision = revisionOf(environment.get(revisionKey)) + 1;
  raiseRevision(environment, revision);
  environment.put(changesKey(revision), packr.pack(changed.size > maxNotedKeys ? null : [...changed]));
  environment.remove(changesKey(revision - keptCommits));
  return revision;
}

/*
 * revision record = revision(8, big endian) ‖ content(16, big endian)
 *
 * A version without content writes only the first part: the content is then unknown.
 */
const contentAt = 8;
const recordBytes = 24;

/** Content of all records (files/content.ts); undefined if unknown; 0 for a new store. */
export function contentIn(value: Uint8Array | undefined): bigint | undefined {
  if (value === undefined) return 0n;
  if (value.length !== recordBytes) return undefined;
  const view = new DataView(value.buffer, value.byteOffset);
  return (view.getBigUint64(contentAt) << 64n) | view.getBigUint64(contentAt + 8);
}

/**
 * Inside a commit: raises the revision; caches do not know the changes of the skipped revisions. The content changes by the writes of the
 * commit so far.
 */
export function raiseRevision(environment: Environment, revision: number): void {
  const content = contentIn(environment.get(revisionKey));
  put(environment, revision, content === undefined ? undefined : addContent(content, environment.contentChange));
}

/** Inside a commit that writes nothing else: stores the content of the same revision. */
export function keepContent(environment: Environment, content: bigint): void {
  put(environment, revisionOf(environment.get(revisionKey)), content);
}

function put(environment: Environment, revision: number, content: bigint | undefined): void {
  const value = new Uint8Array(content === undefined ? contentAt : recordBytes);
  const view = new DataView(value.buffer);
  view.setBigUint64(0, BigInt(revision));
  if (content !== undefined) {
    view.setBigUint64(contentAt, content >> 64n);
    view.setBigUint64(contentAt + 8, BigInt.asUintN(64, content));
  }
  environment.put(revisionKey, value);
}

/** Keys changed after one revision up to another; undefined if they are not recorded. */
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
