// What the tests of the rules start from: one clean structure of each kind, and ways to change a single part of its DER.
import { generateKeyPairSync } from 'node:crypto';
import { requireCaAlgorithm } from '../../../../plugins/ca/authority/algorithms.ts';
import { encodeTbsCertificate } from '../../../../plugins/ca/der/certificate.ts';
import { explicit, Reader, readObjectIdentifier, sequence, tag } from '../../../../core/der/der.ts';
import {
  authorityInfoAccess,
  authorityKeyIdentifier,
  basicConstraints,
  crlDistributionPoint,
  dnsName,
  extKeyUsage,
  keyIdentifierOf,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier,
} from '../../../../plugins/ca/der/extensions.ts';
import { commonName } from '../../../../core/der/name.ts';
import type { Signer } from '../../../../plugins/ca/lints/signer-lints.ts';
import type { KeyType } from '../../../../hsm/api.ts';

/** DER SubjectPublicKeyInfo of a new key. */
export function makePublicKey(keyType: KeyType): Uint8Array {
  return new Uint8Array(generate(keyType).publicKey.export({ format: 'der', type: 'spki' }));
}

function generate(keyType: KeyType) {
  if (keyType.startsWith('ecdsa-p')) return generateKeyPairSync('ec', { namedCurve: `P-${keyType.slice(-3)}` });
  if (keyType.startsWith('rsa-')) return generateKeyPairSync('rsa', { modulusLength: Number(keyType.slice(4)) });
  return generateKeyPairSync(keyType as 'ed25519');
}

/** A key with the algorithm it signs with. */
export function makeSigner(keyType: KeyType): Signer {
  return { publicKey: makePublicKey(keyType), algorithm: requireCaAlgorithm({ type: keyType }).identifier };
}

const notBefore = Temporal.Instant.from('2026-01-01T00:00:00Z');
const notAfter = Temporal.Instant.from('2036-01-01T00:00:00Z');
const serial = Uint8Array.from({ length: 16 }, (_, index) => 0x40 + index);

/** tbsCertificate of a root with this key. */
export function rootOf({ publicKey, algorithm }: Signer): Uint8Array {
  const identifier = keyIdentifierOf(publicKey);
  const name = commonName('root');
  const extensions = [
    basicConstraints({ pathLength: 1 }),
    keyUsage('digitalSignature', 'keyCertSign', 'crlSign'),
    subjectKeyIdentifier(identifier),
    authorityKeyIdentifier(identifier),
  ];
  return encodeTbsCertificate({ serial, issuer: name, subject: name, notBefore, notAfter, publicKey, extensions }, algorithm);
}

/** tbsCertificate of a device with this key, under `rootOf(signer)`. */
export function leafOf(publicKey: Uint8Array, signer: Signer, alternativeNames = [dnsName('device.example.test')]): Uint8Array {
  const extensions = [
    basicConstraints('leaf'),
    keyUsage('digitalSignature'),
    extKeyUsage('clientAuth'),
    subjectKeyIdentifier(keyIdentifierOf(publicKey)),
    authorityKeyIdentifier(keyIdentifierOf(signer.publicKey)),
    subjectAltName(alternativeNames, false),
    crlDistributionPoint('https://keystore.example/crl'),
    authorityInfoAccess('https://keystore.example/ocsp'),
  ];
  const names = { issuer: commonName('root'), subject: commonName('device.example.test') };
  return encodeTbsCertificate({ serial, ...names, notBefore, notAfter, publicKey, extensions }, signer.algorithm);
}

/** A Certificate as a relying party has it; its signature is no signature. */
export function unsigned(tbs: Uint8Array, { algorithm }: Signer): Uint8Array {
  return sequence(tbs, algorithm, Uint8Array.of(tag.bitString, 1, 0));
}

/** Fields of a tbsCertificate by position. */
export const field = { version: 0, serial: 1, signature: 2, issuer: 3, validity: 4, subject: 5, publicKey: 6, extensions: 7 } as const;

/** The elements of a SEQUENCE, each with tag and length. */
export function elements(der: Uint8Array): Uint8Array[] {
  return Array.from(new Reader(new Reader(der).next(tag.sequence).content).rest(), ({ whole }) => whole);
}

/** The same structure with other fields: position by position, undefined to leave one out. */
export function withFields(tbs: Uint8Array, changes: Readonly<Record<number, Uint8Array | undefined>>): Uint8Array {
  return sequence(
    ...elements(tbs).flatMap((element, index) => {
      const changed = index in changes ? changes[index] : element;
      return changed === undefined ? [] : [changed];
    }),
  );
}

/** The same certificate with an extension replaced (in its place), added (at the end) or, by undefined, left out. */
export function withExtension(tbs: Uint8Array, id: string, extension: Uint8Array | undefined): Uint8Array {
  const list = extensionsOf(tbs);
  const at = list.findIndex((one) => idOf(one) === id);
  const wanted = extension === undefined ? [] : [extension];
  return withExtensions(tbs, at < 0 ? [...list, ...wanted] : list.toSpliced(at, 1, ...wanted));
}

/** The same certificate with exactly these extensions. */
export function withExtensions(tbs: Uint8Array, extensions: readonly Uint8Array[]): Uint8Array {
  return withFields(tbs, { [field.extensions]: explicit(3, sequence(...extensions)) });
}

/** The extensions of a tbsCertificate. */
export function extensionsOf(tbs: Uint8Array): Uint8Array[] {
  const list = elements(tbs)[field.extensions];
  return list === undefined ? [] : elements(new Reader(list).next(tag.constructed(3)).content);
}

function idOf(extension: Uint8Array): string {
  return readObjectIdentifier(new Reader(extension).enter(tag.sequence).next(tag.oid).content);
}
