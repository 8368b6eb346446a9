// Signed heads: one signature over the last record of every chain of the audit trail, so that cut-off records are detected.
import { type KeyObject, verify } from 'node:crypto';
import { encodeBase64, encodeUtf8 } from '../base/bytes.ts';
import { lastHead } from './examine.ts';
import { type ChainHead, emptyChain, type HeadEntry, type TrailRecord } from './line.ts';
import type { TrailMemory } from './chains.ts';
import type { Clock } from '../base/context.ts';
import { syncPath } from '../base/durable-files.ts';
import { listStreams } from '../log/stream-files.ts';
import { formatTimestamp } from '../base/time.ts';

/** Signs octets with the key of the audit trail: ECDSA as r‖s; ML-DSA and Ed25519 over the octets themselves. */
export type SignHead = (octets: Uint8Array) => Promise<{ readonly keyId: string; readonly signature: Uint8Array }>;

/** A record of kind `head` in the trail. */
export type HeadRecord = TrailRecord & {
  readonly kind: 'head';
  readonly heads: readonly HeadEntry[];
  readonly 'key-id': string;
  /** base64 */
  readonly signature: string;
};

/**
 * The signed text in UTF-8, sorted by chain:
 * `keystored audit heads 1` LF time LF, then for each chain: chain SP sequence SP hash LF
 */
function headOctets(occurredAt: string, heads: readonly HeadEntry[]): Uint8Array {
  const lines = heads.toSorted((a, b) => (a.chain < b.chain ? -1 : 1)).map(({ chain, sequence, hash }) => `${chain} ${sequence} ${hash}\n`);
  return encodeUtf8(`keystored audit heads 1\n${occurredAt}\n${lines.join('')}`);
}

/** Collects the last record of every chain that may exist, `own` first, which is more recent than the disk. Never before the chain's `floor`. */
export async function collectHeads(
  directory: string,
  own: HeadEntry,
  floors: ReadonlyMap<string, ChainHead> | undefined,
): Promise<readonly HeadEntry[]> {
  const streams = await listStreams(directory);
  const heads = [own];
  for (const chain of [...(floors ?? streams).keys()].toSorted()) {
    if (chain === own.chain) continue;
    const files = streams.get(chain) ?? [];
    const floor = floors?.get(chain) ?? emptyChain;
    const head = (await lastHead(files)) ?? emptyChain;
    // Its own process may not have synced it yet: a signed record must not be lost by a power failure.
    if (files.length > 0) await syncPath(files.at(-1)?.path ?? directory);
    heads.push({ chain, ...(head.sequence > floor.sequence ? head : floor) });
  }
  return heads;
}

/** Makes the fields of a head record. */
export async function signedRecord(signHead: SignHead, clock: Clock, heads: readonly HeadEntry[]): Promise<object> {
  const occurredAt = formatTimestamp(clock.now());
  const { keyId, signature } = await signHead(headOctets(occurredAt, heads));
  return { kind: 'head', occurredAt, heads, keyId, signature: encodeBase64(signature) };
}

/**
 * Signs the heads of all chains and writes them to one of them, if any of this appliance has changed since the last time. The remembered heads
 * of the chains of other appliances are signed with them.
 */
export class HeadSigner {
  readonly #signHead: SignHead;
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #memory: TrailMemory | undefined;
  #signed = '';

  /** Without a memory, every chain of the directory is signed. */
  constructor(signHead: SignHead, directory: string, clock: Clock, memory: TrailMemory | undefined) {
    this.#signHead = signHead;
    this.#directory = directory;
    this.#clock = clock;
    this.#memory = memory;
  }

  async sign(own: HeadEntry, append: (record: object) => Promise<void>): Promise<void> {
    const recalled = this.#memory?.recall();
    const floors = recalled && new Map([...recalled].map(([chain, { signed = emptyChain }]) => [chain, signed]));
    const heads = await collectHeads(this.#directory, own, floors);
    const [, ...others] = heads;
    const elsewhere = this.#memory?.recallOthers() ?? [];
    // Of these only the names count: otherwise each signature of one appliance would trigger one of every other.
    const names = elsewhere.map(({ chain }) => chain);
    if (this.#signed === JSON.stringify([own.sequence, others, names])) return;
    await append(await signedRecord(this.#signHead, this.#clock, [...heads, ...elsewhere]));
    // The head record itself does not trigger another signature.
    this.#signed = JSON.stringify([own.sequence + 1, others, names]);
    // Only when the record is on the disk: the memory decides which files are removed.
    await this.#memory?.update(heads.map(({ chain, ...head }) => ({ chain, part: 'signed', head })));
  }
}

/**
 * Tells whether a record is a head exactly as this file writes it. The signed text is built from the fields: a field with a line end or a space
 * could produce the text of other heads.
 */
export function isHead(record: TrailRecord): record is HeadRecord {
  const { heads, signature } = record as Partial<HeadRecord>;
  if (record.kind !== 'head' || !Array.isArray(heads) || typeof signature !== 'string') return false;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(record['occurred-at'])) return false;
  return (
    heads.every(({ chain, sequence, hash }: Partial<HeadEntry>) => {
      const isName = typeof chain === 'string' && /^[a-z0-9][a-z0-9-]*$/.test(chain);
      return isName && Number.isSafeInteger(sequence) && Number(sequence) >= 0 && typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash);
    }) && new Set(heads.map(({ chain }: HeadEntry) => chain)).size === heads.length
  );
}

/** Tells whether the signature of a head record verifies under a key. */
export function verifyHead(record: HeadRecord, key: KeyObject): boolean {
  const octets = headOctets(record['occurred-at'], record.heads);
  const hash = key.asymmetricKeyType === 'ec' || key.asymmetricKeyType === 'rsa' ? 'sha256' : null;
  return verify(hash, octets, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(record.signature, 'base64'));
}
