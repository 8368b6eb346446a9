// Signed heads: one signature over where every chain of the audit trail stands, so that cutting records off is found.
import { type KeyObject, verify } from 'node:crypto';
import { encodeBase64, encodeUtf8 } from './bytes.ts';
import { type ChainHead, parseLine, type TrailRecord } from './audit-line.ts';
import { readHead } from './audit-resume.ts';
import type { Clock } from './context.ts';
import { syncPath } from './durable.ts';
import { listStreams, type StreamFile } from './stream-files.ts';
import { linesFromEnd } from './stream-lines.ts';
import { formatTimestamp } from './time.ts';

/**
 * Signs octets with the key of the audit trail: ECDSA as r‖s, ML-DSA and Ed25519 over the octets themselves. It is also told what
 * the octets say, to remember it outside the trail.
 */
export type SignHead = (
  octets: Uint8Array,
  heads: readonly HeadEntry[],
) => Promise<{ readonly keyId: string; readonly signature: Uint8Array }>;

/** Where one chain stood. */
export type HeadEntry = ChainHead & { readonly chain: string };

/** A record of kind `head`, as it stands in the trail. */
export type HeadRecord = TrailRecord & {
  readonly kind: 'head';
  readonly heads: readonly HeadEntry[];
  readonly 'key-id': string;
  /** base64 */
  readonly signature: string;
};

/**
 * What is signed, as UTF-8, sorted by chain:
 * `keystored audit heads 1` LF time LF, then for each chain: chain SP sequence SP hash LF
 */
function headOctets(occurredAt: string, heads: readonly HeadEntry[]): Uint8Array {
  const lines = heads.toSorted((a, b) => (a.chain < b.chain ? -1 : 1)).map(({ chain, sequence, hash }) => `${chain} ${sequence} ${hash}\n`);
  return encodeUtf8(`keystored audit heads 1\n${occurredAt}\n${lines.join('')}`);
}

/** Records of a chain that were signed and are no longer there, or are others. */
export type CutOff = { readonly ofChain: string; readonly afterSequence: number; readonly throughSequence: number };

/**
 * Looks for the records that were signed last. The signature alone does not show that a trail was cut back to an earlier one; what
 * was signed, remembered elsewhere, does.
 */
export async function findCutOffs(directory: string, signed: readonly HeadEntry[]): Promise<readonly CutOff[]> {
  const found: CutOff[] = [];
  const streams = await listStreams(directory);
  for (const { chain, sequence, hash } of signed) {
    const files = streams.get(chain) ?? [];
    if ((await hashAt(files, sequence)) === hash) continue;
    const last = await lastHead(files);
    found.push({ ofChain: chain, afterSequence: Math.min(last?.sequence ?? 0, sequence - 1), throughSequence: sequence });
  }
  return found;
}

/** Hash of the record of that number. It was among the newest not long ago: looked for from the end. */
async function hashAt(files: readonly StreamFile[], sequence: number): Promise<string | undefined> {
  for (const file of files.toReversed().filter(({ number }) => number <= sequence)) {
    for await (const { text } of linesFromEnd(file.path)) {
      const record = text.includes(`"sequence":${sequence},`) ? parseLine(Buffer.from(text)) : undefined;
      if (record?.sequence === sequence) return record.hash;
    }
  }
  return undefined;
}

async function lastHead(files: readonly StreamFile[]): Promise<ChainHead | undefined> {
  for (const file of files.toReversed()) {
    const head = await readHead(file);
    if (head !== undefined) return head;
  }
  return undefined;
}

/** Where every chain in a directory stands now, `own` first, which is known better than from the disk. */
async function collectHeads(directory: string, own: HeadEntry): Promise<readonly HeadEntry[]> {
  const heads = [own];
  for (const [chain, files] of await listStreams(directory)) {
    const head = chain === own.chain ? undefined : await lastHead(files);
    if (head === undefined) continue;
    // Its own process may not have synced it yet: what is signed must not be lost with the power.
    await syncPath(files.at(-1)?.path ?? directory);
    heads.push({ chain, ...head });
  }
  return heads;
}

/** Signs the heads of all chains for one of them, when something has moved since the last time. */
export class HeadSigner {
  readonly #signHead: SignHead;
  readonly #directory: string;
  readonly #clock: Clock;
  #signed = '';

  constructor(signHead: SignHead, directory: string, clock: Clock) {
    this.#signHead = signHead;
    this.#directory = directory;
    this.#clock = clock;
  }

  async sign(own: HeadEntry, append: (record: object) => Promise<void>): Promise<void> {
    const [, ...others] = await collectHeads(this.#directory, own);
    if (this.#signed === JSON.stringify([own.sequence, others])) return;
    const heads = [own, ...others];
    const occurredAt = formatTimestamp(this.#clock.now());
    const { keyId, signature } = await this.#signHead(headOctets(occurredAt, heads), heads);
    await append({ kind: 'head', occurredAt, heads, keyId, signature: encodeBase64(signature) });
    // The head record itself is no reason to sign again.
    this.#signed = JSON.stringify([own.sequence + 1, others]);
  }
}

/** Whether the signature of a head record is good under a key. */
export function verifyHead(record: HeadRecord, key: KeyObject): boolean {
  const octets = headOctets(record['occurred-at'], record.heads);
  const hash = key.asymmetricKeyType === 'ec' || key.asymmetricKeyType === 'rsa' ? 'sha256' : null;
  return verify(hash, octets, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(record.signature, 'base64'));
}
