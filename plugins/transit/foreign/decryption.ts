// Ciphertexts that others make with the public key of a version, in formats that they know: which one a request has, and the use of the token that opens it.
import { z } from 'zod';
import { invalid } from '../../../core/base/texts/invalid.ts';
import { parseBase64 } from '../../../core/base/bytes.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import { base64Field } from '../../../core/wire/fields.ts';
import { type AeadCipher, besideOf, type EstablishingCipher, type OpeningCipher } from '../ciphers.ts';
import { keyIdOf } from '../formats/jwk.ts';
import { type OaepFields } from '../formats/oaep.ts';
import { keyObjectOf } from '../formats/public-keys.ts';
import { combineXWing, rawXWingKey, splitXWing } from '../formats/x-wing.ts';
import type { Version } from '../records/keyring.ts';
import type { TokenUse } from '../uses/token-use.ts';
import type { AgreeingKeyType } from '../../../hsm/api.ts';
import type { UsedKey } from '../uses/used-key.ts';
import { readAgeStanza, readHybridStanza } from './age.ts';
import { type HpkeAead, hpkeAeads, type HpkeKdf, hpkeKdfs, readHpke } from './hpke.ts';
import { parseJwe, readAgreedJwe, readOaepJwe } from './jwe.ts';
import type { Foreign, ForeignSecret } from './opening.ts';

const maxInfoBytes = 65_536;

/** Fields of decrypt for the formats of others. */
export const foreignFields = {
  format: z.enum(['raw', 'hpke', 'jwe', 'age']).meta({ typeName: 'CiphertextFormat' }).optional().meta({
    description:
      'Of a key with `use` agree or decapsulate, or of an RSA key: how others have written the ciphertext. hpke: base64 of an HPKE message (RFC 9180, base mode; with ML-KEM and X-Wing as draft-ietf-hpke-pq has them), the encapsulated key before the ciphertext. jwe: a compact JWE (RFC 7516) by ECDH-ES, ECDH-ES+A128KW, +A192KW, +A256KW, or of an RSA key by RSA-OAEP, -256, -384, -512; `kid` in its header names the version. age: the stanza of an X25519 or mlkem768x25519 recipient from the header of an age file; the plaintext is the file key.',
    'x-default': 'raw',
  }),
  kdf: z
    .enum(hpkeKdfs)
    .meta({ typeName: 'HpkeKdf' })
    .optional()
    .meta({ description: 'KDF of an HPKE message.', 'x-default': 'hkdf-sha256' }),
  aead: z
    .enum(hpkeAeads)
    .meta({ typeName: 'HpkeAead' })
    .optional()
    .meta({ description: 'AEAD of an HPKE message.', 'x-default': 'aes-256-gcm' }),
  info: base64Field({ maxBytes: maxInfoBytes }).optional().describe('`info` of an HPKE message, by default empty.'),
} as const;

/** The fields as parsed, and those of other ciphertexts. */
export type ForeignFields = OaepFields & {
  readonly ciphertext: string;
  readonly format?: 'raw' | 'hpke' | 'jwe' | 'age' | undefined;
  readonly kdf?: HpkeKdf | undefined;
  readonly aead?: HpkeAead | undefined;
  readonly info?: Uint8Array | undefined;
  readonly associatedData?: Uint8Array | undefined;
  readonly keyVersion?: number | undefined;
};

/** Newest versions of which `kid` of a JWE may name one: as many as a JWKS has of a key. */
const mostNamed = 16;

/**
 * Plans the decryption of a ciphertext in a format of others; undefined for one that was made here. The version is the one that the request, or `kid` of a JWE,
 * names, else the one in use: no other is tried, because the time would tell which one it is. Throws invalid-format, invalid-base64, invalid-value.
 */
export function planForeign<Answer>(
  used: UsedKey,
  cipher: AeadCipher | OpeningCipher | EstablishingCipher,
  item: ForeignFields,
  answered: (keyVersion: number) => (plaintext: Uint8Array) => Answer,
): TokenUse<Answer> | undefined {
  const { format = 'raw' } = item;
  if (format !== 'hpke') requireAbsent(item, ['kdf', 'aead', 'info'], 'is for format hpke');
  if (format === 'raw' && cipher.kind !== 'establishing') return undefined;
  requireFormatOf(cipher, format);
  if (format !== 'hpke') requireAbsent(item, ['associatedData'], `is not for format ${format}`);
  requireAbsent(item, ['hashAlgorithm', 'mgf1Hash', 'label'], `is not for format ${format}`);
  if (cipher.kind === 'opening') {
    const jwe = parseJwe(item.ciphertext);
    return planned(used, used.forDecryption(versionOf(used, item, jwe.kid)), () => readOaepJwe(jwe), answered);
  }
  const establishing = cipher as EstablishingCipher;
  const { keyType, use } = establishing;
  if (format === 'jwe') {
    const jwe = parseJwe(item.ciphertext);
    return planned(
      used,
      used.forDecryption(versionOf(used, item, jwe.kid)),
      () => readAgreedJwe(keyType as AgreeingKeyType, jwe),
      answered,
    );
  }
  const version = used.forDecryption(versionOf(used, item, undefined));
  const isHybrid = besideOf(cipher) !== undefined;
  if (format === 'age' && !isHybrid) return planned(used, version, (point) => readAgeStanza(point, item.ciphertext), answered);
  const [message, options] =
    format === 'age' ? readHybridStanza(item.ciphertext) : [parseBase64(item.ciphertext, 'ciphertext', used.decode), item];
  if (isHybrid) return plannedOfBoth(used, version, readHpke(establishing, rawXWingKey(version.record), message, options), answered);
  return planned(used, version, (point) => readHpke(establishing, point, message, options), answered, use);
}

/** Plans the use of both private keys of a version that has two. */
function plannedOfBoth<Answer>(
  used: UsedKey,
  version: Version,
  foreign: ForeignSecret,
  answered: (keyVersion: number) => (plaintext: Uint8Array) => Answer,
): TokenUse<Answer> {
  const answer = answered(version.number);
  return { ...useOfBoth(used, version, foreign.encapsulated, (secret) => answer(foreign.open(secret))), counts: undefined };
}

/** The uses that give the secret of an X-Wing ciphertext of the right length. */
export function useOfBoth<Answer>(
  used: UsedKey,
  version: Version,
  ciphertext: Uint8Array,
  answer: (secret: Uint8Array) => Answer,
): Pick<TokenUse<Answer>, 'version' | 'use' | 'beside' | 'answer'> {
  const { ofKem, point } = splitXWing(ciphertext);
  return {
    version,
    use: { use: 'decapsulate', key: used.reference(version, 'decapsulate'), octets: ofKem },
    beside: { use: 'agree', key: used.reference(version, 'agree'), octets: point },
    answer: (octets, agreed) => {
      const secret = combineXWing(octets, agreed as Uint8Array, point, version.record);
      try {
        return answer(secret);
      } finally {
        secret.fill(0);
      }
    },
  };
}

function requireFormatOf(cipher: AeadCipher | OpeningCipher | EstablishingCipher, format: string): void {
  if (cipher.kind === 'aead') throw invalid('format', `must be raw, or absent: ${format} is for keys with public keys`);
  if (cipher.kind === 'opening' && format !== 'jwe') throw invalid('format', 'must be raw or jwe for an RSA key');
  if (cipher.kind === 'establishing' && cipher.use === 'decapsulate') {
    const isHybrid = besideOf(cipher) !== undefined;
    if (format === 'hpke' || (isHybrid && format === 'age')) return;
    throw invalid(
      'format',
      isHybrid
        ? 'must be hpke or age for a key with cipher mlkem768-x25519'
        : 'must be hpke for a key with cipher ml-kem-768 or ml-kem-1024',
    );
  }
  if (cipher.kind === 'establishing' && format === 'raw')
    throw invalid('format', 'must be hpke, jwe or age: the key agrees on secrets, and has no ciphertexts of its own');
  if (format === 'age' && cipher.keyType !== 'x25519')
    throw invalid('format', 'must be hpke or jwe: age is for keys with cipher x25519 or mlkem768-x25519');
}

function requireAbsent(item: ForeignFields, names: readonly (keyof ForeignFields)[], rule: string): void {
  const given = names.find((name) => item[name] !== undefined);
  if (given !== undefined) throw invalid(toKebab(given), rule);
}

function versionOf(used: UsedKey, { keyVersion }: ForeignFields, kid: string | undefined): number {
  const { floor, latest } = used.key.record;
  if (keyVersion !== undefined) return keyVersion;
  if (kid === undefined) return used.inUse();
  for (let number = latest; number >= Math.max(floor, latest - mostNamed + 1); number -= 1) {
    const { publicKey } = used.transit.keyring.version(used.key, number).record;
    if (publicKey !== undefined && keyIdOf(publicKey) === kid) return number;
  }
  return used.inUse();
}

function planned<Answer>(
  used: UsedKey,
  version: Version,
  read: (publicPoint: Uint8Array) => Foreign,
  answered: (keyVersion: number) => (plaintext: Uint8Array) => Answer,
  secretUse: EstablishingCipher['use'] = 'agree',
): TokenUse<Answer> {
  const foreign = read(rawPointOf(version));
  const answer = answered(version.number);
  const opened = (octets: Uint8Array): Answer => answer(foreign.open(octets));
  if ('encapsulated' in foreign) {
    const key = used.reference(version, secretUse);
    return { version, counts: undefined, use: { use: secretUse, key, octets: foreign.encapsulated }, answer: opened };
  }
  const key = used.reference(version, 'decrypt');
  const { hash, sealedKey } = foreign;
  return { version, counts: undefined, use: { use: 'decryptOaep', key, hash, octets: sealedKey }, answer: opened };
}

/** The raw public key of a version; empty for an RSA key, which has none. */
function rawPointOf({ record }: Version): Uint8Array {
  const key = keyObjectOf(record.publicKey as Uint8Array);
  return key.asymmetricKeyType === 'rsa' ? new Uint8Array(0) : new Uint8Array(key.export({ format: 'raw-public' }));
}
