// Takes a backup: the store of one moment, its key, and the embedded token with its PINs, as one encrypted stream.
import { randomUUID } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../core/base/context.ts';
import { fail } from '../../core/base/errors.ts';
import type { Secret } from '../../core/base/secret.ts';
import type { OpenStore } from '../../core/store/open.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import type { Hsm } from '../../hsm/api.ts';
import { sealBackup } from './cipher.ts';
import type { Manifest } from './content.ts';
import { formatEnd, formatEntry, isBackupPath, manifestPath } from './content.ts';
import { requireStableRead } from './stable-read.ts';
import { storeKeyFile } from '../state/store-key.ts';

export type BackupParts = {
  readonly directory: string;
  readonly store: OpenStore;
  readonly hsm: Hsm;
  readonly clock: Clock;
  /** whether the token is in the data directory and part of the backup */
  readonly embedded: boolean;
};

const scratchPrefix = 'backup-';

/**
 * Copies the content, then returns the stream. Token files are read before and after the records that need keys of the token: each needed
 * key is in the backup even if it was made or removed at that time, wrapping keys of a rotation included. Throws `storage-unavailable`.
 */
export async function backUp(parts: BackupParts, passphrase: Secret<string>): Promise<AsyncIterable<Uint8Array>> {
  const { directory, store } = parts;
  const scratch = join(directory, `${scratchPrefix}${randomUUID()}`);
  const files = new Map<string, Uint8Array>();
  try {
    if (parts.embedded) readTokenFiles(directory, files);
    await copyStore(store, scratch);
    files.set('store-key.json', readFileSync(storeKeyFile(directory)));
    if (parts.embedded) readTokenFiles(directory, files);
  } catch (error) {
    // A partial copy would use disk space that the appliance needs.
    rmSync(scratch, { recursive: true, force: true });
    throw error;
  }
  return untilEnded(sealBackup(passphrase, contentOf(manifestOf(parts), files, scratch)), scratch);
}

/** A generator that is ended before it has begun runs no `finally`: a client that disconnects before the first piece would leave the copy. */
function untilEnded(pieces: AsyncGenerator<Uint8Array>, scratch: string): AsyncIterable<Uint8Array> {
  const end = async (): Promise<IteratorResult<Uint8Array>> => {
    const ended = await pieces.return(undefined);
    rmSync(scratch, { recursive: true, force: true });
    return ended;
  };
  return { [Symbol.asyncIterator]: () => ({ next: () => pieces.next(), return: end }) };
}

async function copyStore(store: OpenStore, scratch: string): Promise<void> {
  try {
    await store.backup(scratch);
  } catch (cause) {
    throw fail('storage-unavailable', { cause });
  }
}

/** Removes copies that an interrupted backup left. */
export function sweepBackups(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (name.startsWith(scratchPrefix)) rmSync(join(directory, name), { recursive: true, force: true });
  }
}

async function* contentOf(manifest: Manifest, files: ReadonlyMap<string, Uint8Array>, scratch: string): AsyncGenerator<Uint8Array> {
  try {
    yield* formatEntry(manifestPath, Buffer.from(JSON.stringify(manifest)));
    for (const [path, content] of files) yield* formatEntry(path, content);
    const data = join(scratch, 'data.mdb');
    yield* formatEntry('store/data.mdb', createReadStream(data), statSync(data).size);
    yield formatEnd(files.size + 2);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function manifestOf({ hsm, clock, embedded }: BackupParts): Manifest {
  return {
    format: 1,
    madeAt: formatTimestamp(clock.now()),
    embedded,
    tokens: hsm.status().map(({ name, label, serial }) => ({ name, label, serial })),
  };
}

/** Reads the PINs before and after: a token that was read while its PIN changed might not open with either alone. */
function readTokenFiles(directory: string, into: Map<string, Uint8Array>): void {
  for (;;) {
    const before = readPins(directory);
    readToken(directory, into);
    for (const [name, content] of before) into.set(name, content);
    if (isDeepStrictEqual(before, readPins(directory))) return;
  }
}

/** The existing PIN files; `.new` exists during a change, or after an interrupted one. */
function readPins(directory: string): Map<string, Uint8Array> {
  const pins = new Map<string, Uint8Array>();
  for (const name of ['pin', 'pin.new', 'so-pin', 'so-pin.new']) {
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
