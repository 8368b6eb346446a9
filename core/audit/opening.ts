// Opens the audit trail as a whole, before any process continues its chain: compares every chain with its remembered state and signs
// a head that names every chain that may exist. A chain that no head names was made by another program.
import { mkdir, rename } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { AuditFile } from './file.ts';
import { discrepancyMessages, examineChain, examineStore, findCopies, gapsIn, headBefore } from './examine.ts';
import { collectHeads, type SignHead, signedRecord } from './heads.ts';
import { type ChainHead, emptyChain, formatFields, formatLine, type HeadEntry } from './line.ts';
import type { MemoryChange, OpeningFinding, RememberedChain, TrailMemory } from './chains.ts';
import { resumeChain } from './resume.ts';
import type { Clock, Log } from '../base/context.ts';
import { syncPath } from '../base/durable-files.ts';
import { listStreams, type StreamFile, streamFilePath } from '../log/stream-files.ts';
import { linesFromEnd } from '../log/stream-lines.ts';
import { formatTimestamp } from '../base/time.ts';

export type OpeningOptions = {
  /** created if missing */
  readonly directory: string;
  /** chains that may be started from now on; the first one gets the records of the opening */
  readonly chains: readonly [string, ...string[]];
  readonly memory: TrailMemory;
  /** revision of the store when it was opened, before this start changed it; absent: not compared */
  readonly storeRevision?: number;
  /** makes the store continue after a later revision that the trail names */
  readonly raiseStore?: (revision: number) => Promise<void>;
  readonly signHead: SignHead;
  /** first note of this opening, before its findings: the origin of the appliance, if that is new */
  readonly begins?: object;
  readonly clock: Clock;
  readonly log: Log;
};

const messages = {
  ...discrepancyMessages,
  'store-behind': 'the store lacks acknowledged changes: the audit trail names a later revision of it',
  'set-aside': 'files of a chain that the appliance never began are set aside from the audit trail',
  copied: 'copies of files of a chain are set aside from the audit trail',
  unremembered: 'nothing is remembered of an audit trail that has heads',
} as const;

type Streams = ReadonlyMap<string, readonly StreamFile[]>;

/**
 * Opens the trail. No process may write a chain of the directory meanwhile. Discrepancies are logged and recorded in the trail, under the
 * new head.
 */
export async function openChains(options: OpeningOptions): Promise<void> {
  const { directory, memory, log } = options;
  const made = await mkdir(directory, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncPath(dirname(made));
  const recalled = memory.recall();
  const copies = await setCopiesAside(directory);
  const streams = await listStreams(directory);
  const others = recalled.size === 0 ? await findForgottenHeads(streams) : await compare(options, streams, recalled);
  const findings = [...copies, ...others];
  for (const finding of findings) log.error(messages[finding.event], finding);
  if (findings.length > 0) await memory.report?.(findings, options.clock);
  const recorded = findings.map((finding) => (finding.event === 'store-behind' ? finding.recordedRevision : 0));
  if (recorded.some((revision) => revision > 0)) await options.raiseStore?.(Math.max(...recorded));
  await memory.update([...ordersToForget(recalled, findings), ...gapsIn(findings)]);
  await writeOpening(options, streams, recalled, findings);
}

/** Before anything is compared: a chain would be continued in the newest file, which may be a copy of an earlier one. */
async function setCopiesAside(directory: string): Promise<readonly OpeningFinding[]> {
  const findings: OpeningFinding[] = [];
  for (const [ofChain, files] of await listStreams(directory)) {
    const copies = await findCopies(files);
    for (const { path } of copies) await rename(path, `${path}.set-aside`);
    if (copies.length > 0) findings.push({ event: 'copied', ofChain, files: copies.map(({ path }) => basename(path)) });
  }
  if (findings.length > 0) await syncPath(directory);
  return findings;
}

async function compare(
  { chains: [own], storeRevision }: OpeningOptions,
  streams: Streams,
  recalled: ReadonlyMap<string, RememberedChain>,
): Promise<readonly OpeningFinding[]> {
  const findings: OpeningFinding[] = [];
  for (const chain of new Set([...recalled.keys(), ...streams.keys()])) {
    const files = streams.get(chain) ?? [];
    const remembered = recalled.get(chain) ?? (chain === own ? { closed: emptyChain } : undefined);
    if (remembered === undefined) {
      findings.push({ event: 'set-aside', ofChain: chain, files: files.map(({ path }) => basename(path)) });
      continue;
    }
    findings.push(...(await examineChain(chain, files, remembered)));
    if (storeRevision !== undefined) findings.push(...(await examineStore(chain, files, remembered, storeRevision)));
  }
  return findings;
}

/** Finds heads of a lost memory: without a memory the trail is new, or no head was ever signed; heads without a memory mean that it was removed. */
async function findForgottenHeads(streams: Streams): Promise<readonly OpeningFinding[]> {
  for (const { path } of [...streams.values()].flat()) {
    for await (const { text } of linesFromEnd(path)) {
      if (text.includes('"kind":"head"')) return [{ event: 'unremembered', chains: [...streams.keys()] }];
    }
  }
  return [];
}

/** Marks unchanged chains as no longer closed, so that this start may be interrupted at any time. */
function ordersToForget(recalled: ReadonlyMap<string, RememberedChain>, findings: readonly OpeningFinding[]): readonly MemoryChange[] {
  const wrong = new Set(findings.map((finding) => ('ofChain' in finding && finding.event !== 'copied' ? finding.ofChain : '')));
  return [...recalled]
    .filter(([chain, { closed }]) => closed !== undefined && !wrong.has(chain))
    .map(([chain]) => ({ chain, part: 'closed' }));
}

/** Records the findings, sets foreign files aside, signs all heads and remembers them; in this order. */
async function writeOpening(
  options: OpeningOptions,
  streams: Streams,
  recalled: ReadonlyMap<string, RememberedChain>,
  findings: readonly OpeningFinding[],
): Promise<void> {
  const { directory, chains, memory, signHead, clock } = options;
  const [own] = chains;
  const strange = new Set(findings.flatMap((finding) => (finding.event === 'set-aside' ? [finding.ofChain] : [])));
  const { head: resumed, file: present, torn: tornOwn } = await resumeChain(directory, own, recalled.get(own));
  const torn = [...tornOwn];
  // A chain that no process continues, because there are fewer workers now, would keep a half-written record of a crash.
  for (const chain of streams.keys()) {
    if (chain === own || strange.has(chain)) continue;
    const other = await resumeChain(directory, chain, recalled.get(chain));
    await other.file?.close();
    torn.push(...other.torn);
  }
  const file = present ?? (await AuditFile.create(streamFilePath(directory, own, resumed.sequence + 1)));
  let head = resumed;
  const append = async (records: readonly object[]): Promise<void> => {
    let text = '';
    for (const record of records) {
      const line = formatLine(own, head, formatFields(record));
      head = line.head;
      text += line.text;
    }
    await file.append(Buffer.from(text));
  };
  try {
    const occurredAt = formatTimestamp(clock.now());
    const notes = [{ event: 'opened', ...(torn.length === 0 ? {} : { torn }) }, ...findings];
    await append([
      ...(options.begins === undefined ? [] : [options.begins]),
      ...notes.map((fields) => ({ kind: 'trail', occurredAt, ...fields })),
    ]);
    for (const { stream, path } of [...streams.values()].flat()) if (strange.has(stream)) await rename(path, `${path}.set-aside`);
    if (strange.size > 0) await syncPath(directory);
    const known = new Set([...recalled.keys(), ...chains, ...(recalled.size === 0 ? streams.keys() : [])]);
    // If this start ended in between, a head signed before anything is remembered would look like one of a lost memory.
    if (recalled.size === 0) await memory.update([...known].map((chain) => ({ chain, part: 'signed', head: emptyChain })));
    const heads = await collectHeads(directory, { chain: own, ...head }, new Map([...known].map((chain) => [chain, emptyChain])));
    await append([await signedRecord(signHead, clock, [...heads, ...memory.recallOthers()])]);
    await memory.update(await whatStands(directory, heads));
  } finally {
    await file.close();
  }
}

async function whatStands(directory: string, heads: readonly HeadEntry[]): Promise<readonly MemoryChange[]> {
  const streams = await listStreams(directory);
  const changes: MemoryChange[] = [];
  for (const { chain, ...signed } of heads) {
    const retired: ChainHead = (await headBefore(streams.get(chain) ?? [])) ?? emptyChain;
    changes.push({ chain, part: 'signed', head: signed }, { chain, part: 'retired', head: retired }, { chain, part: 'closed' });
  }
  return changes;
}
