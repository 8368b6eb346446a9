// Reads a backup of any format: an age file around an archive, or the container of format 1.
import { magicOfFormat1, openFormat1 } from './format-1/container.ts';
import { readContent1 } from './format-1/content.ts';
import { magicOfAge, openAge, type Opening } from './format/age.ts';
import { readArchive, type Taker } from './format/archive.ts';
import { BackupError } from './format/error.ts';
import { type Contents, judgeOrigin, manifestDigest, type Origin } from './format/manifest.ts';
import { OctetReader } from './format/source.ts';

/** Result of reading a backup. All but the origin is unknown for format 1; `digest`: SHA-256 of the manifest. */
export type Restored = {
  readonly origin: Origin;
  readonly madeAt?: string;
  /** first host name of the appliance that made it, and the version of its program */
  readonly madeBy?: string;
  readonly version?: string;
  readonly records?: number;
  readonly digest?: string;
};

/**
 * Opens a backup and gives its files to the taker. `trusted`: public keys (PEM) that must have signed it. Throws BackupError; files that
 * were taken before are worth nothing then.
 */
export async function readBackup(
  file: AsyncIterable<Uint8Array>,
  opening: Opening,
  trusted: string | undefined,
  taker: Taker<Contents>,
): Promise<Restored> {
  const reader = new OctetReader(file);
  const start = await reader.take(magicOfAge.length).catch(unlessShort);
  const begin = start.toString('latin1');
  const whole = joined(start, reader);
  if (begin === magicOfAge) return readAge(openAge(opening, whole), trusted, taker);
  if (begin.startsWith(magicOfFormat1)) {
    if (!('passphrase' in opening)) throw new BackupError('the backup was made under a passphrase: give that');
    if (trusted !== undefined)
      throw new BackupError('a backup of format 1 is not signed, so who made it cannot be told: nothing was restored');
    await readContent1(openFormat1(opening.passphrase, whole), taker);
    return { origin: { state: 'unsigned' } };
  }
  if (begin.startsWith('-----BEGIN AGE'))
    throw new BackupError('the backup is armored: the file itself is needed, as the appliance wrote it');
  throw new BackupError('this is not a keystored backup');
}

async function readAge(plain: AsyncIterable<Uint8Array>, trusted: string | undefined, taker: Taker<Contents>): Promise<Restored> {
  let restored: Restored | undefined;
  await readArchive(plain, {
    begin({ manifest, claim }) {
      const origin = judgeOrigin(claim, trusted);
      taker.begin(manifest);
      restored = {
        ...{ origin, madeAt: manifest['made-at'], madeBy: manifest.appliance, version: manifest.version },
        ...{ records: manifest.records, digest: manifestDigest(claim.manifest) },
      };
    },
    file: (path) => taker.file(path),
  });
  if (restored === undefined) throw new BackupError('the backup does not begin with its manifest');
  return restored;
}

/** A file that is shorter than any backup. */
function unlessShort(error: unknown): Buffer {
  if (error instanceof BackupError) return Buffer.alloc(0);
  throw error;
}

async function* joined(start: Uint8Array, reader: OctetReader): AsyncGenerator<Uint8Array> {
  yield start;
  yield* reader.rest();
}
