// EncryptedPrivateKeyInfo (RFC 5958 section 3) under PBES2 (RFC 8018 section 6.2): opened off the event loop, within bounds that its sender cannot choose.
import { createDecipheriv, pbkdf2, scrypt, type ScryptOptions } from 'node:crypto';
import { promisify } from 'node:util';
import { concat } from '../../../core/base/bytes.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { type Element, readObjectIdentifier, readOnly, Reader, tag } from '../../../core/der/der.ts';
import { unusable } from '../errors.ts';

const pbes2 = '1.2.840.113549.1.5.13';
const pbkdf2Id = '1.2.840.113549.1.5.12';
const scryptId = '1.3.6.1.4.1.11591.4.11';
const sha1Hmac = '1.2.840.113549.2.7';

/** Hash functions of PBKDF2, by the OID of the HMAC. */
const hashes: Readonly<Record<string, string>> = {
  [sha1Hmac]: 'sha1',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};

/** Ciphers, by OID. */
const ciphers: Readonly<Record<string, { readonly name: string; readonly keyBytes: number }>> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', keyBytes: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', keyBytes: 24 },
  '2.16.840.1.101.3.4.1.42': { name: 'aes-256-cbc', keyBytes: 32 },
  '1.2.840.113549.3.7': { name: 'des-ede3-cbc', keyBytes: 24 },
};

/** The most work that a key may ask for: one to three seconds of one thread, and 64 MiB. `scryptBytes`: of all passes of scrypt together. */
const most = { iterations: 2_000_000, scryptBytes: 64 * 1024 * 1024 };

const pbkdf2Async = promisify(pbkdf2);
const scryptAsync: (password: Uint8Array, salt: Uint8Array, bytes: number, options: ScryptOptions) => Promise<Buffer> = promisify(scrypt);

/** The PKCS#8 in it, in DER, which the caller zeroes. Throws invalid-key-data: for another encryption, too much work, a wrong passphrase. */
export async function decryptPkcs8(der: Uint8Array, passphrase: string): Promise<Uint8Array> {
  const { deriveKey, cipher, iv, sealed } = parsed(der);
  // The call itself throws for parameters that OpenSSL refuses, which would stay in the queue of the thread.
  const deriving = (): Promise<Buffer> => cleanly(() => deriveKey(Buffer.from(passphrase, 'utf8'), cipher.keyBytes));
  const key = await Promise.try(deriving).catch(() => {
    throw unusable(`The key of its encryption cannot be derived. ${advice}`);
  });
  try {
    return cleanly(() => {
      const decipher = createDecipheriv(cipher.name, key, iv);
      return concat(decipher.update(sealed), decipher.final());
    });
  } catch {
    throw unusable('The passphrase does not open the key.');
  } finally {
    key.fill(0);
  }
}

type Derivation = (passphrase: Buffer, bytes: number) => Promise<Buffer>;

function parsed(der: Uint8Array) {
  try {
    const fields = readOnly(der, tag.sequence);
    const [scheme, parameters] = algorithm(fields.next(tag.sequence));
    if (scheme !== pbes2) throw unusable(`The key is encrypted in a way that is not read (${scheme}). ${advice}`);
    const both = new Reader(parameters.next(tag.sequence).content);
    const deriveKey = derivationOf(...algorithm(both.next(tag.sequence)));
    const [cipherId, cipherParameters] = algorithm(both.next(tag.sequence));
    const cipher = ciphers[cipherId];
    if (cipher === undefined) throw unusable(`The key is encrypted with a cipher that is not read (${cipherId}). ${advice}`);
    return { deriveKey, cipher, iv: cipherParameters.next(tag.octetString).content, sealed: fields.next(tag.octetString).content };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'DerError') throw error;
    throw unusable('The encrypted private key cannot be read.');
  }
}

function derivationOf(id: string, parameters: Reader): Derivation {
  const fields = new Reader(parameters.next(tag.sequence).content);
  if (id === scryptId) return scryptOfFields(fields);
  if (id !== pbkdf2Id) throw unusable(`The key of its encryption is derived in a way that is not read (${id}). ${advice}`);
  const salt = fields.next(tag.octetString).content;
  const iterations = numberOf(fields.next(tag.integer));
  fields.optional(tag.integer);
  const prf = fields.optional(tag.sequence);
  const hash = hashes[prf === undefined ? sha1Hmac : algorithm(prf)[0]];
  if (hash === undefined) throw unusable(`The key of its encryption is derived with a hash that is not read. ${advice}`);
  if (iterations < 1 || iterations > most.iterations)
    throw unusable(`The key asks for ${iterations} iterations; 1 to ${most.iterations} are made. ${advice}`);
  return (passphrase, bytes) => pbkdf2Async(passphrase, salt, iterations, bytes, hash);
}

/** RFC 7914, section 7. */
function scryptOfFields(fields: Reader): Derivation {
  const salt = fields.next(tag.octetString).content;
  const [N, r, p] = [fields.next(tag.integer), fields.next(tag.integer), fields.next(tag.integer)].map(numberOf) as [
    number,
    number,
    number,
  ];
  const isPower = N > 1 && Number.isInteger(Math.log2(N));
  // Section 2: N is below 2^(128 r / 8), and p r below 2^30, which the bound has within it.
  const isWithin = N < 2 ** (16 * r) && 128 * N * r * p <= most.scryptBytes;
  if (!isPower || r < 1 || p < 1 || !isWithin) throw unusable(`The key asks for more work of scrypt than is done here. ${advice}`);
  return (passphrase, bytes) => scryptAsync(passphrase, salt, bytes, { N, r, p, maxmem: 2 * most.scryptBytes });
}

/** OID and parameters of an AlgorithmIdentifier. */
function algorithm({ content }: Element): readonly [string, Reader] {
  const fields = new Reader(content);
  return [readObjectIdentifier(fields.next(tag.oid).content), fields];
}

function numberOf({ content }: Element): number {
  return content.length > 6 ? Infinity : content.reduce((sum, octet) => sum * 256 + octet, 0);
}

const advice =
  'Encrypt it again, for example with "openssl pkcs8 -topk8 -v2 aes-256-cbc" ("-provider legacy -provider default" for an old encryption), or import it with "keystorectl import-key".';
