// Action import: existing key material becomes a new version.
import { createHmac, hash } from 'node:crypto';
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { fail as coreFail, ServiceError } from '../../../core/base/errors.ts';
import { invalid } from '../../../core/base/texts/invalid.ts';
import { base64Field, integer, pemExample } from '../../../core/wire/fields.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import { type AnyEndpoint, type EndpointCall, Reply } from '../../../core/http/endpoint.ts';
import { besideOf, cipherOf, symmetricKeyOctets } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { microseconds } from '../instants.ts';
import type { Key } from '../records/keyring.ts';
import { importParameters, readBrought, requireNamedKeys } from '../versions/attached.ts';
import { isUntouched, replaceUntouched } from '../versions/first-version.ts';
import { addVersion } from '../versions/new-version.ts';
import { maxVersion } from '../formats/value-format.ts';
import { maxPemCharacters } from '../../../core/base/texts/pem.ts';
import { isSameKey, pssRuleOf } from '../formats/rsa-pss.ts';
import { hashField, oaepSchemeOf } from '../formats/oaep.ts';
import { type Material, parseMaterialOctets, parseMaterialText } from '../formats/private-keys.ts';
import { hkdf, type KeyRecord } from '../records/records.ts';
import type { Transit } from '../context.ts';
import type { ImportWrappingKeys } from '../keys/import-wrapping-key.ts';
import { defineKeyAction } from './action.ts';
import { isPublicKey } from '../keys/acts.ts';

export const importInput = z.object({
  data: z
    .string()
    .max(maxPemCharacters)
    .optional()
    .meta({
      description:
        'A private key: PKCS#8, also encrypted, PKCS#1, SEC1 or OpenSSH as PEM, an OpenPGP private key block, base64 of DER, or a JWK. A symmetric key: base64, or a JWK. Line ends do not matter.',
      example: pemExample('PRIVATE KEY'),
      'x-text-or-base64': true,
      'x-key-octets': symmetricKeyOctets,
    }),
  passphrase: z.string().min(1).max(1_024).optional().meta({
    description: 'Of an encrypted private key in data (PBES2), or of an OpenPGP private key block.',
    example: 'the words that the key was encrypted with',
  }),
  hmacKey: base64Field({ maxBytes: 32 }).optional().meta({
    description:
      'The key of the HMACs of this version, 32 octets, where those of elsewhere are to verify here. Unless given, one is made for the version.',
    'x-produced': true,
  }),
  ciphertext: base64Field({ maxBytes: maxPemCharacters }).optional().meta({
    description: 'In place of data: wrapped under GET /v1/state/keystore/wrapping-key, or under the key of import-wrapping-key.',
    'x-produced': true,
  }),
  importId: z
    .uuid()
    .optional()
    .describe('Of ciphertext: which key of import-wrapping-key it is wrapped under; unless given, that of the tenant.'),
  hashAlgorithm: hashField.meta({
    description: 'Of ciphertext: hash of its RSA-OAEP. Some HSMs wrap with sha1 alone.',
    'x-default': 'sha256',
  }),
  mgf1Hash: hashField.meta({ description: 'Of ciphertext: hash of its MGF1, by default the same.' }),
  asVersion: integer(1, maxVersion).optional().meta({
    description:
      'Number of the version, so that values of elsewhere keep theirs: the next one, or any for a key that was never used, whose only version it replaces.',
    example: 1,
  }),
});

/** POST …/import */
export function importKey(transit: Transit, importWrappingKeys: ImportWrappingKeys): AnyEndpoint {
  const parameters = importParameters(transit);
  return defineKeyAction<z.output<typeof importInput>, never>(transit, 'import', {
    summary: 'Import key material as a new version',
    description:
      'Material in clear as `data`, or wrapped as `ciphertext`, under the key of the tenant or under one that `import-wrapping-key` made for this import. Type and size must be those of the key.',
    audit: 'required',
    act: (_call, _input, { tenantId, record }) =>
      isPublicKey(transit, tenantId, record) ? ['bring-keys-in', 'change-trust'] : ['bring-keys-in'],
    usesNamed: transit.attachments.namedFields,
    input: importInput.extend(parameters) as typeof importInput,
    documented: { exampleInput: { data: 'not-a-real-key-of-32-octets-in-base64=' } },
    successStatus: 204,
    auditFields: ['importId', 'hashAlgorithm', 'mgf1Hash', 'asVersion', ...Object.keys(parameters)],
    secretInput: ['data', 'passphrase', 'hmacKey', 'ciphertext'],
    shown: ({ data, ciphertext, hmacKey }) => ({
      sha256: hash('sha256', data ?? ciphertext ?? '', 'hex'),
      ...(hmacKey === undefined ? {} : { 'hmac-key': 'given' }),
    }),
    commandLine: { input: 'data' },
    errors: [
      'operation-not-supported',
      'invalid-key-data',
      'key-type-mismatch',
      'private-key-in-use',
      'unsupported-cipher',
      'version-exhausted',
      'restore-would-destroy',
      'conflict',
      'in-use',
    ],
    run: async (call, { data, passphrase, hmacKey, ciphertext, importId, hashAlgorithm, mgf1Hash, asVersion, ...more }, key) => {
      const { cipher: cipherName, derived, kdf } = key.record;
      requireTakesMaterial(key.record);
      const target = { cipherName, cipher: cipherOf(key.record), derived, extracts: kdf === hkdf };
      requireFitting({ data, passphrase, ciphertext, importId, hashAlgorithm, mgf1Hash });
      const { hash, mgf1Hash: ofMgf1 } = oaepSchemeOf(defined({ hashAlgorithm, mgf1Hash }));
      if (hmacKey !== undefined) requireHmacKey(hmacKey);
      const now = microseconds(call.now);
      const { pkcs8, origins } = await readBrought(transit, key, { data, passphrase, ...more }, call.now);
      const read = async (): Promise<Material> => {
        if (pkcs8 !== undefined) return parseMaterialOctets(pkcs8, target);
        if (data !== undefined) return parseMaterialText(data, target, { passphrase, tenantId: key.tenantId });
        return parseMaterialOctets(
          await importWrappingKeys.open(key, { ciphertext: ciphertext as Uint8Array, importId, hash, mgf1Hash: ofMgf1 }, now),
          target,
        );
      };
      const material = await read().catch((error: unknown) => {
        throw withoutHiddenCipher(call, key, error);
      });
      let { octets } = material;
      try {
        requireWritten(material);
        if (kdf === hkdf) octets = extracted(octets);
        // A copy for each attempt: importing zeroes it.
        const source = (record: KeyRecord, replaces = false) => {
          if (!replaces && asVersion !== undefined && asVersion !== record.latest + 1) throw notNext();
          requireNamedKeys(transit, call.access, record);
          const { publicKey } = requireMatch(transit, { ...key, record }, material);
          return { given: () => ({ main: octets.slice(), origins, ...defined({ publicKey, hmac: hmacKey?.slice() }) }) };
        };
        if (asVersion !== undefined && (await isUntouched(transit, key))) {
          await replaceUntouched(transit, key, asVersion, call, (record) => source(record, true));
          call.noteAudit({ keyVersion: asVersion });
          return new Reply(204);
        }
        const number = await addVersion(transit, key.tenantId, key.name, now, (record) => source(record));
        call.noteAudit(defined({ keyVersion: number }));
        return new Reply(204);
      } finally {
        octets.fill(0);
        hmacKey?.fill(0);
      }
    },
  });
}

/** Throws operation-not-supported for a key of X-Wing: others keep a seed, which would be expanded in memory, because no token does that. */
function requireTakesMaterial(record: KeyRecord): void {
  if (besideOf(cipherOf(record)) === undefined) return;
  throw fail('operation-not-supported', {
    detail: 'Keys of this cipher are made in the token alone: it takes no seed, from which both private keys would follow.',
  });
}

/** Throws missing-field and invalid-value for fields that do not go together. */
function requireFitting({ data, passphrase, ciphertext, ...ofCiphertext }: Partial<z.output<typeof importInput>>): void {
  if ((data === undefined) === (ciphertext === undefined))
    throw coreFail(data === undefined ? 'missing-field' : 'invalid-value', { detail: 'Give data or ciphertext, one of the two.' });
  if (passphrase !== undefined && data === undefined) throw invalid('passphrase', 'is for data');
  const misplacedField = Object.entries(ofCiphertext).find(([, value]) => value !== undefined)?.[0];
  if (ciphertext === undefined && misplacedField !== undefined) throw invalid(toKebab(misplacedField), 'is for ciphertext');
}

/** HKDF-Extract without salt (RFC 5869 section 2.2). Zeroes the secret. Tokens without HKDF do the rest, with their HMAC. */
function extracted(secret: Uint8Array): Uint8Array {
  const key = createHmac('sha256', new Uint8Array(32)).update(secret).digest();
  secret.fill(0);
  return key;
}

/** Throws invalid-value, and invalid-key-data for a secret that nobody has written. */
function requireHmacKey(octets: Uint8Array): void {
  if (octets.length !== 32) {
    throw invalid('hmac-key', 'must have 32 octets');
  }
  requireWritten({ octets });
}

/** It tells no version: policies may hide them. */
function notNext(): Error {
  return invalid('as-version', 'must be the number of the next version, because this key was used or has more than one');
}

/** The refusal, without the cipher of the key where a read of the key does not show that. */
function withoutHiddenCipher({ access }: EndpointCall, { name }: Key, error: unknown): unknown {
  const isOfType = error instanceof ServiceError && error.code === 'key-type-mismatch';
  const trees = ['config', 'state'].map((tree) => access.shownAt(['v1', tree, 'keystore', 'transit-keys', name]));
  if (!isOfType || trees.some((shows) => shows('cipher'))) return error;
  return fail('key-type-mismatch', { detail: 'The material is not of the type and size that this key takes.' });
}

/**
 * The first private key of a verification-only key must belong to its public key, and does what that is for: a public key for RSASSA-PSS often has a
 * private half under the OID of RSA.
 */
function requireMatch(transit: Transit, key: Key, { publicKey }: Material): Pick<Material, 'publicKey'> {
  if (!key.record.verificationOnly || publicKey === undefined) return defined({ publicKey });
  const known = transit.keyring.version(key, key.record.latest).record.publicKey;
  if (known !== undefined && isSameKey(known, publicKey)) return { publicKey: pssRuleOf(publicKey) === undefined ? known : publicKey };
  throw fail('key-type-mismatch', { detail: 'The private key does not belong to the public key of this key.' });
}

/**
 * Refuses a secret that nobody has written: memory that is empty or wiped (zeros), or erased (ones). No generator makes it, and it is anybody's
 * first guess. Other patterns are somebody's choice, and what a backup has is restored: values under it have to open.
 */
function requireWritten({ octets, publicKey }: Material): void {
  // A view: a copy would stay in memory.
  const seen = Buffer.from(octets.buffer, octets.byteOffset, octets.length);
  const filler = [0x00, 0xff].find((octet) =>
    publicKey === undefined ? seen.every((one) => one === octet) : seen.includes(Uint8Array.of(32, ...Array<number>(32).fill(octet))),
  );
  if (filler === undefined) return;
  const detail = `All octets of the secret are ${filler === 0 ? '00' : 'ff'}, as in memory that nobody has written: generate a key, for example with "openssl rand".`;
  throw fail('invalid-key-data', { detail });
}
