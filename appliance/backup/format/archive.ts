// The archive in a backup: manifest, signature and public keys first, then the files that the manifest names, in its order.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { BackupError } from './error.ts';
import { type Claim, formatManifest, type Manifest, parseManifest } from './manifest.ts';
import { formatTarEnd, formatTarEntry, readTar, tarBytes, type TarEntry } from './tar.ts';

/** A file to be written: its octets, or the path of a file that has them. */
export type ArchiveFile = { readonly path: string; readonly bytes: number; readonly content: Uint8Array | { readonly file: string } };

/** Content to be written: the manifest must name the files in their order. */
export type Archive = {
  readonly manifest: Manifest;
  readonly signature: Uint8Array | undefined;
  /** PEM */
  readonly keys: string;
  readonly files: readonly ArchiveFile[];
};

const names = { manifest: 'manifest.json', signature: 'manifest.sig', keys: 'audit-keys.pem' } as const;

/** More than a token of 100,000 objects needs. */
const limits: Readonly<Record<string, number>> = { [names.manifest]: 32 << 20, [names.signature]: 16 << 10, [names.keys]: 1 << 20 };

/** Only these paths are restored: a backup must not write anywhere else. */
const knownPath =
  /^(?:store\/data\.mdb|store-key\.json|custodians(?:\.next)?\.json|(?:so-)?pin(?:\.new)?|softhsm\/[\w-]+(?:\.token\.copy|\/[\w-]+(?:\.\w+)?))$/;

/** Tells whether backups hold this file, given by its path in the data directory. */
export function isBackupPath(path: string): boolean {
  return knownPath.test(path);
}

/** The length of the archive. */
export function archiveBytes(archive: Archive): number {
  return tarBytes([...headFiles(archive), ...archive.files].map(({ bytes }) => bytes));
}

/** Writes the archive. Throws for a path that readArchive would refuse. */
export async function* formatArchive(archive: Archive): AsyncGenerator<Uint8Array> {
  for (const { path, bytes, content } of headFiles(archive)) yield* formatTarEntry(path, bytes, [content as Uint8Array]);
  for (const { path, bytes, content } of archive.files) {
    if (!isBackupPath(path)) throw new Error(`${path} does not belong in a backup`);
    yield* formatTarEntry(path, bytes, content instanceof Uint8Array ? [content] : createReadStream(content.file));
  }
  yield formatTarEnd();
}

function headFiles({ manifest, signature, keys }: Archive): readonly ArchiveFile[] {
  const heads: readonly (readonly [string, Uint8Array | undefined])[] = [
    [names.manifest, formatManifest(manifest)],
    [names.signature, signature],
    [names.keys, keys === '' ? undefined : Buffer.from(keys)],
  ];
  return heads.flatMap(([path, content]) => (content === undefined ? [] : [{ path, bytes: content.length, content }]));
}

/** Receives the files of a backup. */
export type Taker<Told> = {
  /** Before anything else; throws to refuse the backup. */
  begin(told: Told): void;
  /** A file begins; the result receives its content and its end. */
  file(path: string): { write(part: Uint8Array): void; close(): void };
};

/** Reads an archive. Throws BackupError unless its content matches its manifest exactly. */
export async function readArchive(plain: AsyncIterable<Uint8Array>, taker: Taker<{ manifest: Manifest; claim: Claim }>): Promise<void> {
  const heads = new Map<string, Buffer>();
  let manifest: Manifest | undefined;
  let read = 0;
  const begin = (): Manifest => {
    const octets = heads.get(names.manifest);
    if (octets === undefined) throw new BackupError('the backup does not begin with its manifest');
    const begun = parseManifest(octets);
    const claim: Claim = { manifest: octets, signature: heads.get(names.signature), keys: heads.get(names.keys)?.toString('latin1') ?? '' };
    taker.begin({ manifest: begun, claim });
    return begun;
  };
  for await (const entry of readTar(plain)) {
    if (manifest === undefined && Object.hasOwn(limits, entry.name) && !heads.has(entry.name)) {
      heads.set(entry.name, await readHead(entry));
      continue;
    }
    manifest ??= begin();
    await readFile(entry, manifest.files[read++], taker);
  }
  manifest ??= begin();
  if (read < manifest.files.length) throw new BackupError('files of the backup are missing');
}

async function readHead({ name, bytes, content }: TarEntry): Promise<Buffer> {
  if (bytes > (limits[name] ?? 0)) throw new BackupError('the backup is damaged');
  return Buffer.concat(await Array.fromAsync(content));
}

async function readFile(
  entry: TarEntry,
  expected: Manifest['files'][number] | undefined,
  taker: Pick<Taker<never>, 'file'>,
): Promise<void> {
  if (!isBackupPath(entry.name) || entry.name !== expected?.path) throw new BackupError('the backup has a file that does not belong there');
  if (entry.bytes !== expected.bytes) throw new BackupError(`${entry.name} of the backup has another length than its manifest says`);
  const hash = createHash('sha256');
  const file = taker.file(entry.name);
  try {
    for await (const part of entry.content) {
      hash.update(part);
      file.write(part);
    }
  } finally {
    file.close();
  }
  if (hash.digest('hex') !== expected.sha256) throw new BackupError(`${entry.name} of the backup is not what its manifest says`);
}
