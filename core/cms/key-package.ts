// A private key for somebody else, in CMS (RFC 5958, RFC 7030 section 4.4.2): an asymmetric key package, signed by who made the key, encrypted to the key of a
// certificate.
import {
  constants,
  createCipheriv,
  createHash,
  diffieHellman,
  generateKeyPairSync,
  hash as hashOf,
  type KeyObject,
  publicEncrypt,
  randomBytes,
  X509Certificate,
} from 'node:crypto';
import { cleanly } from '../base/public-keys/openssl.ts';
import { uint32 } from '../base/bytes.ts';
import {
  bitString,
  encode,
  explicit,
  implicit,
  integer,
  nullValue,
  objectIdentifier,
  octetString,
  Reader,
  readObjectIdentifier,
  readBitString,
  readOnly,
  sequence,
  setOf,
  tag,
} from '../der/der.ts';
import { cmsAttribute, contentType } from '../der/oids.ts';
import type { HashName } from '../../hsm/api.ts';
import { cipherIds, hashIds, mgf1, rsaesOaep } from './algorithms.ts';

/** Maker of the key: certificate (DER), algorithm of its signatures (DER AlgorithmIdentifier), signature as X.509 carries it. */
export type PackageSigner = {
  readonly certificate: Uint8Array;
  readonly algorithm: Uint8Array;
  sign(octets: Uint8Array): Promise<Uint8Array>;
};

/** id-ct-KP-aKeyPackage (RFC 5958 section 2). */
const keyPackage = '2.16.840.1.101.2.1.2.78.5';

/**
 * DER ContentInfo of the EnvelopedData. `privateKey`: PKCS#8, which the caller zeroes. Rejects as `sign`. Throws RangeError for a certificate whose key receives
 * nothing: findReceiver says so before.
 */
export async function encryptKeyPackage(privateKey: Uint8Array, signer: PackageSigner, recipient: Uint8Array): Promise<Uint8Array> {
  const content = sequence(privateKey);
  const signed = await signPackage(content, signer);
  try {
    return envelope(signed, recipient);
  } finally {
    content.fill(0);
    signed.fill(0);
  }
}

/** Smallest RSA key to which a key is sent (SP 800-131A, section 6). */
const leastRsaBits = 2_048;

/** The key of a certificate, if messages can be encrypted to it: RSA of 2,048 bits or more by OAEP, ECDH on a curve of NIST; undefined for another one. */
export function findReceiver(certificate: Uint8Array): KeyObject | undefined {
  try {
    const key = cleanly(() => new X509Certificate(certificate).publicKey);
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
    const isStrong = type === 'rsa' && (details?.modulusLength ?? 0) >= leastRsaBits;
    return isStrong || (type === 'ec' && curves.has(details?.namedCurve ?? '')) ? key : undefined;
  } catch {
    return undefined;
  }
}

const curves: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/** Hashes that signature algorithms name; those that hash by themselves have SHA-512 (RFC 8419 section 3.1, RFC 9882 section 3.3). */
const digests: ReadonlyMap<string, HashName> = new Map([
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.113549.1.1.11', 'sha256'],
]);

/** SignedData (RFC 5652 section 5.1) of version 3, since its content is not of type data. */
async function signPackage(content: Uint8Array, signer: PackageSigner): Promise<Uint8Array> {
  const { certificate, algorithm } = signer;
  const digest = digests.get(readObjectIdentifier(new Reader(algorithm).enter(tag.sequence).next(tag.oid).content)) ?? 'sha512';
  const digestAlgorithm = sequence(objectIdentifier(hashIds[digest]));
  const attribute = (type: string, value: Uint8Array): Uint8Array => sequence(objectIdentifier(type), setOf(value));
  const attributes = setOf(
    attribute(cmsAttribute.contentType, objectIdentifier(keyPackage)),
    attribute(cmsAttribute.messageDigest, octetString(hashOf(digest, content, 'buffer'))),
  );
  const signature = await signer.sign(attributes);
  const signed = Uint8Array.from(attributes);
  signed[0] = tag.constructed(0);
  const signerInfo = sequence(integer(1), issuerAndSerial(certificate), digestAlgorithm, signed, algorithm, octetString(signature));
  return sequence(
    integer(3),
    setOf(digestAlgorithm),
    sequence(objectIdentifier(keyPackage), explicit(0, octetString(content))),
    encode(tag.constructed(0), certificate),
    setOf(signerInfo),
  );
}

/** EnvelopedData (RFC 5652 section 6.1) around a SignedData, by AES-256 in CBC mode, which every reader of CMS knows. */
function envelope(signed: Uint8Array, certificate: Uint8Array): Uint8Array {
  const receiver = findReceiver(certificate);
  if (receiver === undefined) throw new RangeError('nothing can be encrypted to the key of the certificate');
  const [key, iv] = [randomBytes(32), randomBytes(16)];
  try {
    const cipher = createCipheriv('aes-256-cbc', key, iv);
    const ciphertext = Buffer.concat([cipher.update(signed), cipher.final()]);
    const isRsa = receiver.asymmetricKeyType === 'rsa';
    const recipient = isRsa ? keyTransport(receiver, certificate, key) : keyAgreement(receiver, certificate, key);
    const encrypted = sequence(
      objectIdentifier(contentType.signedData),
      sequence(objectIdentifier(cipherIds['aes-256-cbc']), octetString(iv)),
      implicit(0, ciphertext),
    );
    const data = sequence(integer(isRsa ? 0 : 2), setOf(recipient), encrypted);
    return sequence(objectIdentifier(contentType.envelopedData), explicit(0, data));
  } finally {
    key.fill(0);
  }
}

/** KeyTransRecipientInfo by RSAES-OAEP with SHA-256 (RFC 8017, RFC 4055 section 4.1). */
function keyTransport(receiver: KeyObject, certificate: Uint8Array, key: Uint8Array): Uint8Array {
  const hash = sequence(objectIdentifier(hashIds.sha256), nullValue);
  const parameters = sequence(explicit(0, hash), explicit(1, sequence(objectIdentifier(mgf1), hash)));
  const how = { key: receiver, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
  const encryptedKey = cleanly(() => publicEncrypt(how, key));
  return sequence(integer(0), issuerAndSerial(certificate), sequence(objectIdentifier(rsaesOaep), parameters), octetString(encryptedKey));
}

/** dhSinglePass-stdDH-sha256kdf-scheme and id-aes256-wrap (RFC 5753 sections 7.1.4 and 7.1.5). */
const stdDhSha256 = '1.3.132.1.11.1';
const aes256Wrap = sequence(objectIdentifier('2.16.840.1.101.3.4.1.45'));
/** RFC 3394 section 2.2.3.1. */
const wrapIv = Buffer.alloc(8, 0xa6);

/** KeyAgreeRecipientInfo: ephemeral-static ECDH, the KDF of X9.63 with SHA-256, AES key wrap (RFC 5753 section 3.1). */
function keyAgreement(receiver: KeyObject, certificate: Uint8Array, key: Uint8Array): Uint8Array {
  const namedCurve = receiver.asymmetricKeyDetails?.namedCurve ?? '';
  const own = generateKeyPairSync('ec', { namedCurve });
  const shared = cleanly(() => diffieHellman({ privateKey: own.privateKey, publicKey: receiver }));
  const info = sequence(aes256Wrap, explicit(2, octetString(uint32(256))));
  const wrapping = createHash('sha256').update(shared).update(uint32(1)).update(info).digest();
  try {
    const wrap = createCipheriv('id-aes256-wrap', wrapping, wrapIv);
    const encryptedKey = Buffer.concat([wrap.update(key), wrap.final()]);
    const spki = readOnly(own.publicKey.export({ format: 'der', type: 'spki' }), tag.sequence);
    const originator = encode(
      tag.constructed(1),
      spki.next(tag.sequence).whole,
      bitString(readBitString(spki.next(tag.bitString).content)),
    );
    return encode(
      tag.constructed(1),
      integer(3),
      explicit(0, originator),
      sequence(objectIdentifier(stdDhSha256), aes256Wrap),
      sequence(sequence(issuerAndSerial(certificate), octetString(encryptedKey))),
    );
  } finally {
    shared.fill(0);
    wrapping.fill(0);
  }
}

/** IssuerAndSerialNumber of a certificate (RFC 5652 section 10.2.4). */
function issuerAndSerial(certificate: Uint8Array): Uint8Array {
  const fields = readOnly(certificate, tag.sequence).enter(tag.sequence);
  fields.optional(tag.constructed(0));
  const serial = fields.next(tag.integer).whole;
  fields.next(tag.sequence);
  return sequence(fields.next(tag.sequence).whole, serial);
}
