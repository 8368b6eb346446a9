// Restores a backup into an empty data directory: unpacks and verifies it in a temporary directory, then moves it in, safe against a crash.
import {
  accessSync,
  closeSync,
  constants,
  createReadStream,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { createHash, type Hash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { defined } from '../../core/base/defined.ts';
import { Secret } from '../../core/base/secret.ts';
import { formatTimestamp, systemClock } from '../../core/base/time.ts';
import type { Taker } from './format/archive.ts';
import type { Opening } from './format/age.ts';
import { BackupError } from './format/error.ts';
import type { Contents, Origin } from './format/manifest.ts';
import { readIdentityFile } from './format/recipients.ts';
import { readBackup, type Restored } from './read.ts';
import { standAlone } from '../../core/store/replica.ts';
import { formatMark, type RestorationSource, restoredMark } from './restoration.ts';
import { requireFile, syncDirectory } from '../../core/base/durable-files.ts';
import { StartRefused } from '../start-refused.ts';
import { endFirstStart, findTrace, isTrace } from '../data-directory/traces.ts';

/** Holds PINs in clear. */
const unfinishedName = 'restoring';

/** Finds what opens a backup and proves its origin, once the directory is known to be empty. */
export type RestoreKeys = {
  /** Throws StartRefused or BackupError. */
  opening(): Promise<Opening>;
  /** public keys (PEM) of the audit trail of the appliance that made the backup, kept elsewhere: any other origin is refused */
  trusted(): string | undefined;
};

export type RestoreOptions = RestoreKeys & {
  readonly directory: string;
  readonly file: string;
  /** names of the configured tokens; none: the embedded one */
  readonly tokens: readonly string[];
};

/**
 * Throws StartRefused, with the data directory unchanged, when the backup does not open or fit, or the directory is in use. Returns the
 * restored content, and its origin as far as it is known.
 */
export async function restoreAppliance(options: RestoreOptions): Promise<Restored> {
  const { directory, file, tokens } = options;
  const present = findTrace(directory);
  if (present !== undefined) {
    throw new StartRefused(
      `--restore needs an empty data directory, and ${present} exists: nothing was restored. Name an empty directory; to start the appliance that is there, leave --restore out`,
    );
  }
  requireBackupFile(file);
  const unfinished = join(directory, unfinishedName);
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  let restored: Restored;
  try {
    const opening = await options.opening();
    const trusted = options.trusted();
    const folders = new Set<string>([unfinished]);
    const taker: Taker<Contents> = {
      begin: (contents) => requireFitting(contents, tokens),
      file: (path) => openFile(join(unfinished, path), folders),
    };
    const digest = createHash('sha256');
    restored = await readBackup(digested(createReadStream(file, { highWaterMark: 1 << 20 }), digest), opening, trusted, taker);
    // The backup of one member of a cluster is a whole appliance, which others can join.
    if (existsSync(join(unfinished, 'store'))) await standAlone(join(unfinished, 'store'));
    // A backup has no audit trail: its absence after a restore does not indicate an attack.
    const mark = openFile(restoredMark(unfinished), folders);
    mark.write(Buffer.from(formatMark(sourceOf(restored, digest.digest('hex')))));
    mark.close();
    for (const folder of folders) syncDirectory(folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (error instanceof StartRefused) throw error;
    const reason = error instanceof BackupError ? error.message : String((error as NodeJS.ErrnoException).code ?? error);
    throw new StartRefused(`--restore ${file}: ${reason}`);
  }
  // A first start that was interrupted before it had made anything no longer founds anything.
  endFirstStart(directory);
  renameSync(unfinished, join(directory, 'restored'));
  syncDirectory(directory);
  finishRestore(directory);
  return restored;
}

/** Exactly one of the first two opens the backup. */
export type RestoreFiles = {
  readonly passphraseFile: string | undefined;
  readonly identityFile: string | undefined;
  readonly auditKeysFile: string | undefined;
};

export function keysOfFiles({ passphraseFile, identityFile, auditKeysFile }: RestoreFiles): RestoreKeys {
  return {
    async opening() {
      if ((passphraseFile === undefined) === (identityFile === undefined))
        throw new StartRefused(
          '--restore needs --restore-passphrase-file FILE or --restore-identity-file FILE: what the backup was made for',
        );
      if (identityFile !== undefined) return { identities: await readIdentityFile(identityFile) };
      return { passphrase: new Secret(readPassphrase(passphraseFile ?? '')) };
    },
    trusted: () => (auditKeysFile === undefined ? undefined : readFileSync(auditKeysFile, 'utf8')),
  };
}

function readPassphrase(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartRefused(
      `--restore-passphrase-file ${file} cannot be read (${code}): name a file with the passphrase that this user may read`,
    );
  }
}

/** Refuses everything but regular files: reading a FIFO would never end. Throws StartRefused. */
export function requireBackupFile(file: string): void {
  try {
    requireFile(file);
    accessSync(file, constants.R_OK);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const wrong = {
      ENOTFILE: 'it is not a file: name the file of a backup',
      EACCES: 'this user may not read it',
      ENOENT: 'there is no such file',
    }[code];
    throw new StartRefused(`--restore ${file}: ${wrong ?? code}`);
  }
}

async function* digested(file: AsyncIterable<Uint8Array>, digest: Hash): AsyncGenerator<Uint8Array> {
  for await (const part of file) {
    digest.update(part);
    yield part;
  }
}

/** For the record with which the new audit trail begins. */
function sourceOf({ origin, madeAt, madeBy, version, digest: manifest }: Restored, digest: string): RestorationSource {
  return {
    ...{ at: formatTimestamp(systemClock.now()), from: 'backup', digest, origin: origin.state },
    ...defined({ madeAt, madeBy, version, manifest }),
    ...('keyId' in origin ? { keyId: origin.keyId } : {}),
  };
}

/** Sentence for people about the origin of a restored backup. */
export function describeOrigin(origin: Origin): string {
  return origins[origin.state]('keyId' in origin ? origin.keyId : '');
}

const origins: { readonly [State in Origin['state']]: (keyId: string) => string } = {
  proven: (keyId) => `its signature verifies under the audit key ${keyId}, which was given`,
  unproven: (keyId) =>
    `its signature verifies under the audit key ${keyId}, which only the backup itself names: --restore-audit-keys FILE proves who made it`,
  unsigned: () => 'it has no signature: nothing proves who made it',
};

/**
 * Moves in a verified restore, also after a crash during that step. Of one interrupted earlier, everything is removed but the place, which
 * is its mark (data-directory/traces.ts). Returns whether there was a verified restore. Throws StartRefused if its parts are already in
 * their places.
 */
export function finishRestore(directory: string): boolean {
  const unfinished = join(directory, unfinishedName);
  for (const name of [unfinishedName, 'restored']) requireNoLink(join(directory, name));
  if (existsSync(unfinished)) for (const name of readdirSync(unfinished)) rmSync(join(unfinished, name), { recursive: true, force: true });
  const restored = join(directory, 'restored');
  if (!existsSync(restored)) return false;
  if (![restored, directory].some((place) => existsSync(restoredMark(place))))
    throw new StartRefused(`${restored} is not what a restore leaves: move it away`);
  const names = readdirSync(restored);
  const taken = names.map((name) => join(directory, name)).filter((path) => isTrace(path));
  if (taken.length > 0)
    throw new StartRefused(
      `${restored} is of a restore that was cut off, and ${taken.join(', ')} in the place of what it brings: move away ${restored}, to keep what is there, or what is there, to finish the restore`,
    );
  for (const name of names) renameSync(join(restored, name), join(directory, name));
  syncDirectory(directory);
  rmdirSync(restored);
  rmSync(unfinished, { recursive: true, force: true });
  syncDirectory(directory);
  return true;
}

/** Refuses a symbolic link: its target would be emptied. */
function requireNoLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw new StartRefused(`${path} is a link, and not the directory of a restore: move it away`);
}

/** The keys of a backup are wrapped under a key of its token, and useless without it. */
export function requireFitting({ embedded, tokens: needed }: Contents, configured: readonly string[]): void {
  if (embedded) {
    if (configured.length > 0)
      throw new StartRefused('--restore: the backup brings its own token; take hsm.tokens out of the configuration');
    return;
  }
  for (const { name, label, serial } of needed) {
    if (!configured.includes(name)) {
      throw new StartRefused(
        `--restore: the backup needs the token ${name} (label ${label}, serial ${serial}) with its wrapping key: name it under hsm.tokens`,
      );
    }
  }
}

function openFile(path: string, folders: Set<string>) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  folders.add(dirname(path)).add(dirname(dirname(path)));
  const descriptor = openSync(path, 'wx', 0o600);
  return {
    write: (part: Uint8Array): void => {
      for (let done = 0; done < part.length;) done += writeSync(descriptor, part, done);
    },
    close: (): void => {
      fsyncSync(descriptor);
      closeSync(descriptor);
    },
  };
}
