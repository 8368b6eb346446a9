// RSAES-OAEP outside the token: the fields of requests, and encryption by the public key (RFC 8017 section 7.1.1).
import { type KeyObject, constants, hash as hashOnce, publicEncrypt, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { concat } from '../../../core/base/bytes.ts';
import { invalid } from '../../../core/base/texts/invalid.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import { base64Field } from '../../../core/wire/fields.ts';
import type { OaepHash } from '../../../hsm/api.ts';
import { mgf1 } from './pss.ts';

/** Octets of a hash. */
const hashBytes: Readonly<Record<OaepHash, number>> = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 };
/** Field of a hash of RSA-OAEP, optional. */
export const hashField = z.enum(['sha256', 'sha384', 'sha512', 'sha1']).meta({ typeName: 'OaepHash' }).optional();
const maxLabelBytes = 4_096;

/** Fields of requests to RSA keys for encryption. */
export const oaepFields = {
  hashAlgorithm: hashField.meta({ description: 'Hash of RSA-OAEP; RSA keys only.', 'x-default': 'sha256' }),
  mgf1Hash: hashField.meta({
    description: 'Hash of its MGF1, by default the same. Java means sha1 with OAEPWithSHA-256AndMGF1Padding unless told otherwise.',
  }),
  label: base64Field({ maxBytes: maxLabelBytes }).optional().describe('Its label, by default empty: the same again to decrypt.'),
} as const;

/** The fields as parsed. */
export type OaepFields = {
  readonly hashAlgorithm?: OaepHash | undefined;
  readonly mgf1Hash?: OaepHash | undefined;
  readonly label?: Uint8Array | undefined;
};

/** Parameters of RSAES-OAEP, complete. */
export type OaepScheme = { readonly hash: OaepHash; readonly mgf1Hash: OaepHash; readonly label: Uint8Array };

/** Fields that only one kind of key takes: ignoring one would let the caller rely on it. */
type OtherFields = OaepFields & { readonly associatedData?: Uint8Array | undefined };

/** The parameters that a request to an RSA key asks for. Throws invalid-value. */
export function oaepSchemeOf({ associatedData, hashAlgorithm = 'sha256', mgf1Hash = hashAlgorithm, label }: OtherFields): OaepScheme {
  if (associatedData !== undefined) throw invalid('associated-data', 'is for symmetric keys: RSA-OAEP takes a label');
  return { hash: hashAlgorithm, mgf1Hash, label: label ?? new Uint8Array(0) };
}

/** Throws invalid-value for a parameter of RSAES-OAEP in a request to a symmetric key. */
export function requireNoOaep(fields: OaepFields): void {
  const given = (['hashAlgorithm', 'mgf1Hash', 'label'] as const).find((name) => fields[name] !== undefined);
  if (given !== undefined) throw invalid(toKebab(given), 'is for RSA keys');
}

/** Encrypts with a public key. Throws invalid-value for a plaintext that is too long for it. */
export function sealOaep(key: KeyObject, { hash, mgf1Hash, label }: OaepScheme, plaintext: Uint8Array): Uint8Array {
  const modulusBytes = Number(key.asymmetricKeyDetails?.modulusLength) / 8;
  const longest = modulusBytes - 2 * hashBytes[hash] - 2;
  if (plaintext.length > longest) {
    const rule = `has ${plaintext.length} octets, and RSA-OAEP with ${hash} takes ${longest} at most under this key: encrypt it under a data key (generate-data-key)`;
    throw invalid('plaintext', rule);
  }
  if (mgf1Hash === hash) {
    const options = { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: hash, oaepLabel: label };
    return cleanly(() => publicEncrypt(options, plaintext));
  }
  // OpenSSL through node:crypto has MGF1 with the same hash alone.
  const block = encodeOaep(modulusBytes, { hash, mgf1Hash, label }, plaintext);
  try {
    return cleanly(() => publicEncrypt({ key, padding: constants.RSA_NO_PADDING }, block));
  } finally {
    block.fill(0);
  }
}

/** EME-OAEP (RFC 8017 section 7.1.1, step 2): 0x00 ‖ maskedSeed ‖ maskedDB, DB = lHash ‖ 0x00 … ‖ 0x01 ‖ message. */
function encodeOaep(modulusBytes: number, { hash, mgf1Hash, label }: OaepScheme, message: Uint8Array): Uint8Array {
  const labelHash = hashOnce(hash, label, 'buffer');
  const data = new Uint8Array(modulusBytes - labelHash.length - 1);
  data.set(labelHash);
  data[data.length - message.length - 1] = 1;
  data.set(message, data.length - message.length);
  const seed = randomBytes(labelHash.length);
  const maskedData = xor(data, mgf1(mgf1Hash, seed, data.length));
  const maskedSeed = xor(seed, mgf1(mgf1Hash, maskedData, seed.length));
  data.fill(0);
  return concat(new Uint8Array(1), maskedSeed, maskedData);
}

function xor(left: Uint8Array, right: Uint8Array): Uint8Array {
  return left.map((octet, at) => octet ^ (right[at] as number));
}
