// Verifies a copy of the audit trail offline: every flipped, dropped, reordered or cut-off record is found, with its place.
import type { KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import type { Finding } from './context.ts';
import { type HeadRecord, verifyHead } from './audit-heads.ts';
import { type ChainHead, emptyChain, parseLine, type TrailRecord } from './audit-line.ts';
import { listStreams, type StreamFile } from './stream-files.ts';

export type Verification = {
  readonly records: number;
  readonly chains: readonly {
    readonly chain: string;
    readonly first: number;
    readonly last: number;
    /** the newest record that a good signature covers; what comes after it could be cut off unnoticed */
    readonly signedThrough: number;
  }[];
  readonly signedHeads: number;
  /** time of the newest good signature */
  readonly lastSigned: string | undefined;
  /** what the trail wrote about itself: starts and stops, torn tails after a crash, times it could not be written, removed files */
  readonly notes: readonly { readonly where: string; readonly note: TrailRecord }[];
  /** empty when nothing is wrong */
  readonly findings: readonly Finding[];
};

/**
 * Reads every file of a directory. `publicKeys` are those that may have signed heads, by key id. Without any signed head
 * the chains are verified in themselves, which does not show records cut off at their ends.
 */
export async function verifyTrail(directory: string, publicKeys: ReadonlyMap<string, KeyObject>): Promise<Verification> {
  const streams = await listStreams(directory);
  const signed = await readSignedHeads(streams, publicKeys);
  const findings: Finding[] = [...signed.findings];
  const notes: { where: string; note: TrailRecord }[] = [];
  const chains = [];
  let records = 0;
  for (const [chain, files] of streams) {
    const walk = new ChainWalk(chain, signed.hashes.get(chain) ?? new Map(), findings, notes);
    for (const file of files) await walk.readFile(file);
    chains.push(walk.finish());
    records += walk.records;
  }
  for (const chain of signed.hashes.keys()) {
    if (!streams.has(chain)) findings.push({ where: `chain ${chain}`, problem: 'is named by a signed head and has no file' });
  }
  return { records, chains, signedHeads: signed.count, lastSigned: signed.last, notes, findings };
}

/** What good signatures say: chain to sequence to hash. */
type SignedHeads = {
  readonly hashes: ReadonlyMap<string, ReadonlyMap<number, string>>;
  readonly count: number;
  readonly last: string | undefined;
  readonly findings: readonly Finding[];
};

async function readSignedHeads(
  streams: ReadonlyMap<string, readonly StreamFile[]>,
  publicKeys: ReadonlyMap<string, KeyObject>,
): Promise<SignedHeads> {
  const hashes = new Map<string, Map<number, string>>();
  const findings: Finding[] = [];
  const unknownKeys = new Set<string>();
  let count = 0;
  let last: string | undefined;
  for (const file of [...streams.values()].flat()) {
    for await (const { octets, where } of linesOf(file)) {
      const record = octets.includes('"kind":"head"') ? parseLine(octets) : undefined;
      if (record === undefined || !isHead(record)) continue;
      const key = publicKeys.get(record['key-id']);
      if (key === undefined) {
        // Said once: such a head stands there for every minute of the key's life.
        if (!unknownKeys.has(record['key-id']))
          findings.push({ where, problem: `heads are signed by key ${record['key-id']}, which is not known` });
        unknownKeys.add(record['key-id']);
        continue;
      }
      if (!verifyHead(record, key)) {
        findings.push({ where, problem: `the signature of the heads does not verify under key ${record['key-id']}` });
        continue;
      }
      count++;
      last = last === undefined || record['occurred-at'] > last ? record['occurred-at'] : last;
      for (const { chain, sequence, hash } of record.heads) {
        const known = hashes.get(chain) ?? new Map<number, string>();
        hashes.set(chain, known.set(sequence, hash));
      }
    }
  }
  return { hashes, count, last, findings };
}

/** Follows one chain through its files. */
class ChainWalk {
  readonly #chain: string;
  readonly #signed: ReadonlyMap<number, string>;
  readonly #findings: Finding[];
  readonly #notes: { where: string; note: TrailRecord }[];
  #head: ChainHead = emptyChain;
  #first = 0;
  #firstPrevious = emptyChain.hash;
  #signedThrough = 0;
  #retired: readonly ChainHead[] = [];
  #changedLines = 0;
  records = 0;

  constructor(chain: string, signed: ReadonlyMap<number, string>, findings: Finding[], notes: { where: string; note: TrailRecord }[]) {
    this.#chain = chain;
    this.#signed = signed;
    this.#findings = findings;
    this.#notes = notes;
  }

  async readFile(file: StreamFile): Promise<void> {
    for await (const { octets, where, whole } of linesOf(file)) {
      const record = parseLine(octets);
      if (record !== undefined) {
        this.#follow(record, where);
        this.#changedLines = 0;
      } else {
        this.#report(where, whole ? 'the line was changed: its hash does not fit' : 'the last line is not whole');
        this.#changedLines++;
      }
    }
  }

  finish(): { chain: string; first: number; last: number; signedThrough: number } {
    const beginning = this.#first - 1;
    if (beginning > 0 && !this.#retired.some(({ sequence, hash }) => sequence === beginning && hash === this.#firstPrevious)) {
      this.#report(`chain ${this.#chain}`, `records 1 to ${beginning} are missing, and no later record says that they were removed`);
    }
    const promised = Math.max(0, ...this.#signed.keys());
    if (promised > this.#head.sequence) {
      this.#report(
        `chain ${this.#chain}`,
        `records ${this.#head.sequence + 1} to ${promised} are missing at its end: a signed head names them`,
      );
    }
    return { chain: this.#chain, first: this.#first, last: this.#head.sequence, signedThrough: this.#signedThrough };
  }

  #follow(record: TrailRecord, where: string): void {
    const { sequence, hash, previous } = record;
    if (record.chain !== this.#chain) this.#report(where, `record ${sequence} belongs to chain ${record.chain}`);
    if (this.records === 0) {
      this.#first = sequence;
      this.#firstPrevious = previous;
      if (sequence === 1 && previous !== emptyChain.hash) this.#report(where, 'record 1 names a record before it');
    } else if (sequence <= this.#head.sequence) {
      this.#report(where, `record ${sequence} stands after record ${this.#head.sequence}: out of order or written twice`);
    } else if (sequence > this.#head.sequence + 1) {
      const missing = sequence - this.#head.sequence - 1;
      // As many lines that were changed stand here already.
      if (missing !== this.#changedLines) this.#report(where, `records ${this.#head.sequence + 1} to ${sequence - 1} are missing`);
    } else if (previous !== this.#head.hash) {
      this.#report(where, `record ${sequence} does not follow this record ${this.#head.sequence}: one of them was replaced`);
    }
    const promised = this.#signed.get(sequence);
    if (promised !== undefined && promised !== hash) this.#report(where, `record ${sequence} is not the one a signed head names`);
    if (promised === hash) this.#signedThrough = sequence;
    if (record.kind === 'trail') {
      this.#notes.push({ where, note: record });
      const { 'last-sequence': last, 'last-hash': lastHash } = record;
      if (record['event'] === 'cut-off') this.#report(where, describeCutOff(record));
      if (record['event'] === 'retired') this.#retired = [...this.#retired, { sequence: Number(last), hash: String(lastHash) }];
    }
    this.#head = { sequence, hash };
    this.records++;
  }

  #report(where: string, problem: string): void {
    this.#findings.push({ where, problem });
  }
}

function describeCutOff({ 'of-chain': chain, 'after-sequence': after, 'through-sequence': through }: TrailRecord): string {
  return `records ${Number(after) + 1} to ${Number(through)} of chain ${String(chain)} had been cut off or replaced when the appliance started`;
}

type Line = { readonly octets: Buffer; readonly where: string; readonly whole: boolean };

async function* linesOf({ path }: StreamFile): AsyncIterable<Line> {
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

function isHead(record: TrailRecord): record is HeadRecord {
  return record.kind === 'head' && Array.isArray(record['heads']) && typeof record['signature'] === 'string';
}
