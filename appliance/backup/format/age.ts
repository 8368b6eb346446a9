// The age file format, version 1 (age-encryption.org/v1): a header that gives the file key to recipients, and a payload under it.
//
// Recipients are the business of the age-encryption package. scrypt and the payload are computed by node:crypto: scrypt off the event loop,
// which serves requests meanwhile, and ChaCha20-Poly1305 several times faster than in JavaScript. The package is loaded by the first
// backup: it takes 25 MiB, which a process that makes none does not need.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt } from 'node:crypto';
import type { Identity, Recipient } from 'age-encryption';
import { revealSecret, type Secret } from '../../../core/base/secret.ts';
import { BackupError } from './error.ts';
import { OctetReader, readLines } from './source.ts';
import { openStream, sealedBytes, sealStream, type StreamKey } from './stream.ts';

/** Key to a new backup: a passphrase, or the recipients whose identities open it (`age1…`, `age1pq1…`). Never both. */
export type Sealing = { readonly passphrase: Secret<string> } | { readonly recipients: readonly string[] };

/** Secret that opens a backup. Identities are `AGE-SECRET-KEY-1…` or `AGE-SECRET-KEY-PQ-1…`. */
export type Opening = { readonly passphrase: Secret<string> } | { readonly identities: readonly Secret<string>[] };

export const magicOfAge = 'age-encryption.org/v1';

/** 32 hybrid recipients take 53 KiB. A longer header is from no appliance, and costs time and memory. */
const longestHeaderBytes = 256 << 10;
const nonceBytes = 16;

/** log2 of scrypt's N. A guess costs 128 MiB and about half a second; a file from elsewhere may cost at most 1 GiB. */
const workFactor = 17;
const largestWorkFactor = 20;

/** A begun age file, of which the length is known before its content. */
export type AgeFile = {
  bytesFor(plainBytes: number): number;
  /** The whole file: header, nonce and payload. */
  seal(plain: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
};

/** Makes a file key and its header. */
export async function beginAge(sealing: Sealing): Promise<AgeFile> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  let fileKey = Buffer.alloc(0);
  // Learns the file key, and adds nothing to the header.
  encrypter.addRecipient({
    wrapFileKey(made) {
      fileKey = Buffer.from(made);
      return [];
    },
  });
  if ('passphrase' in sealing) encrypter.addRecipient(passphraseRecipient(sealing.passphrase));
  else for (const recipient of sealing.recipients) encrypter.addRecipient(recipient);
  const empty = await encrypter.encrypt(new Uint8Array());
  const header = Buffer.from(empty.subarray(0, empty.length - nonceBytes - sealedBytes(0)));
  return {
    bytesFor: (plainBytes) => header.length + nonceBytes + sealedBytes(plainBytes),
    async *seal(plain) {
      const nonce = randomBytes(nonceBytes);
      yield Buffer.concat([header, nonce]);
      const stream = streamKey(fileKey, nonce);
      try {
        yield* sealStream(stream, plain);
      } finally {
        stream.key.fill(0);
      }
    },
  };
}

/** Opens an age file. Throws BackupError for a wrong key, and if any part of it was changed or is missing. */
export async function* openAge(opening: Opening, sealed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { head, rest } = await readLines(sealed, longestHeaderBytes, (lines) => lines.at(-1)?.startsWith('---') === true);
  const isForPassphrase = head.includes('\n-> scrypt ');
  if (isForPassphrase !== 'passphrase' in opening) {
    throw new BackupError(
      isForPassphrase
        ? 'the backup was made under a passphrase: give that'
        : 'the backup was made for recipients: give the file of an identity',
    );
  }
  const fileKey = await openHeader(opening, head);
  const payload = new OctetReader(rest);
  const stream = streamKey(fileKey, await payload.take(nonceBytes));
  fileKey.fill(0);
  try {
    yield* openStream({ ...stream, isProven: true }, payload.rest());
  } finally {
    stream.key.fill(0);
  }
}

async function openHeader(opening: Opening, head: Uint8Array): Promise<Uint8Array> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  if ('passphrase' in opening) decrypter.addIdentity(passphraseIdentity(opening.passphrase));
  else for (const identity of opening.identities) decrypter.addIdentity(revealSecret(identity));
  try {
    return await decrypter.decryptHeader(head);
  } catch (error) {
    if (error instanceof BackupError) throw error;
    const isOther = /no identity matched/.test((error as Error).message);
    throw new BackupError(isOther ? 'none of the identities is of a recipient of this backup' : 'the header of the backup is damaged');
  }
}

function streamKey(fileKey: Uint8Array, nonce: Uint8Array): StreamKey {
  return { cipher: 'chacha20-poly1305', key: new Uint8Array(hkdfSync('sha256', fileKey, nonce, 'payload', 32)) };
}

/** `-> scrypt` salt(16, base64) log2(N), with the file key under ChaCha20-Poly1305 and a nonce of zeros. The only recipient of its file. */
function passphraseRecipient(passphrase: Secret<string>): Recipient {
  return {
    async wrapFileKey(fileKey) {
      const { Stanza } = await import('age-encryption');
      const salt = randomBytes(16);
      const cipher = createCipheriv('chacha20-poly1305', await deriveKey(passphrase, salt, workFactor), Buffer.alloc(12), tag);
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
      return [new Stanza(['scrypt', unpadded(salt), String(workFactor)], body)];
    },
  };
}

function passphraseIdentity(passphrase: Secret<string>): Identity {
  return {
    async unwrapFileKey(stanzas) {
      const [stanza] = stanzas;
      const [type, salt = '', factor = '', ...more] = stanza?.args ?? [];
      const octets = Buffer.from(salt, 'base64');
      const isWellFormed = stanzas.length === 1 && type === 'scrypt' && more.length === 0 && /^[1-9]\d?$/.test(factor);
      if (stanza?.body.length !== 32 || !isWellFormed || octets.length !== 16 || unpadded(octets) !== salt)
        throw new BackupError('the header of the backup is damaged');
      if (Number(factor) > largestWorkFactor)
        throw new BackupError(`the backup asks for a scrypt work factor of ${factor}; at most ${largestWorkFactor} is computed`);
      const key = await deriveKey(passphrase, octets, Number(factor));
      const decipher = createDecipheriv('chacha20-poly1305', key, Buffer.alloc(12), tag).setAuthTag(stanza.body.subarray(16));
      try {
        return Buffer.concat([decipher.update(stanza.body.subarray(0, 16)), decipher.final()]);
      } catch {
        throw new BackupError('the passphrase is wrong, or the backup is damaged');
      }
    },
  };
}

const tag = { authTagLength: 16 } as const;

function deriveKey(passphrase: Secret<string>, salt: Uint8Array, factor: number): Promise<Buffer> {
  const text = revealSecret(passphrase).normalize('NFC');
  const labelled = Buffer.concat([Buffer.from(`${magicOfAge}/scrypt`), salt]);
  const parameters = { N: 2 ** factor, r: 8, p: 1, maxmem: 2 ** (factor + 11) };
  return new Promise((resolve, reject) => {
    scrypt(text, labelled, 32, parameters, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

function unpadded(octets: Uint8Array): string {
  return Buffer.from(octets).toString('base64').replace(/=+$/, '');
}
