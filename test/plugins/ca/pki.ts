// Keys, requests and certificates for tests, made by @peculiar/x509 and WebCrypto: another implementation than the one under test.
import 'reflect-metadata';
import { generateKeyPairSync, KeyObject, sign, webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { bitString, explicit, integer, objectIdentifier, sequence } from '../../../core/der/der.ts';

/** The library, once its polyfill and WebCrypto are in place. */
export { x509 };

x509.cryptoProvider.set(webcrypto as unknown as Crypto);

export type KeyName =
  | 'P-256'
  | 'P-384'
  | 'P-521'
  | 'RSA-1024'
  | 'RSA-2048'
  | 'RSA-3072'
  | 'Ed25519'
  | 'ML-DSA-44'
  | 'ML-DSA-65'
  | 'ML-DSA-87';

export type Keys = CryptoKeyPair & { readonly pem: string; readonly signing: { name: string; hash?: string } };

export async function makeKeys(name: KeyName): Promise<Keys> {
  const algorithm = generationOf(name);
  const pair = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as unknown as CryptoKeyPair;
  const pem = KeyObject.from(pair.privateKey as never).export({ format: 'pem', type: 'pkcs8' });
  return { ...pair, pem, signing: signingOf(name) };
}

function generationOf(name: KeyName): Parameters<typeof webcrypto.subtle.generateKey>[0] {
  if (name.startsWith('P-')) return { name: 'ECDSA', namedCurve: name } as never;
  if (name.startsWith('RSA-')) {
    return {
      name: 'RSASSA-PKCS1-v1_5',
      hash: 'SHA-256',
      modulusLength: Number(name.slice(4)),
      publicExponent: new Uint8Array([1, 0, 1]),
    } as never;
  }
  return { name };
}

function signingOf(name: KeyName): { name: string; hash?: string } {
  if (name.startsWith('P-'))
    return { name: 'ECDSA', hash: { 'P-256': 'SHA-256', 'P-384': 'SHA-384', 'P-521': 'SHA-512' }[name as 'P-256'] };
  return name.startsWith('RSA-') ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } : { name };
}

/** Alternative names as @peculiar/x509 writes them. */
export type Names = x509.JsonGeneralNames;

export type CsrOptions = {
  readonly keys: Keys;
  readonly subject?: string | x509.JsonName;
  readonly names?: Names;
  readonly extensions?: readonly x509.Extension[];
  readonly attributes?: readonly x509.Attribute[];
  readonly hash?: string;
};

/** DER of a PKCS#10 request. */
export async function makeCsr({ keys, subject = '', names, extensions = [], attributes = [], hash }: CsrOptions): Promise<Buffer> {
  const csr = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys,
    signingAlgorithm: hash === undefined ? keys.signing : { ...keys.signing, hash },
    extensions: [...(names === undefined ? [] : [new x509.SubjectAlternativeNameExtension(names)]), ...extensions],
    attributes: [...attributes],
  });
  return Buffer.from(csr.rawData);
}

/** A request for this very Name (DER), with a P-256 key that is discarded. */
export function makeCsrOf(subject: Uint8Array, version = 0): Buffer {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const info = sequence(integer(version), subject, publicKey.export({ format: 'der', type: 'spki' }), explicit(0));
  return Buffer.from(sequence(info, sequence(objectIdentifier('1.2.840.10045.4.3.2')), bitString(sign('sha256', info, privateKey))));
}

/** A device's request with one DNS name, as common name and alternative name. */
export async function makeDeviceCsr(keys: Keys, name: string): Promise<Buffer> {
  return makeCsr({ keys, subject: `CN=${name}`, names: [{ type: 'dns', value: name }] });
}

/** A certificate with its key: a CA of the tests, or a device's birth certificate. */
export type Identity = { readonly keys: Keys; readonly certificate: Buffer; readonly pem: string };

export type CertificateOptions = {
  readonly key?: KeyName;
  /** in place of new ones */
  readonly keys?: Keys;
  readonly subject?: string;
  readonly issuer?: Identity;
  /** true: a CA without path length; a number: with it */
  readonly ca?: boolean | number;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly extensions?: readonly x509.Extension[];
  /** of the signature; what fits the signing key unless given */
  readonly hash?: string;
};

/** keyUsage, critical. */
export function usages(...names: readonly (keyof typeof x509.KeyUsageFlags)[]): x509.KeyUsagesExtension {
  const flags: number = names.reduce((sum, name) => sum | x509.KeyUsageFlags[name], 0);
  // The library names single flags only; a combination has no name.
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
  return new x509.KeyUsagesExtension(flags, true);
}

/** Makes a certificate with key usage and constraints that fit; `extensions` come on top. */
export async function makeIdentity(options: CertificateOptions = {}): Promise<Identity> {
  const { key = 'P-256', subject = 'CN=test', issuer, ca = false, extensions = [] } = options;
  const keys = options.keys ?? (await makeKeys(key));
  const now = Date.now();
  const own = new Set(extensions.map(({ type }) => type));
  const defaults: x509.Extension[] = [
    new x509.BasicConstraintsExtension(ca !== false, typeof ca === 'number' ? ca : undefined, true),
    usages(...(ca === false ? (['digitalSignature'] as const) : (['keyCertSign', 'cRLSign'] as const))),
    await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
  ];
  const signer = issuer?.keys ?? keys;
  const certificate = await x509.X509CertificateGenerator.create({
    subject,
    issuer: issuer === undefined ? subject : new x509.X509Certificate(new Uint8Array(issuer.certificate)).subjectName.toString(),
    publicKey: keys.publicKey,
    signingKey: signer.privateKey,
    signingAlgorithm: options.hash === undefined ? signer.signing : { ...signer.signing, hash: options.hash },
    notBefore: options.notBefore ?? new Date(now - 3_600_000),
    notAfter: options.notAfter ?? new Date(now + 30 * 86_400_000),
    extensions: [...defaults.filter(({ type }) => !own.has(type)), ...extensions],
  });
  return { keys, certificate: Buffer.from(certificate.rawData), pem: certificate.toString('pem') };
}

/** The certificates of a certs-only answer, in base64 or DER, as @peculiar/x509 reads it. */
export function readCertsOnly(body: string | Buffer): X509Certificate[] {
  const der = typeof body === 'string' ? Buffer.from(body.replaceAll('\n', ''), 'base64') : body;
  const certificates = new x509.X509Certificates(new Uint8Array(der));
  return Array.from(certificates, (certificate) => new X509Certificate(Buffer.from(certificate.rawData)));
}
