// Encrypt, Decrypt, Sign, SignatureVerify, MAC, MACVerify (KMIP 1.4 sections 4.29 to 4.34): requests to the transit key that the object is tied to.
import { decodeBase64, encodeBase64 } from '../../../core/base/bytes.ts';
import { defined } from '../../../core/base/defined.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { hidden } from '../errors.ts';
import { type Fields, hex } from '../messages/fields.ts';
import { KmipFailure } from '../messages/failure.ts';
import { isFrom, type Version } from '../messages/versions.ts';
import { usage } from '../objects/read.ts';
import type { KeyUsing } from '../objects/object-service.ts';
import { enumerationNameOf, type EnumerationWord } from '../ttlv/enumerations.ts';
import { enumeration, octets, text } from '../ttlv/item.ts';
import { type TagName, tagNameOf } from '../ttlv/tags.ts';
import { type Done, identifierIn, type Operation, type OperationCall } from './operation.ts';

/** Octets of the nonce and of the tag of AES-GCM, as transit keys have them (NIST SP 800-38D section 8.2.2). */
const [nonceOctets, tagOctets] = [12, 16];

type Request = KeyUsing['request'];

/** Sends the request of a use; returns the answer of the action at the key, with the object. */
async function using(asked: OperationCall, payload: Fields, bit: number, request: Request) {
  requireWhole(payload);
  const id = identifierIn(payload, asked);
  return { id, answer: await asked.objects.useKey(asked.call, { id, bit, request }) };
}

/** Data in several requests is not kept between them. */
function requireWhole(payload: Fields): void {
  const [first, last] = [payload.value('InitIndicator', 'boolean') ?? true, payload.value('FinalIndicator', 'boolean') ?? true];
  if (payload.item('CorrelationValue') !== undefined || !first || !last)
    throw new KmipFailure('FeatureNotSupported', 'Data is not taken in parts: send all of it in one request.');
}

export const encrypt: Operation = {
  since: 2,
  run: async (asked, payload) => {
    let isSealed = false;
    const { id, answer } = await using(asked, payload, usage.encrypt, ({ version, cipher }) => {
      isSealed = isSymmetric(cipher);
      const document = { plaintext: encodeBase64(payload.required('Data', 'octets')), 'key-version': version };
      if (!isSealed) return { action: 'encrypt', document: { ...document, ...oaepOf(payload) } };
      const parameters = requireGcm(payload, asked.version);
      if (payload.item('IVCounterNonce') !== undefined || parameters?.value('RandomIV', 'boolean') === false)
        throw new KmipFailure('FeatureNotSupported', 'The token draws the nonce of each message: leave IV/Counter/Nonce out.');
      return { action: 'encrypt', document: { ...document, ...associated(payload) } };
    });
    const sealed = valueIn(answer, 'ciphertext');
    if (!isSealed) return done(id, octets('Data', sealed));
    const end = sealed.length - tagOctets;
    return done(
      id,
      octets('Data', sealed.subarray(nonceOctets, end)),
      octets('IVCounterNonce', sealed.subarray(0, nonceOctets)),
      octets('AuthenticatedEncryptionTag', sealed.subarray(end)),
    );
  },
};

export const decrypt: Operation = {
  since: 2,
  run: async (asked, payload) => {
    const { id, answer } = await using(asked, payload, usage.decrypt, ({ version, cipher }) => {
      const data = payload.required('Data', 'octets');
      if (!isSymmetric(cipher)) return { action: 'decrypt', document: { ciphertext: valueOf(version, data), ...oaepOf(payload) } };
      requireGcm(payload, asked.version);
      const nonce = payload.required('IVCounterNonce', 'octets');
      const tag = payload.required('AuthenticatedEncryptionTag', 'octets');
      if (nonce.length !== nonceOctets || tag.length !== tagOctets)
        throw new KmipFailure('InvalidField', `IV/Counter/Nonce must have ${nonceOctets} octets, and the tag ${tagOctets}.`);
      const ciphertext = valueOf(version, Buffer.concat([nonce, data, tag]));
      return { action: 'decrypt', document: { ciphertext, ...associated(payload) } };
    });
    return done(id, octets('Data', valueIn(answer, 'plaintext')));
  },
};

export const sign: Operation = {
  since: 2,
  run: async (asked, payload) => {
    const { id, answer } = await using(asked, payload, usage.sign, ({ version, cipher }) => ({
      action: 'sign',
      document: { ...signed(payload), ...signatureOf(payload, cipher), 'key-version': version },
    }));
    return done(id, octets('SignatureData', valueIn(answer, 'signature')));
  },
};

export const signatureVerify: Operation = {
  since: 2,
  run: async (asked, payload) => {
    const { id, answer } = await using(asked, payload, usage.verify, ({ version, cipher }) => {
      const signature = valueOf(version, payload.required('SignatureData', 'octets'));
      return { action: 'verify', document: { ...signed(payload), ...signatureOf(payload, cipher), signature } };
    });
    return verdict(id, answer);
  },
};

export const mac: Operation = {
  since: 2,
  run: async (asked, payload) => {
    const { id, answer } = await using(asked, payload, usage.macGenerate, ({ version }) => {
      requireCmac(payload);
      return { action: 'cmac', document: { plaintext: encodeBase64(payload.required('Data', 'octets')), 'key-version': version } };
    });
    return done(id, octets('MACData', valueIn(answer, 'cmac')));
  },
};

export const macVerify: Operation = {
  since: 2,
  run: async (asked, payload) => {
    const { id, answer } = await using(asked, payload, usage.macVerify, ({ version }) => {
      requireCmac(payload);
      const cmac = valueOf(version, payload.required('MACData', 'octets'));
      return { action: 'verify', document: { text: encodeBase64(payload.required('Data', 'octets')), cmac } };
    });
    return verdict(id, answer);
  },
};

function done(id: string, ...items: Done['payload'][number][]): Done {
  return { payload: [text('UniqueIdentifier', id), ...items], placeholder: id };
}

function verdict(id: string, answer: Readonly<Record<string, unknown>>): Done {
  const { valid } = answer;
  if (valid === undefined) throw hidden('valid');
  return done(id, enumeration('ValidityIndicator', valid === true ? 'Valid' : 'Invalid'));
}

function isSymmetric(cipher: string): boolean {
  return cipher.startsWith('aes');
}

/** Cryptographic Algorithms by the beginning of the name of a cipher: keys on curves have two. */
const algorithms = [
  ['aes', ['AES']],
  ['rsa', ['RSA']],
  ['ecdsa', ['ECDSA', 'EC']],
  ['ed25519', ['Ed25519']],
] as const satisfies readonly (readonly [string, readonly EnumerationWord<'CryptographicAlgorithm'>[]])[];

/**
 * Cryptographic Parameters of a request to a key of this cipher. Throws for one that is not taken: nobody shall be told that what was asked for was done, or
 * checked, when something else was.
 */
function parametersOf(payload: Fields, cipher: string, taken: readonly TagName[]): Fields | undefined {
  const parameters = payload.structure('CryptographicParameters');
  for (const { tag } of parameters?.items ?? []) {
    const name = tagNameOf(tag);
    if (name === undefined || !(name === 'CryptographicAlgorithm' || taken.includes(name)))
      throw new KmipFailure('FeatureNotSupported', `${name ?? 'A field'} of Cryptographic Parameters is not taken here: leave it out.`);
  }
  const algorithm = parameters?.word('CryptographicAlgorithm');
  const own: readonly string[] = algorithms.find(([prefix]) => cipher.startsWith(prefix))?.[1] ?? [];
  if (algorithm !== undefined && !own.includes(algorithm))
    throw new KmipFailure('InvalidField', `The key is one for ${own.join(' or ')}, and not for ${algorithm}.`);
  return parameters;
}

/** The tag of AES-GCM has a place in messages of 1.4 and later. */
function requireGcm(payload: Fields, version: Version): Fields | undefined {
  const parameters = parametersOf(payload, 'aes', ['BlockCipherMode', 'PaddingMethod', 'RandomIV', 'TagLength', 'IVLength']);
  const mode = parameters?.word('BlockCipherMode') ?? 'GCM';
  if (mode !== 'GCM') throw new KmipFailure('FeatureNotSupported', `Transit keys encrypt with AES-GCM, and not with ${mode}.`);
  if (!isFrom(version, 4))
    throw new KmipFailure('FeatureNotSupported', 'AES-GCM has a tag, which messages of 1.4 and later can carry: use one of them.');
  const tag = parameters?.value('TagLength', 'integer') ?? tagOctets;
  const nonce = parameters?.value('IVLength', 'integer') ?? nonceOctets;
  if (tag !== tagOctets || nonce !== nonceOctets)
    throw new KmipFailure('FeatureNotSupported', `Transit keys have tags of ${tagOctets} octets and nonces of ${nonceOctets}.`);
  const padding = parameters?.word('PaddingMethod') ?? 'None';
  if (padding !== 'None') throw new KmipFailure('FeatureNotSupported', `AES-GCM has no padding, and so not ${padding}.`);
  return parameters;
}

function associated(payload: Fields): JsonObject {
  const data = payload.value('AuthenticatedEncryptionAdditionalData', 'octets');
  return data === undefined ? {} : { 'associated-data': encodeBase64(data) };
}

const hashes: Readonly<Partial<Record<EnumerationWord<'HashingAlgorithm'>, string>>> = {
  SHA_1: 'sha1',
  SHA_256: 'sha256',
  SHA_384: 'sha384',
  SHA_512: 'sha512',
};

function hashOf(word: EnumerationWord<'HashingAlgorithm'> | undefined): string | undefined {
  if (word === undefined) return undefined;
  const name = hashes[word];
  if (name === undefined) throw new KmipFailure('FeatureNotSupported', `Transit keys do not use the hash ${word}.`);
  return name;
}

/** RSA-OAEP: without a Hashing Algorithm SHA-256, whose mask function has the same hash unless another is named. */
function oaepOf(payload: Fields): JsonObject {
  const parameters = parametersOf(payload, 'rsa', ['PaddingMethod', 'HashingAlgorithm', ...maskFields, 'PSource']);
  const padding = parameters?.word('PaddingMethod') ?? 'OAEP';
  if (padding !== 'OAEP') throw new KmipFailure('FeatureNotSupported', `RSA keys encrypt with OAEP, and not with ${padding}.`);
  const label = parameters?.value('PSource', 'octets');
  return defined({
    'hash-algorithm': hashOf(parameters?.word('HashingAlgorithm')),
    'mgf1-hash': maskHashOf(parameters),
    label: label === undefined || label.length === 0 ? undefined : encodeBase64(label),
  });
}

const maskFields = ['MaskGenerator', 'MaskGeneratorHashingAlgorithm'] as const satisfies readonly TagName[];

/** The hash of the mask function of OAEP and PSS, which is MGF1. */
function maskHashOf(parameters: Fields | undefined): string | undefined {
  parameters?.word('MaskGenerator');
  const hash = parameters?.value('MaskGeneratorHashingAlgorithm', 'enumeration');
  if (hash === undefined) return undefined;
  const word = enumerationNameOf('HashingAlgorithm', hash);
  if (word === undefined)
    throw new KmipFailure('InvalidField', `MaskGeneratorHashingAlgorithm has a value that is not known: ${hex(hash)}.`);
  return hashOf(word);
}

type Scheme = { readonly family: string; readonly hash?: string; readonly padding?: 'pkcs1v15' | 'pss' };

/** Digital Signature Algorithms that name hash and padding together. */
const schemes: Readonly<Partial<Record<EnumerationWord<'DigitalSignatureAlgorithm'>, Scheme>>> = {
  SHA_256WithRSAEncryption: { family: 'rsa', hash: 'sha256', padding: 'pkcs1v15' },
  SHA_384WithRSAEncryption: { family: 'rsa', hash: 'sha384', padding: 'pkcs1v15' },
  SHA_512WithRSAEncryption: { family: 'rsa', hash: 'sha512', padding: 'pkcs1v15' },
  RSASSA_PSS: { family: 'rsa', padding: 'pss' },
  ECDSAWithSHA256: { family: 'ecdsa', hash: 'sha256' },
  ECDSAWithSHA384: { family: 'ecdsa', hash: 'sha384' },
  ECDSAWithSHA512: { family: 'ecdsa', hash: 'sha512' },
};

const paddings: Readonly<Partial<Record<EnumerationWord<'PaddingMethod'>, 'pkcs1v15' | 'pss'>>> = { PKCS1V1_5: 'pkcs1v15', PSS: 'pss' };

/** The options of a signature. ECDSA signatures are DER. */
function signatureOf(payload: Fields, cipher: string): JsonObject {
  const parameters = parametersOf(payload, cipher, ['DigitalSignatureAlgorithm', 'PaddingMethod', 'HashingAlgorithm', ...pssFields]);
  const algorithm = parameters?.word('DigitalSignatureAlgorithm');
  const scheme = algorithm === undefined ? undefined : schemes[algorithm];
  if (algorithm !== undefined && scheme === undefined)
    throw new KmipFailure('FeatureNotSupported', `Transit keys do not sign with ${algorithm}.`);
  if (scheme !== undefined && !cipher.startsWith(scheme.family))
    throw new KmipFailure('InvalidField', `A key with cipher ${cipher} does not sign with ${algorithm}.`);
  const padding = parameters?.word('PaddingMethod');
  const padded = padding === undefined ? undefined : paddings[padding];
  if (padding !== undefined && padded === undefined && !(padding === 'None' && !cipher.startsWith('rsa')))
    throw new KmipFailure('FeatureNotSupported', `Transit keys do not sign with the padding ${padding}.`);
  const stated = hashOf(parameters?.word('HashingAlgorithm'));
  if (differs(scheme?.hash, stated) || differs(scheme?.padding, padded))
    throw new KmipFailure('InvalidField', 'Digital Signature Algorithm, Hashing Algorithm and Padding Method contradict each other.');
  const [hash, way] = [stated ?? scheme?.hash, padded ?? scheme?.padding];
  return defined({ 'hash-algorithm': requirePss(parameters, hash, way), 'signature-algorithm': way });
}

const pssFields = ['SaltLength', ...maskFields, 'TrailerField'] as const satisfies readonly TagName[];

/** Octets of the salt of PSS: as many as the hash has. */
const saltOctets: Readonly<Partial<Record<string, number>>> = { sha256: 32, sha384: 48, sha512: 64 };

/** Requires that what is said of PSS is what transit keys do; returns the hash, which is then a certain one. */
function requirePss(parameters: Fields | undefined, hash: string | undefined, padding: Scheme['padding']): string | undefined {
  if (pssFields.every((name) => parameters?.item(name) === undefined)) return hash;
  if (padding !== 'pss')
    throw new KmipFailure('InvalidField', 'Salt Length, Mask Generator and Trailer Field are for PSS: name it as the Padding Method, too.');
  const certain = hash ?? 'sha256';
  const salt = parameters?.value('SaltLength', 'integer') ?? saltOctets[certain];
  const trailer = parameters?.value('TrailerField', 'integer') ?? 1;
  if (salt !== saltOctets[certain] || differs(maskHashOf(parameters), certain) || trailer !== 1)
    throw new KmipFailure(
      'FeatureNotSupported',
      `Transit keys sign by PSS with a salt as long as the hash (${saltOctets[certain]} octets), MGF1 with that hash, and the trailer field 1.`,
    );
  return certain;
}

function differs(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

/** Data, or from 1.4 on its finished hash. */
function signed(payload: Fields): JsonObject {
  const digest = payload.value('DigestedData', 'octets');
  if (digest === undefined) return { text: encodeBase64(payload.required('Data', 'octets')) };
  if (payload.item('Data') !== undefined) throw new KmipFailure('InvalidField', 'Give Data or Digested Data, one of the two.');
  return { text: encodeBase64(digest), prehashed: true };
}

function requireCmac(payload: Fields): void {
  const mode = parametersOf(payload, 'aes', ['BlockCipherMode'])?.word('BlockCipherMode') ?? 'CMAC';
  if (mode !== 'CMAC')
    throw new KmipFailure('FeatureNotSupported', 'Transit keys for MACs make AES-CMAC: leave Cryptographic Parameters out, or name that.');
}

function valueOf(version: number, sealed: Uint8Array): string {
  return `store:v${version}:${encodeBase64(sealed)}`;
}

/** The octets of a value of the service, behind its prefix if it has one. */
function valueIn(answer: Readonly<Record<string, unknown>>, name: string): Uint8Array {
  const value = answer[name];
  if (typeof value !== 'string') throw hidden(name);
  const found = decodeBase64(value.slice(value.lastIndexOf(':') + 1));
  if (found === undefined) throw new Error('an answer of the API without octets');
  return found;
}
