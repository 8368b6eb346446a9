// Copies the content of a backup, at one moment, into a scratch directory: the store, its key, what custodians of the PIN need, and the embedded token with
// its PINs.
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { SignHead } from '../../core/audit/heads.ts';
import type { Clock, Log } from '../../core/base/context.ts';
import { fail, reasonOf } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import type { OpenStore } from '../../core/store/open.ts';
import type { Hsm } from '../../hsm/api.ts';
import { storeKeyFile } from '../data-directory/store-key.ts';
import { type Archive, type ArchiveFile, isBackupPath } from './format/archive.ts';
import { formatManifest, formatSignature, type Manifest } from './format/manifest.ts';
import { requireStableRead } from './stable-read.ts';

export type CopyParts = {
  readonly directory: string;
  readonly store: OpenStore;
  readonly hsm: Hsm;
  readonly clock: Clock;
  readonly log: Log;
  /** true if the token is in the data directory and part of the backup */
  readonly embedded: boolean;
  /** first host name of the appliance */
  readonly appliance: string;
  /** of keystored */
  readonly version: string;
  /** Signs with the key of the audit trail. */
  readonly sign: SignHead;
  /** public keys of the audit trail, PEM */
  auditKeys(): string;
};

/** A finished copy. `release` removes the scratch directory. Idempotent. */
export type Copy = Archive & { release(): void };

const scratchPrefix = 'backup-';

/**
 * Token files are read before and after the records that need keys of the token: each needed key is in the backup even if it was made or
 * removed at that time, wrapping keys of a rotation included. Throws `storage-unavailable`.
 */
export async function takeCopy(parts: CopyParts): Promise<Copy> {
  const { directory, store } = parts;
  const scratch = join(directory, `${scratchPrefix}${randomUUID()}`);
  const release = (): void => rmSync(scratch, { recursive: true, force: true });
  const small = new Map<string, Uint8Array>();
  try {
    readTokenFiles(parts, small);
    const { records } = await copyStore(store, scratch);
    small.set('store-key.json', readFileSync(storeKeyFile(directory)));
    readTokenFiles(parts, small);
    const data = join(scratch, 'data.mdb');
    const files: ArchiveFile[] = [
      ...Array.from(small, ([path, content]) => ({ path, bytes: content.length, content })),
      { path: 'store/data.mdb', bytes: statSync(data).size, content: { file: data } },
    ];
    const manifest = await describe(parts, records, files);
    return { manifest, signature: await sign(parts, manifest), keys: parts.auditKeys(), files, release };
  } catch (error) {
    // A partial copy would use disk space that the appliance needs.
    release();
    throw error;
  }
}

/** Removes copies that an interrupted backup left. */
export function sweepCopies(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (name.startsWith(scratchPrefix)) rmSync(join(directory, name), { recursive: true, force: true });
  }
}

async function copyStore(store: OpenStore, scratch: string): Promise<{ readonly records: number }> {
  try {
    return await store.backup(scratch);
  } catch (cause) {
    throw fail('storage-unavailable', { cause });
  }
}

async function describe({ hsm, clock, ...parts }: CopyParts, records: number, files: readonly ArchiveFile[]): Promise<Manifest> {
  const digested = [];
  for (const { path, bytes, content } of files) digested.push({ path, bytes, sha256: await digest(content) });
  return {
    kind: 'keystored-backup',
    format: 2,
    'made-at': formatTimestamp(clock.now()),
    version: parts.version,
    appliance: parts.appliance,
    embedded: parts.embedded,
    // Of a group one is enough, whichever it is.
    tokens: [
      ...new Map(
        hsm.status().map(({ name, group, label, serial }) => [group?.name ?? name, { name: group?.name ?? name, label, serial }]),
      ).values(),
    ],
    records,
    files: digested,
  };
}

async function digest(content: ArchiveFile['content']): Promise<string> {
  const hash = createHash('sha256');
  if (content instanceof Uint8Array) hash.update(content);
  else for await (const part of createReadStream(content.file, { highWaterMark: 1 << 20 })) hash.update(part as Buffer);
  return hash.digest('hex');
}

/** A backup is worth most while the token fails: then it is not signed, and a restore says so. */
async function sign({ sign: signHead, log }: CopyParts, manifest: Manifest): Promise<Uint8Array | undefined> {
  try {
    return formatSignature((await signHead(formatManifest(manifest))).signature);
  } catch (error) {
    log.warn('a backup is not signed: the key of the audit trail does not answer', { reason: reasonOf(error) });
    return undefined;
  }
}

/** Reads the PINs before and after: a token that was read while its PIN changed might not open with either alone. */
function readTokenFiles({ directory, embedded }: CopyParts, into: Map<string, Uint8Array>): void {
  for (;;) {
    const before = readPins(directory, embedded);
    if (embedded) readToken(directory, into);
    for (const [name, content] of before) into.set(name, content);
    if (isDeepStrictEqual(before, readPins(directory, embedded))) return;
  }
}

/** The existing PIN files, and ceremonies of custodians; `.new` and `.next` exist during a change, or after an interrupted one. */
function readPins(directory: string, embedded: boolean): Map<string, Uint8Array> {
  const pins = new Map<string, Uint8Array>();
  const ofToken = embedded ? ['pin', 'pin.new', 'so-pin', 'so-pin.new'] : [];
  for (const name of [...ofToken, 'custodians.json', 'custodians.next.json']) {
    const content = requireStableRead(join(directory, name));
    if (content !== undefined) pins.set(name, content);
  }
  return pins;
}

/** The token's files and their copies. Other files, left by a crash or a person, are not SoftHSM's and are skipped. */
function readToken(directory: string, into: Map<string, Uint8Array>): void {
  for (const entry of readdirSync(join(directory, 'softhsm'), { recursive: true, withFileTypes: true })) {
    const path = relative(directory, join(entry.parentPath, entry.name));
    if (!entry.isFile() || !isBackupPath(path)) continue;
    const content = requireStableRead(join(directory, path));
    if (content !== undefined) into.set(path, content);
  }
}
