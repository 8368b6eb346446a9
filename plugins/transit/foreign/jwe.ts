// JSON Web Encryption (RFC 7516) in compact form: ECDH-ES, alone and with AES key wrap, and RSA-OAEP (RFC 7518 section 4, RFC 8037 section 3.2).
import { createDecipheriv, createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { concat, encodeUtf8, encodeBase64url, uint32 } from '../../../core/base/bytes.ts';
import { isJsonObject, type JsonObject } from '../../../core/wire/json.ts';
import { type AgreeingKeyType, type HashName, keyUses } from '../../../hsm/api.ts';
import { fail } from '../errors.ts';
import { type AeadName, type Foreign, nonceBytes, openAead, opening, tagBytes } from './opening.ts';

/** Octets of a header: more than any sender writes, with certificates. */
const mostHeaderBytes = 16_384;

/** A parsed message: what its header says, and its parts. */
export type Jwe = {
  readonly alg: string;
  readonly enc: ContentCipher;
  /** `kid`, by which a sender names the public key that it has used */
  readonly kid: string | undefined;
  readonly header: JsonObject;
  /** the header as it was sent: it is authenticated with the content */
  readonly protectedText: string;
  readonly sealedKey: Uint8Array;
  readonly iv: Uint8Array;
  readonly sealed: Uint8Array;
  readonly tag: Uint8Array;
};

type ContentCipher = { readonly name: string; readonly keyBytes: number } & (
  | { readonly aead: AeadName }
  | { readonly cbc: 'aes-128-cbc' | 'aes-192-cbc' | 'aes-256-cbc'; readonly hash: HashName }
);

/** `enc` (RFC 7518 section 5.1). */
const contentCiphers: ReadonlyMap<string, ContentCipher> = new Map(
  (
    [
      { name: 'A128GCM', keyBytes: 16, aead: 'aes-128-gcm' },
      { name: 'A192GCM', keyBytes: 24, aead: 'aes-192-gcm' },
      { name: 'A256GCM', keyBytes: 32, aead: 'aes-256-gcm' },
      { name: 'A128CBC-HS256', keyBytes: 32, cbc: 'aes-128-cbc', hash: 'sha256' },
      { name: 'A192CBC-HS384', keyBytes: 48, cbc: 'aes-192-cbc', hash: 'sha384' },
      { name: 'A256CBC-HS512', keyBytes: 64, cbc: 'aes-256-cbc', hash: 'sha512' },
    ] as const
  ).map((row) => [row.name, row]),
);

/** `alg` of keys on curves: octets of the key that wraps the content key; 0: the agreed key is the content key. */
const agreements: ReadonlyMap<string, number> = new Map([
  ['ECDH-ES', 0],
  ['ECDH-ES+A128KW', 16],
  ['ECDH-ES+A192KW', 24],
  ['ECDH-ES+A256KW', 32],
]);

/** `alg` of RSA keys: hash of RSAES-OAEP. */
const oaepHashes: ReadonlyMap<string, HashName | 'sha1'> = new Map([
  ['RSA-OAEP', 'sha1'],
  ['RSA-OAEP-256', 'sha256'],
  ['RSA-OAEP-384', 'sha384'],
  ['RSA-OAEP-512', 'sha512'],
]);

/** Octets of a coordinate, by key type. */
const coordinateBytes: Readonly<Record<AgreeingKeyType, number>> = { 'ecdh-p256': 32, 'ecdh-p384': 48, 'ecdh-p521': 66, x25519: 32 };

/** Parses the compact form (RFC 7516 section 7.1). Throws invalid-format, which everybody could say of the text. */
export function parseJwe(text: string): Jwe {
  const parts = text.split('.');
  if (parts.length !== 5) throw malformed(`has ${parts.length} parts; a compact JWE has five, with points between them`);
  const [header, sealedKey, iv, sealed, tag] = parts as [string, string, string, string, string];
  if (header.length > mostHeaderBytes) throw malformed(`has a header of more than ${mostHeaderBytes} octets`);
  const members = headerOf(header);
  for (const name of ['crit', 'zip']) {
    if (members[name] !== undefined) throw malformed(`has "${name}" in its header, which is not taken`);
  }
  const { alg, enc, kid } = members;
  const cipher = typeof enc === 'string' ? contentCiphers.get(enc) : undefined;
  if (typeof alg !== 'string' || !(agreements.has(alg) || oaepHashes.has(alg)))
    throw malformed(`has "alg" ${shown(alg)}; ${[...agreements.keys(), ...oaepHashes.keys()].join(', ')} are taken`);
  if (cipher === undefined) throw malformed(`has "enc" ${shown(enc)}; ${[...contentCiphers.keys()].join(', ')} are taken`);
  return {
    ...{ alg, enc: cipher, kid: typeof kid === 'string' ? kid : undefined, header: members, protectedText: header },
    ...{ sealedKey: octetsOf(sealedKey), iv: octetsOf(iv), sealed: octetsOf(sealed), tag: octetsOf(tag) },
  };
}

/** Reads a message to a key on a curve. Throws invalid-format. */
export function readAgreedJwe(keyType: AgreeingKeyType, jwe: Jwe): Foreign {
  const wrapBytes = agreements.get(jwe.alg);
  if (wrapBytes === undefined) throw malformed(`has "alg" ${jwe.alg}, which is for RSA keys`);
  if (wrapBytes === 0 && jwe.sealedKey.length > 0) throw malformed('has an encrypted key, which ECDH-ES has not');
  if (wrapBytes > 0 && jwe.sealedKey.length !== jwe.enc.keyBytes + 8)
    throw malformed(`has an encrypted key of ${jwe.sealedKey.length} octets; ${jwe.enc.name} takes ${jwe.enc.keyBytes + 8}`);
  const point = pointOf(keyType, jwe.header['epk']);
  const parties = [partyOf(jwe.header['apu']), partyOf(jwe.header['apv'])];
  return {
    encapsulated: point,
    open: (secret) => {
      const name = wrapBytes === 0 ? jwe.enc.name : jwe.alg;
      const agreed = concatKdf(secret, name, parties, wrapBytes === 0 ? jwe.enc.keyBytes : wrapBytes);
      secret.fill(0);
      return openContent(jwe, wrapBytes === 0 ? agreed : unwrap(agreed, jwe.sealedKey));
    },
  };
}

/** Reads a message to an RSA key. Throws invalid-format. */
export function readOaepJwe(jwe: Jwe): Foreign {
  const hash = oaepHashes.get(jwe.alg);
  if (hash === undefined) throw malformed(`has "alg" ${jwe.alg}, which is for keys that agree`);
  return { sealedKey: jwe.sealedKey, hash, open: (contentKey) => openContent(jwe, contentKey) };
}

/** Opens the content, and zeroes its key. */
function openContent({ enc, iv, sealed, tag, protectedText }: Jwe, contentKey: Uint8Array): Uint8Array {
  const associatedData = encodeUtf8(protectedText);
  try {
    if (contentKey.length !== enc.keyBytes) throw fail('decryption-failed');
    if ('cbc' in enc) return openCbc(enc, contentKey, iv, associatedData, sealed, tag);
    if (iv.length !== nonceBytes || tag.length !== tagBytes) throw fail('decryption-failed');
    return openAead(enc.aead, contentKey, iv, associatedData, sealed, tag);
  } finally {
    contentKey.fill(0);
  }
}

/** AES-CBC and HMAC (RFC 7518 section 5.2.2.2): nothing is decrypted that its tag does not cover. */
function openCbc(
  { cbc, hash }: Extract<ContentCipher, { readonly cbc: string }>,
  key: Uint8Array,
  iv: Uint8Array,
  associatedData: Uint8Array,
  sealed: Uint8Array,
  tag: Uint8Array,
): Uint8Array {
  const half = key.length / 2;
  const bits = new Uint8Array(8);
  new DataView(bits.buffer).setBigUint64(0, 8n * BigInt(associatedData.length));
  const mac = createHmac(hash, key.subarray(0, half)).update(associatedData).update(iv).update(sealed).update(bits).digest();
  if (tag.length !== half || !timingSafeEqual(mac.subarray(0, half), tag)) throw fail('decryption-failed');
  return opening(() => {
    const decipher = createDecipheriv(cbc, key.subarray(half), iv);
    return concat(decipher.update(sealed), decipher.final());
  });
}

/** AES key wrap (RFC 3394). */
function unwrap(key: Uint8Array, wrapped: Uint8Array): Uint8Array {
  try {
    return opening(() => {
      const decipher = createDecipheriv(`id-aes${8 * key.length}-wrap`, key, wrapIv);
      return concat(decipher.update(wrapped), decipher.final());
    });
  } finally {
    key.fill(0);
  }
}

const wrapIv = Buffer.alloc(8, 0xa6);

/** Concat KDF (RFC 7518 section 4.6.2). All keys have at most two hashes of octets. */
function concatKdf(secret: Uint8Array, algorithm: string, parties: readonly Uint8Array[], bytes: number): Uint8Array {
  const info = concat(...[encodeUtf8(algorithm), ...parties].flatMap((part) => [uint32(part.length), part]), uint32(8 * bytes));
  const rounds = Array.from({ length: Math.ceil(bytes / 32) }, (_, at) =>
    createHash('sha256')
      .update(uint32(at + 1))
      .update(secret)
      .update(info)
      .digest(),
  );
  return concat(...rounds).subarray(0, bytes);
}

/** The raw point of `epk`. Whether it is on the curve is seen where it is used. */
function pointOf(keyType: AgreeingKeyType, epk: unknown): Uint8Array {
  const [crv, bytes] = [keyUses[keyType].curve, coordinateBytes[keyType]];
  if (!isJsonObject(epk) || epk['crv'] !== crv) throw malformed(`has no "epk" on ${crv}, the curve of the key`);
  const coordinates = (keyType === 'x25519' ? ['x'] : ['x', 'y']).map((name) => {
    const octets = typeof epk[name] === 'string' ? octetsOf(epk[name]) : undefined;
    if (octets?.length !== bytes) throw malformed(`has an "epk" whose "${name}" is not ${bytes} octets in base64url`);
    return octets;
  });
  return keyType === 'x25519' ? (coordinates[0] as Uint8Array) : concat(Uint8Array.of(4), ...coordinates);
}

function partyOf(member: unknown): Uint8Array {
  if (member === undefined) return new Uint8Array(0);
  if (typeof member !== 'string') throw malformed('has "apu" or "apv" that is not text');
  return octetsOf(member);
}

function headerOf(text: string): JsonObject {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(octetsOf(text)));
  } catch {
    throw malformed('has a header that is not JSON in base64url');
  }
  if (!isJsonObject(header)) throw malformed('has a header that is not a JSON object');
  return header;
}

/** Octets in base64url without padding; another spelling of the same octets is refused. */
function octetsOf(text: string): Uint8Array {
  const octets = new Uint8Array(Buffer.from(text, 'base64url'));
  if (encodeBase64url(octets) !== text) throw malformed('has a part that is not base64url');
  return octets;
}

function shown(member: unknown): string {
  return typeof member === 'string' ? member.slice(0, 32) : 'missing';
}

function malformed(what: string): Error {
  return fail('invalid-format', { detail: `"ciphertext" ${what}.` });
}
