// Verifies a copy of the audit trail offline: finds every modified, removed, reordered or cut-off record, with its place.
import type { KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import type { CheckFinding } from '../base/context.ts';
import { ranged } from '../base/texts/counted.ts';
import { acknowledgedIn, applianceOf, type LostTrail } from './chains.ts';
import { retirementOf } from './examine.ts';
import { isHead, verifyHead } from './heads.ts';
import { type ChainHead, emptyChain, type HeadEntry, parseLine, type TrailRecord } from './line.ts';
import { listStreams, type StreamFile } from '../log/stream-files.ts';

export type Verification = {
  readonly records: number;
  readonly chains: readonly {
    readonly chain: string;
    readonly first: number;
    readonly last: number;
    /** newest record covered by a valid signature; the removal of records after it would not be detected */
    readonly signedThrough: number;
  }[];
  readonly signedHeads: number;
  /** time of the newest valid signature */
  readonly lastSigned: string | undefined;
  /** records of the trail about itself: starts, stops, torn ends after a crash, outages, removed files */
  readonly notes: readonly { readonly where: string; readonly note: TrailRecord }[];
  /** trails that a person has acknowledged as lost in a record covered by a valid signature; they are not expected here */
  readonly lost: readonly (LostTrail & { readonly acknowledgedAt: string })[];
  /** empty without a fault */
  readonly findings: readonly CheckFinding[];
};

/**
 * Verifies every file of the directories, one for each appliance of a cluster. `publicKeys` may have signed heads, by key id; `kept` are heads that
 * were kept elsewhere and are trusted. Without either, the chains are verified by themselves, which shows neither their writer nor whether
 * records are missing at their ends.
 */
export async function verifyTrails(
  directories: readonly string[],
  publicKeys: ReadonlyMap<string, KeyObject>,
  kept: readonly HeadEntry[],
): Promise<Verification> {
  const findings: CheckFinding[] = [];
  const streams = new Map<string, readonly StreamFile[]>();
  for (const directory of directories) {
    findings.push(...(await findStrangeNames(directory)));
    for (const [chain, files] of await listStreams(directory)) {
      if (streams.has(chain)) findings.push({ where: `chain ${chain}`, problem: `is in ${directory} too: one appliance writes a chain` });
      else streams.set(chain, files);
    }
  }
  const promises = new Promises();
  for (const head of kept) promises.add(head, 'heads that were kept');
  const signed = await readSignedHeads(streams, publicKeys, promises);
  findings.push(...promises.conflicts, ...signed.findings);
  const isProven = publicKeys.size > 0 || kept.length > 0;
  if (isProven && signed.count === 0)
    findings.push({ where: 'the trail', problem: 'it has no head with a valid signature; every start signs one' });
  const notes: { where: string; note: TrailRecord }[] = [];
  const chains = [];
  const lost: Verification['lost'][number][] = [];
  let records = 0;
  for (const [chain, files] of streams) {
    const promised = promises.of(chain);
    if (isProven && promised === undefined) findings.push({ where: `chain ${chain}`, problem: 'no signed head names this chain' });
    const walk = new ChainWalk(chain, promised ?? new Map(), isProven, findings, notes);
    for (const file of files) await walk.readFile(file, file === files.at(-1));
    chains.push(walk.finish());
    lost.push(...walk.acknowledged());
    records += walk.records;
  }
  const expected = promises.chains().filter((chain) => !lost.some((one) => one.chains.includes(chain)));
  findings.push(...findMissing(expected, new Set(streams.keys())));
  return { records, chains, signedHeads: signed.count, lastSigned: signed.last, notes, lost, findings };
}

/**
 * Verifies records of one time that were saved into one file, lines of all chains as they were written. What was before them and after them is not
 * expected; what is between them, and up to the heads that are among them, is.
 */
export async function verifyExcerpt(path: string, publicKeys: ReadonlyMap<string, KeyObject>): Promise<Verification> {
  const findings: CheckFinding[] = [];
  const beginnings = new Map<string, StreamFile>();
  for await (const { octets, where, whole } of linesOf({ path })) {
    const record = parseLine(octets);
    if (record === undefined) findings.push({ where, problem: whole ? lineChanged : lineIncomplete });
    else if (!beginnings.has(record.chain))
      beginnings.set(record.chain, { stream: record.chain, number: record.sequence, attempt: 0, path });
  }
  const promises = new Promises();
  const [any] = beginnings.values();
  const signed = await readSignedHeads(new Map(any === undefined ? [] : [[any.stream, [any]]]), publicKeys, promises);
  findings.push(...promises.conflicts, ...signed.findings);
  if (signed.count === 0)
    findings.push({ where: basename(path), problem: 'no head with a valid signature is in it, which proves none of it' });
  const notes: { where: string; note: TrailRecord }[] = [];
  const chains = [];
  let records = 0;
  for (const [chain, file] of beginnings) {
    const walk = new ChainWalk(chain, promises.of(chain) ?? new Map(), true, findings, notes, 'excerpt');
    await walk.readFile(file, true);
    chains.push(walk.finish());
    records += walk.records;
  }
  return { records, chains, signedHeads: signed.count, lastSigned: signed.last, notes, lost: [], findings };
}

const lineChanged = 'the line was changed: its hash does not fit';
const lineIncomplete = 'the last line is incomplete';

/** Records named by heads, with their hashes. All of them must match. */
class Promises {
  readonly #hashes = new Map<string, Map<number, string>>();
  readonly conflicts: CheckFinding[] = [];

  add({ chain, sequence, hash }: HeadEntry, where: string): void {
    const known = this.#hashes.get(chain) ?? new Map<number, string>();
    this.#hashes.set(chain, known);
    const other = known.get(sequence);
    if (other !== undefined && other !== hash)
      this.conflicts.push({ where, problem: `names another record ${sequence} of chain ${chain} than an earlier head` });
    else known.set(sequence, hash);
  }

  /** Records of a chain; undefined if no head names the chain. An announced chain has record 0. */
  of(chain: string): ReadonlyMap<number, string> | undefined {
    return this.#hashes.get(chain);
  }

  /** Chains with at least one record named by a head. */
  chains(): readonly string[] {
    return [...this.#hashes].filter(([, hashes]) => highest(hashes.keys()) > 0).map(([chain]) => chain);
  }
}

/** Finds files with names similar to those of a trail, which no reader would read. */
async function findStrangeNames(directory: string): Promise<CheckFinding[]> {
  const read = new Set([...(await listStreams(directory)).values()].flat().map(({ path }) => basename(path)));
  const names = (await readdir(directory)).filter((name) => name.endsWith('.jsonl') && !read.has(name));
  return names.map((where) => ({ where, problem: 'is not named like a file of a trail' }));
}

/** Finds chains that heads name and no directory has. An appliance without any of its chains is one finding. */
function* findMissing(named: readonly string[], present: ReadonlySet<string>): Iterable<CheckFinding> {
  const here = new Set(Array.from(present, applianceOf));
  const missing = named.filter((chain) => !present.has(chain));
  for (const [appliance, chains] of Map.groupBy(missing, applianceOf)) {
    if (appliance === undefined || here.has(appliance))
      yield* chains.map((chain) => ({ where: `chain ${chain}`, problem: 'is named by a signed head and has no file' }));
    else yield { where: `appliance ${appliance}`, problem: `signed heads name its chains ${chains.join(', ')}, and its trail is not here` };
  }
}

/** Result of the verification of signatures; the records named by heads are added to the promises. */
type SignedHeads = { readonly count: number; readonly last: string | undefined; readonly findings: readonly CheckFinding[] };

async function readSignedHeads(
  streams: ReadonlyMap<string, readonly StreamFile[]>,
  publicKeys: ReadonlyMap<string, KeyObject>,
  promises: Promises,
): Promise<SignedHeads> {
  const findings: CheckFinding[] = [];
  const unknownKeys = new Set<string>();
  let count = 0;
  let last: string | undefined;
  for (const file of [...streams.values()].flat()) {
    for await (const { octets, where } of linesOf(file)) {
      const record = octets.includes('"kind":"head"') ? parseLine(octets) : undefined;
      if (record?.kind !== 'head') continue;
      const keyId = String(record['key-id']);
      const key = publicKeys.get(keyId);
      if (!isHead(record)) {
        findings.push({ where, problem: 'the head is malformed' });
      } else if (key === undefined) {
        // Reported once: there may be such a head for every minute of the key's life.
        if (!unknownKeys.has(keyId)) findings.push({ where, problem: `heads are signed by key ${keyId}, which is not known` });
        unknownKeys.add(keyId);
      } else if (!verifyHead(record, key)) {
        findings.push({ where, problem: `the signature of the heads does not verify under key ${keyId}` });
      } else {
        count++;
        last = last === undefined || record['occurred-at'] > last ? record['occurred-at'] : last;
        for (const head of record.heads) promises.add(head, where);
      }
    }
  }
  return { count, last, findings };
}

/** Reads one chain through all of its files. */
class ChainWalk {
  readonly #chain: string;
  readonly #signed: ReadonlyMap<number, string>;
  readonly #isProven: boolean;
  readonly #reads: 'whole' | 'excerpt';
  readonly #findings: CheckFinding[];
  readonly #notes: { where: string; note: TrailRecord }[];
  #head: ChainHead = emptyChain;
  #first = 0;
  #firstPrevious = emptyChain.hash;
  #signedThrough = 0;
  /** removed records according to the chain, and the numbers of the records about them */
  #retired: readonly { readonly at: number; readonly through: ChainHead }[] = [];
  #acknowledged: readonly (Verification['lost'][number] & { readonly sequence: number })[] = [];
  #changedLines = 0;
  /** latest revision of the store, and the record that names it */
  #store = { revision: 0, sequence: 0 };
  records = 0;

  constructor(
    chain: string,
    signed: ReadonlyMap<number, string>,
    isProven: boolean,
    findings: CheckFinding[],
    notes: { where: string; note: TrailRecord }[],
    reads: 'whole' | 'excerpt' = 'whole',
  ) {
    this.#chain = chain;
    this.#signed = signed;
    this.#isProven = isProven;
    this.#reads = reads;
    this.#findings = findings;
    this.#notes = notes;
  }

  async readFile(file: StreamFile, isNewest: boolean): Promise<void> {
    let isFirst = true;
    for await (const { octets, where, whole } of linesOf(file)) {
      const record = parseLine(octets);
      // An excerpt has the lines of all chains in one file; those that were changed have been reported.
      if (this.#reads === 'excerpt' && record?.chain !== this.#chain) continue;
      if (record !== undefined) {
        if (isFirst && record.sequence !== file.number)
          this.#report(where, `the file begins with record ${record.sequence}, not as its name says`);
        this.#follow(record, where);
        this.#changedLines = 0;
      } else if (whole) {
        this.#report(where, lineChanged);
        this.#changedLines++;
      } else if (!isNewest) {
        // At the end of the newest file this is an unacknowledged record: its process was killed, or is writing it now.
        this.#report(where, lineIncomplete);
      }
      isFirst = false;
    }
  }

  finish(): { chain: string; first: number; last: number; signedThrough: number } {
    const beginning = this.#first - 1;
    if (this.#reads === 'whole' && beginning > 0 && !this.#isRetired(beginning))
      this.#report(
        `chain ${this.#chain}`,
        `${missingRecords(1, beginning)}, and no ${this.#isProven ? 'signed' : 'later'} record says that they were removed`,
      );
    const promised = highest(this.#signed.keys());
    if (promised > this.#head.sequence) {
      this.#report(`chain ${this.#chain}`, `${missingRecords(this.#head.sequence + 1, promised)} at its end: a signed head names them`);
    }
    return { chain: this.#chain, first: this.#first, last: this.#head.sequence, signedThrough: this.#signedThrough };
  }

  /** Losses acknowledged by records of this chain. Anyone who can write the files can write such a record. */
  acknowledged(): Verification['lost'] {
    const counted = this.#acknowledged.filter(({ sequence }) => !this.#isProven || sequence <= this.#signedThrough);
    return counted.map(({ appliance, chains, acknowledgedAt }) => ({ appliance, chains, acknowledgedAt }));
  }

  /** Tells whether a record was retired. Anyone who can write the files can write such a statement: it counts if a signed head covers it. */
  #isRetired(sequence: number): boolean {
    return this.#retired.some(
      ({ at, through }) =>
        (!this.#isProven || at <= this.#signedThrough) && through.sequence === sequence && through.hash === this.#firstPrevious,
    );
  }

  #follow(record: TrailRecord, where: string): void {
    const { sequence, hash, previous } = record;
    if (record.chain !== this.#chain) this.#report(where, `record ${sequence} belongs to chain ${record.chain}`);
    if (this.records === 0) {
      this.#first = sequence;
      this.#firstPrevious = previous;
      if (sequence === 1 && previous !== emptyChain.hash) this.#report(where, 'record 1 names a record before it');
    } else if (sequence <= this.#head.sequence) {
      this.#report(where, `record ${sequence} follows record ${this.#head.sequence}: out of order or written twice`);
    } else if (sequence > this.#head.sequence + 1) {
      const missing = sequence - this.#head.sequence - 1;
      // As many modified lines have been reported already.
      if (missing !== this.#changedLines) this.#report(where, missingRecords(this.#head.sequence + 1, sequence - 1));
    } else if (previous !== this.#head.hash) {
      this.#report(where, `record ${sequence} does not follow this record ${this.#head.sequence}: one of them was replaced`);
    }
    const promised = this.#signed.get(sequence);
    if (promised !== undefined && promised !== hash) this.#report(where, `record ${sequence} is not the one a signed head names`);
    if (promised === hash) this.#signedThrough = sequence;
    this.#followStore(record, where);
    if (record.kind === 'trail') {
      this.#notes.push({ where, note: record });
      const describe = alarms.get(String(record['event']));
      if (describe !== undefined) this.#report(where, describe(record));
      const through = retirementOf(record);
      if (through !== undefined) this.#retired = [...this.#retired, { at: sequence, through }];
    }
    const loss = acknowledgedIn(record);
    if (loss !== undefined) this.#acknowledged = [...this.#acknowledged, { ...loss, acknowledgedAt: record['occurred-at'], sequence }];
    this.#head = { sequence, hash };
    this.records++;
  }

  /** Checks that revisions only rise. A start that found an earlier store, or a restored one, has recorded that. */
  #followStore(record: TrailRecord, where: string): void {
    const { sequence } = record;
    if (record.kind === 'trail' && ['store-behind', 'restored'].includes(String(record['event']))) this.#store = { revision: 0, sequence };
    const revision = Number(record['store-revision'] ?? 0);
    if (revision === 0) return;
    if (revision < this.#store.revision)
      this.#report(
        where,
        `record ${sequence} names revision ${revision} of the store, and record ${this.#store.sequence} before it ${this.#store.revision}: the store had been replaced by an earlier one`,
      );
    this.#store = { revision, sequence };
  }

  #report(where: string, problem: string): void {
    this.#findings.push({ where, problem });
  }
}

/** Discrepancies that the appliance recorded, by event. They are reported even if everything was signed again later. */
const alarms = new Map<string, (record: TrailRecord) => string>([
  ['cut-off', (record) => `${rangeOf(record)} had been cut off or replaced when the appliance started`],
  ['added', (record) => `${rangeOf(record)} had been added when the appliance started: its last stop wrote none of them`],
  [
    'changed',
    (record) =>
      record['after-sequence'] === record['through-sequence']
        ? `the file of chain ${String(record['of-chain'])} was replaced, or written to after record ${String(record['through-sequence'])}, while the appliance ran`
        : `${rangeOf(record)} ${isOne(record) ? 'was' : 'were'} cut off or replaced while the appliance ran`,
  ],
  [
    'set-aside',
    (record) => `files of chain ${String(record['of-chain'])} were set aside when the appliance started: it never began this chain`,
  ],
  [
    'copied',
    (record) => `copies of files of chain ${String(record['of-chain'])} lay beside them and were set aside when the appliance started`,
  ],
  [
    'store-behind',
    ({ 'found-revision': found, 'recorded-revision': recorded }) =>
      `the store had revision ${String(found)} when the appliance started, and revision ${String(recorded)} is on record: acknowledged changes are missing in it`,
  ],
  ['unremembered', () => 'the appliance found this trail when it started and remembered none of its heads'],
]);

function rangeOf({ 'of-chain': chain, 'after-sequence': after, 'through-sequence': through }: TrailRecord): string {
  return `${ranged(Number(after) + 1, Number(through), 'record')} of chain ${String(chain)}`;
}

function isOne({ 'after-sequence': after, 'through-sequence': through }: TrailRecord): boolean {
  return Number(after) + 1 === Number(through);
}

function missingRecords(first: number, last: number): string {
  return `${ranged(first, last, 'record')} ${first === last ? 'is' : 'are'} missing`;
}

/** The highest value. Not by Math.max: with one head a minute there can be more values than a call accepts as arguments. */
function highest(sequences: Iterable<number>): number {
  let most = 0;
  for (const sequence of sequences) if (sequence > most) most = sequence;
  return most;
}

type Line = { readonly octets: Buffer; readonly where: string; readonly whole: boolean };

/** Lines of a file, also of one that is being written. */
export async function* linesOf({ path }: Pick<StreamFile, 'path'>): AsyncIterable<Line> {
  const name = basename(path);
  let number = 1;
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    const octets = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = octets.indexOf(10); end >= 0; end = octets.indexOf(10, start)) {
      yield { octets: octets.subarray(start, end), where: `${name}:${number++}`, whole: true };
      start = end + 1;
    }
    rest = octets.subarray(start);
  }
  if (rest.length > 0) yield { octets: rest, where: `${name}:${number}`, whole: false };
}
