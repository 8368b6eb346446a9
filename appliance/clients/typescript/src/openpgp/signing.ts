// Signs data of any length with an OpenPGP key: hashed here, in constant memory, with the trailer that the appliance makes.
import { decodeBase64, encodeBase64 } from '../base64.ts';
import { listOf, type Source } from '../sealing/format.ts';

/** Fields of a signature in the form of the API. */
export type TrailerFields = { readonly 'key-version'?: number | undefined; readonly 'expires-after'?: string | undefined };

/** Sends an action at the key, and answers its body. */
export type AskKey = (action: string, body: object) => Promise<Readonly<Record<string, unknown>>>;

/**
 * The detached signature over `source`, as openpgp-sign makes it of data that fits in a request. The key needs to allow openpgp-trailer and
 * openpgp-sign-digest. Runs where there is node:crypto.
 */
export async function signOpenpgp(
  source: Source,
  ask: AskKey,
  fields: TrailerFields,
  format: 'armored' | 'binary' = 'armored',
): Promise<string> {
  const { createHash } = await import('node:crypto');
  const first = await ask('openpgp-trailer', fields);
  const asked = performance.now();
  const hash = createHash(String(first['hash-algorithm']));
  for await (const octets of listOf(source)) hash.update(octets);
  // The date of the signature is in the trailer: it is asked for again when hashing took its time.
  const { trailer } =
    performance.now() - asked < freshMs ? first : await ask('openpgp-trailer', { ...fields, 'key-version': first['key-version'] });
  hash.update(decodeBase64(String(trailer)));
  const { signature } = await ask('openpgp-sign-digest', { trailer, digest: encodeBase64(hash.digest()), format });
  return String(signature);
}

const freshMs = 60_000;
