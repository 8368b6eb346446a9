// The rules of certificates: clean ones keep them all, and for each rule a changed tbsCertificate breaks that one alone.
import { describe, expect, test } from 'vitest';
import {
  bitString,
  boolean,
  encode,
  explicit,
  implicit,
  integer,
  namedBits,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
  tag,
  utf8String,
} from '../../../../core/der/der.ts';
import { basicConstraints, dnsName, extKeyUsage, keyUsage, subjectAltName } from '../../../../plugins/ca/der/extensions.ts';
import { spkiNamedAs } from '../../../../core/der/rsa-pss.ts';
import { commonName } from '../../../../core/der/name.ts';
import { extensionId, nameAttributes } from '../../../../core/der/oids.ts';
import { certificateLints } from '../../../../plugins/ca/lints/certificate-lints.ts';
import { findBrokenLints } from '../../../../plugins/ca/lints/lint.ts';
import type { Signer } from '../../../../plugins/ca/lints/signer-lints.ts';
import type { KeyType } from '../../../../hsm/api.ts';
import {
  elements,
  extensionsOf,
  field,
  leafOf,
  makePublicKey,
  makeSigner,
  rootOf,
  unsigned,
  withExtension,
  withExtensions,
  withFields,
} from './mutations.ts';

const keyTypes: readonly KeyType[] = [
  'ecdsa-p256',
  'ecdsa-p384',
  'ecdsa-p521',
  'rsa-2048',
  'ed25519',
  'ml-dsa-44',
  'ml-dsa-65',
  'ml-dsa-87',
];

const signer = makeSigner('ecdsa-p256');
const root = rootOf(signer);
const issuer = unsigned(root, signer);
const keys = Object.fromEntries(keyTypes.map((keyType) => [keyType, makePublicKey(keyType)])) as Record<KeyType, Uint8Array>;
const leaf = leafOf(keys['ecdsa-p256'], signer);

const check = (tbs: Uint8Array, by: Signer = signer, above: Uint8Array | undefined = issuer): string[] =>
  findBrokenLints({ kind: 'certificate', issuer: above }, tbs, by).map(({ id }) => id);

const other = { algorithm: sequence(objectIdentifier('1.2.840.10045.4.3.3')), nullParameters: '1.2.840.10045.4.3.2' };
const oid = objectIdentifier;
const set = (...parts: Uint8Array[]): Uint8Array => encode(tag.set, ...parts);
const printable = (text: string): Uint8Array => encode(tag.printableString, Buffer.from(text, 'latin1'));
const attribute = (type: string, value: Uint8Array): Uint8Array => sequence(set(sequence(oid(type), value)));
const extension = (id: string, value: Uint8Array, critical?: boolean): Uint8Array =>
  sequence(oid(id), ...(critical === undefined ? [] : [boolean(critical)]), octetString(value));
const utc = (text: string): Uint8Array => encode(tag.utcTime, Buffer.from(text));
const generalized = (text: string): Uint8Array => encode(tag.generalizedTime, Buffer.from(text));
const names = (...entries: Uint8Array[]): Uint8Array => leafOf(keys['ecdsa-p256'], signer, entries);
const subject = (name: Uint8Array): Uint8Array => withFields(leaf, { [field.subject]: name });
const swap = (id: string, value: Uint8Array | undefined): Uint8Array => withExtension(leaf, id, value);
const bits = (...set_: number[]): Uint8Array => extension(extensionId.keyUsage, namedBits(set_), true);
const algorithmOf = (keyType: KeyType): Uint8Array => elements(keys[keyType])[0] as Uint8Array;
const keyOf = (keyType: KeyType, octets: Uint8Array, identifier = algorithmOf(keyType)): Uint8Array =>
  withFields(leaf, { [field.publicKey]: sequence(identifier, bitString(octets)) });

const pssKey = (...parameters: Uint8Array[]): Uint8Array =>
  spkiNamedAs(sequence(sequence(oid('1.2.840.113549.1.1.10'), ...parameters), bitString(Uint8Array.of(0))), keys['rsa-2048']);

/** What breaks each rule, and nothing else. */
const mutations: Readonly<Record<string, () => string[]>> = {
  der: () => check(withFields(leaf, { [field.serial]: encode(tag.integer, Uint8Array.of(0, 0x41)) })),
  'der-default': () =>
    check(swap(extensionId.subjectKeyIdentifier, extension(extensionId.subjectKeyIdentifier, octetString(Buffer.alloc(20, 1)), false))),
  version: () => check(withFields(leaf, { [field.version]: explicit(0, integer(1)) })),
  'serial-number': () => check(withFields(leaf, { [field.serial]: encode(tag.integer, Buffer.alloc(16, 0x81)) })),
  'issuer-name': () => check(withFields(leaf, { [field.issuer]: commonName('Root') })),
  'validity-form': () => check(withFields(leaf, { [field.validity]: sequence(utc('260101000000Z'), generalized('20360101000000Z')) })),
  'validity-order': () => check(withFields(leaf, { [field.validity]: sequence(utc('260101000001Z'), utc('260101000000Z')) })),
  'no-unique-ids': () => check(sequence(...elements(leaf).toSpliced(field.extensions, 0, implicit(1, Uint8Array.of(0, 1))))),
  'ca-subject': () => check(withExtensions(subject(sequence()), extensionsOf(rootOf(signer)).with(3, extensionsOf(leaf)[4] as Uint8Array))),
  'leaf-name': () => check(subject(sequence())),
  'rsa-signature': () => signedAs('rsa-2048', sequence(oid('1.2.840.113549.1.1.11'))),
  'ecdsa-signature': () => signedAs('ecdsa-p256', sequence(oid(other.nullParameters), nullValue)),
  'ed25519-signature': () => signedAs('ed25519', sequence(oid('1.3.101.112'), nullValue)),
  'ml-dsa-signature': () => signedAs('ml-dsa-65', sequence(oid('2.16.840.1.101.3.4.3.17'))),
  'signature-algorithm': () => check(withFields(leaf, { [field.signature]: other.algorithm })),
  'extension-twice': () => check(withExtensions(leaf, [...extensionsOf(leaf), extensionsOf(leaf)[3] as Uint8Array])),
  critical: () => check(withExtension(leaf, '1.3.6.1.4.1.99999.1', extension('1.3.6.1.4.1.99999.1', nullValue, true))),
  'authority-key-identifier': () =>
    check(swap(extensionId.authorityKeyIdentifier, extension(extensionId.authorityKeyIdentifier, sequence(implicit(0, Buffer.alloc(20)))))),
  'subject-key-identifier': () => check(swap(extensionId.subjectKeyIdentifier, extension(extensionId.subjectKeyIdentifier, octetString()))),
  'key-usage-bits': () =>
    check(swap(extensionId.keyUsage, extension(extensionId.keyUsage, encode(tag.bitString, Uint8Array.of(6, 0x80)), true))),
  'key-usage-ca': () => check(swap(extensionId.keyUsage, keyUsage('digitalSignature', 'keyCertSign'))),
  'key-usage-present': () => check(swap(extensionId.keyUsage, undefined)),
  'rsa-key-usage': () => check(withExtension(leafOf(keys['rsa-2048'], signer), extensionId.keyUsage, bits(0, 4))),
  'ec-key-usage': () => check(swap(extensionId.keyUsage, bits(0, 2))),
  'ed25519-key-usage': () => check(withExtension(leafOf(keys.ed25519, signer), extensionId.keyUsage, bits(0, 4))),
  'ml-dsa-key-usage': () => check(withExtension(leafOf(keys['ml-dsa-44'], signer), extensionId.keyUsage, bits(0, 2))),
  'basic-constraints': () => check(swap(extensionId.basicConstraints, extension(extensionId.basicConstraints, sequence()))),
  'path-length': () => check(swap(extensionId.basicConstraints, extension(extensionId.basicConstraints, sequence(integer(0)), true))),
  purposes: () => check(withExtension(swap(extensionId.keyUsage, bits(1)), extensionId.extKeyUsage, extKeyUsage('clientAuth'))),
  'policy-twice': () => {
    const policy = sequence(oid('1.3.6.1.4.1.99999.2'));
    return check(swap(extensionId.certificatePolicies, extension(extensionId.certificatePolicies, sequence(policy, policy))));
  },
  'policy-mappings': () => check(swap(extensionId.policyMappings, extension(extensionId.policyMappings, sequence()))),
  'constraints-of-ca': () => check(swap(extensionId.inhibitAnyPolicy, extension(extensionId.inhibitAnyPolicy, integer(0)))),
  'name-constraints': () =>
    check(
      swap(
        extensionId.nameConstraints,
        extension(extensionId.nameConstraints, sequence(explicit(0, sequence(implicit(2, Buffer.from('a'))))), true),
      ),
    ),
  'crl-distribution-points': () =>
    check(
      swap(
        extensionId.crlDistributionPoints,
        extension(extensionId.crlDistributionPoints, sequence(sequence(implicit(1, Uint8Array.of(0, 1))))),
      ),
    ),
  'authority-info-access': () =>
    check(
      swap(
        extensionId.authorityInfoAccess,
        extension(extensionId.authorityInfoAccess, sequence(sequence(oid('1.3.6.1.5.5.7.48.1'), implicit(6, Buffer.from('/ocsp'))))),
      ),
    ),
  'name-string-type': () => check(subject(attribute(nameAttributes.serialNumber, utf8String('17')))),
  'name-characters': () => check(subject(attribute(nameAttributes.CN, printable('device@example')))),
  'name-seen': () => check(subject(attribute(nameAttributes.CN, utf8String('device\u202e')))),
  'relative-name-not-empty': () => check(subject(sequence(set(sequence(oid(nameAttributes.CN), utf8String('device'))), set()))),
  'name-not-empty': () => check(subject(attribute(nameAttributes.CN, utf8String('')))),
  'name-upper-bound': () => check(subject(attribute(nameAttributes.CN, utf8String('é'.repeat(65))))),
  'country-name': () => check(subject(attribute(nameAttributes.C, printable('D')))),
  'alternative-names': () => check(names()),
  'dns-name': () => check(names(dnsName('device.example.test'), dnsName('-device.example.test'))),
  'email-name': () => check(names(implicit(1, Buffer.from('<device@example.test>')))),
  'uri-name': () => check(names(implicit(6, Buffer.from('//example.test/device')))),
  'ip-name': () => check(names(implicit(7, Uint8Array.of(192, 0, 2, 0, 255, 255, 255, 0)))),
  'key-algorithm': () => check(keyOf('ed25519', Buffer.alloc(57), sequence(oid('1.3.101.113')))),
  'rsa-key': () => check(keyOf('rsa-2048', sequence(encode(tag.integer, Buffer.alloc(256, 0x81)), integer(65_537)))),
  'rsa-pss-key': () => check(leafOf(pssKey(sequence()), signer)),
  'rsa-pss-key-usage': () => check(withExtension(leafOf(pssKey(), signer), extensionId.keyUsage, bits(0, 2))),
  'ec-key': () => check(keyOf('ecdsa-p256', Buffer.alloc(65, 6))),
  'ed25519-key': () => check(keyOf('ed25519', Buffer.alloc(32), sequence(oid('1.3.101.112'), nullValue))),
  'ml-dsa-key': () => check(keyOf('ml-dsa-44', Buffer.alloc(1_952))),
};

/** A root of this key type whose algorithm, inside and beside, is another. */
function signedAs(keyType: KeyType, algorithm: Uint8Array): string[] {
  const by = { ...makeSigner(keyType), algorithm };
  return findBrokenLints({ kind: 'certificate' }, rootOf(by), by).map(({ id }) => id);
}

describe('rules of certificates', () => {
  test.each(keyTypes)('a root and a device certificate with a key %s keep every rule', (keyType) => {
    const by = makeSigner(keyType);
    expect(findBrokenLints({ kind: 'certificate' }, rootOf(by), by)).toEqual([]);
    expect(check(leafOf(keys[keyType], signer))).toEqual([]);
    expect(check(leafOf(keys[keyType], by), by, unsigned(rootOf(by), by))).toEqual([]);
  });

  test('every rule has a certificate that breaks it', () => {
    expect(Object.keys(mutations).toSorted()).toEqual(certificateLints.map(({ id }) => id).toSorted());
  });

  test.each(Object.entries(mutations))('%s is broken alone', (id, broken) => {
    expect(broken()).toEqual([id]);
  });

  test('what is not a tbsCertificate breaks structure', () => {
    for (const tbs of [
      new Uint8Array(0),
      leaf.subarray(0, -1),
      Buffer.concat([leaf, nullValue]),
      withFields(leaf, { [field.validity]: sequence(utc('260101000000Z')) }),
      withFields(leaf, { [field.subject]: undefined }),
      sequence(...elements(leaf), nullValue),
    ]) {
      expect(check(tbs)).toEqual(['structure']);
    }
  });

  test('names on record are not judged again', () => {
    const long = withExtension(subject(commonName('x'.repeat(65))), extensionId.subjectAltName, subjectAltName([dnsName('a b')], false));
    expect(check(long).toSorted()).toEqual(['dns-name', 'name-upper-bound']);
    expect(findBrokenLints({ kind: 'certificate', issuer, namesOnRecord: true }, long, signer)).toEqual([]);
  });

  test('a path length is the business of CAs', () => {
    expect(check(withExtension(root, extensionId.basicConstraints, basicConstraints({ pathLength: 0 })), signer, undefined)).toEqual([]);
  });
});
