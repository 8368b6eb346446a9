// Keys and certificates as a program sees them: three objects a key, with the same CKA_ID and CKA_LABEL.
import { createHash, type X509Certificate } from 'node:crypto';
import { Reader, readBitString, readOnly, tag } from '../../../core/der/der.ts';
import { type Attributes, flag, number } from '../../../hsm/p11-kit/attributes.ts';
import type { ShownObject } from '../../../hsm/p11-kit/remote-token.ts';
import * as ck from '../../../hsm/pkcs11/constants.ts';

/** Hash functions of signatures. */
export type HashName = 'sha256' | 'sha384' | 'sha512';

/** A version of a key that signs. */
export type SigningKey = {
  readonly name: string;
  readonly version: number;
  readonly family: 'rsa' | 'ec';
  readonly signatureOctets: number;
  /** a key for RSASSA-PSS makes nothing else; with `hash`, with this one alone */
  readonly pssOnly: { readonly hash?: HashName | undefined } | undefined;
};

/** A version as the appliance describes it, and its name on the token. */
export type KeyVersion = {
  readonly name: string;
  readonly version: number;
  readonly label: string;
  /** DER SubjectPublicKeyInfo */
  readonly publicKey: Buffer;
  readonly pssOnly: SigningKey['pssOnly'];
};

/** Certificates of a file: that of a key, and those above it. */
export type Chain = readonly X509Certificate[];

type Numbers = Pick<SigningKey, 'family' | 'signatureOctets'> & { readonly attributes: readonly (readonly [number, Buffer])[] };

const octetsOfCoordinates: Readonly<Record<number, number>> = { 65: 32, 97: 48, 133: 66 };

/** Objects of one version: the private key, the public key, and its certificates. Throws for a public key that is neither RSA nor EC. */
export function objectsOf(shown: KeyVersion, chain: Chain): readonly ShownObject<SigningKey>[] {
  const { name, version, label, publicKey, pssOnly } = shown;
  const { family, signatureOctets, attributes } = numbersOf(publicKey);
  const key: SigningKey = { name, version, family, signatureOctets, pssOnly };
  const id = keyId(publicKey);
  const subject = chain[0] === undefined ? Buffer.alloc(0) : partsOf(chain[0]).subject;
  const named = [
    ...[attribute.token(true), attribute.label(label), attribute.id(id), attribute.modifiable(false), attribute.copyable(false)],
    [0x172, flag(false)],
  ] as const;
  const ofKey = [...named, [0x100, number(family === 'rsa' ? ck.CKK_RSA : ck.CKK_EC)], ...attributes, [0x129, publicKey]] as const;
  const privateKey: Attributes = new Map<number, Buffer>([
    [0x0, number(ck.CKO_PRIVATE_KEY)],
    [0x2, flag(true)],
    ...ofKey,
    ...on(0x103, 0x108, 0x164, 0x165),
    ...off(0x105, 0x107, 0x109, 0x10c, 0x162, 0x163, 0x202, 0x210),
    [0x101, subject],
  ]);
  const publicAttributes: Attributes = new Map<number, Buffer>([
    [0x0, number(ck.CKO_PUBLIC_KEY)],
    [0x2, flag(false)],
    ...ofKey,
    ...on(0x10a),
    ...off(0x86, 0x104, 0x106, 0x10b, 0x10c, 0x163),
    [0x101, subject],
  ]);
  const certificates = chain.map((certificate, place) =>
    certificateObject(key, certificate, place === 0 ? named : issuerNames(certificate, `${label} issuer ${place}`)),
  );
  return [{ key, isPrivate: true, attributes: privateKey }, { key, isPrivate: false, attributes: publicAttributes }, ...certificates];
}

const attribute = {
  token: (value: boolean) => [0x1, flag(value)] as const,
  label: (value: string) => [0x3, Buffer.from(value)] as const,
  id: (value: Buffer) => [0x102, value] as const,
  modifiable: (value: boolean) => [0x170, flag(value)] as const,
  copyable: (value: boolean) => [0x171, flag(value)] as const,
};

const on = (...types: readonly number[]) => types.map((type) => [type, flag(true)] as const);
const off = (...types: readonly number[]) => types.map((type) => [type, flag(false)] as const);

type Named = readonly (readonly [number, Buffer])[];

function issuerNames({ publicKey }: X509Certificate, label: string): Named {
  const id = keyId(publicKey.export({ format: 'der', type: 'spki' }));
  return [attribute.token(true), attribute.label(label), attribute.id(id), attribute.modifiable(false), attribute.copyable(false)];
}

/** CKC_X_509. */
const x509 = 0;
/** Categories of certificates: of a token's user, of an authority. */
const [tokenUser, authority] = [1, 2];

function certificateObject(key: SigningKey, certificate: X509Certificate, named: Named): ShownObject<SigningKey> {
  const { subject, issuer, serialNumber } = partsOf(certificate);
  const attributes = new Map<number, Buffer>([
    [0x0, number(ck.CKO_CERTIFICATE)],
    [0x2, flag(false)],
    ...named,
    [0x80, number(x509)],
    [0x86, flag(false)],
    [0x87, number(certificate.ca ? authority : tokenUser)],
    [0x101, subject],
    [0x81, issuer],
    [0x82, serialNumber],
    [0x11, certificate.raw],
  ]);
  return { key, isPrivate: false, attributes };
}

/** Issuer, serial number and subject of a certificate, DER (RFC 5280 section 4.1). */
function partsOf({ raw }: X509Certificate): Readonly<Record<'subject' | 'issuer' | 'serialNumber', Buffer>> {
  const body = new Reader(raw).enter(tag.sequence).enter(tag.sequence);
  body.optional(tag.constructed(0));
  const serialNumber = Buffer.from(body.next(tag.integer).whole);
  body.next(tag.sequence);
  const issuer = Buffer.from(body.next(tag.sequence).whole);
  body.next(tag.sequence);
  return { serialNumber, issuer, subject: Buffer.from(body.next(tag.sequence).whole) };
}

/** The CKA_ID: SHA-1 of the octets of the public key, as the key identifiers of RFC 5280 section 4.2.1.2. */
function keyId(publicKey: Uint8Array): Buffer {
  return createHash('sha1').update(subjectPublicKey(publicKey).octets).digest();
}

function subjectPublicKey(publicKey: Uint8Array): { readonly algorithm: Reader; readonly octets: Uint8Array } {
  const info = readOnly(publicKey, tag.sequence);
  const algorithm = info.enter(tag.sequence);
  return { algorithm, octets: readBitString(info.next(tag.bitString).content) };
}

function numbersOf(publicKey: Uint8Array): Numbers {
  const { algorithm, octets } = subjectPublicKey(publicKey);
  algorithm.next(tag.oid);
  if (octets[0] === tag.sequence) return rsaNumbers(octets);
  const coordinateOctets = octetsOfCoordinates[octets.length];
  if (octets[0] !== 4 || coordinateOctets === undefined) throw new Error('the public key is neither RSA nor on a curve of NIST');
  const parameters = Buffer.from(algorithm.next(tag.oid).whole);
  const point = Buffer.concat([Buffer.of(tag.octetString, ...(octets.length < 128 ? [octets.length] : [0x81, octets.length])), octets]);
  return {
    family: 'ec',
    signatureOctets: 2 * coordinateOctets,
    attributes: [
      [0x180, parameters],
      [0x181, point],
    ],
  };
}

/** RSAPublicKey (RFC 8017 appendix A.1.1). PKCS#11 has its numbers without a sign octet. */
function rsaNumbers(octets: Uint8Array): Numbers {
  const numbers = readOnly(octets, tag.sequence);
  const [modulus, exponent] = [numbers.next(tag.integer).content, numbers.next(tag.integer).content].map(unsigned) as [Buffer, Buffer];
  return {
    family: 'rsa',
    signatureOctets: modulus.length,
    attributes: [
      [0x120, modulus],
      [0x121, number(8 * modulus.length - Math.clz32(modulus[0] ?? 0) + 24)],
      [0x122, exponent],
    ],
  };
}

function unsigned(octets: Uint8Array): Buffer {
  return Buffer.from(octets[0] === 0 ? octets.subarray(1) : octets);
}
