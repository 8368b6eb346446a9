// Contents of requests: certification requests and names of certificates, and what is refused with one refusal or with words.
import { constants, generateKeyPairSync, type KeyObject, sign as signWith } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  bitString,
  encode,
  explicit,
  integer,
  nullValue,
  octetString,
  sequence,
  setOf,
  tag,
  utf8String,
} from '../../../../core/der/der.ts';
import { readCertificationRequest, readIssuerAndSerial } from '../../../../plugins/scep/message/content.ts';
import { takeOpensslErrors } from '../../../harness/openssl-queue.ts';
import { algorithm, attribute, ids, namesOf, oid, pssAlgorithm } from '../../../harness/scep/messages.ts';
import { makeDeviceRequest, makeParty, type Party } from './parties.ts';

let device: Party;
beforeAll(async () => {
  device = await makeParty({ key: 'RSA-2048', subject: 'CN=device' });
});

const challenge = '1.2.840.113549.1.9.7';
const extensionRequest = '1.2.840.113549.1.9.14';
const sanId = '2.5.29.17';
const hex = (octets: Uint8Array): string => Buffer.from(octets).toString('hex');

/** PKCS#10 with these attributes, signed by its own key. */
function requestWith(
  attributes: Uint8Array | undefined,
  key: { readonly privateKey: KeyObject; readonly publicKey: KeyObject } = device,
  signed: 'sha256' | 'sha1' | 'pss' | 'other' = 'sha256',
): Uint8Array {
  const { subject } = namesOf(device.certificate);
  const spki = key.publicKey.export({ format: 'der', type: 'spki' });
  const info = sequence(integer(0), subject, spki, ...(attributes === undefined ? [] : [attributes]));
  if (signed === 'pss') {
    const options = { key: key.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
    return sequence(info, pssAlgorithm('sha256', 32), bitString(signWith('sha256', info, options)));
  }
  const id = { sha256: '1.2.840.113549.1.1.11', sha1: '1.2.840.113549.1.1.5', other: '1.2.840.113549.1.1.14' }[signed];
  const made = signWith(signed === 'sha1' ? 'sha1' : 'sha256', info, key.privateKey);
  return sequence(info, algorithm(id, nullValue), bitString(made));
}
const attributes = (...all: readonly Uint8Array[]): Uint8Array => explicit(0, ...all);
const password = (value: Uint8Array): Uint8Array => requestWith(attributes(attribute(challenge, value)));
const extension = (id: string, value: string): Uint8Array => sequence(oid(id), octetString(Buffer.from(value)));

describe('a certification request', () => {
  test('of another implementation is read', async () => {
    const der = await makeDeviceRequest(device);
    const read = readCertificationRequest(der);
    expect(read).toMatchObject({ challengePassword: 'open sesame' });
    expect([...read.extensions.keys()]).toEqual([sanId]);
    expect(Buffer.from(read.extensions.get(sanId)?.value ?? []).toString('latin1')).toContain('device.example.test');
    expect(hex(read.publicKey)).toBe(hex(device.publicKey.export({ format: 'der', type: 'spki' })));
    expect(hex(read.subject)).toBe(hex(namesOf(device.certificate).subject));
  });

  test.each([
    ['UTF8String', utf8String('Größe'), 'Größe'],
    ['PrintableString', encode(tag.printableString, Buffer.from('0123')), '0123'],
    ['IA5String', encode(tag.ia5String, Buffer.from('a@b')), 'a@b'],
    ['TeletexString', encode(0x14, Buffer.from('caf\u00e9', 'latin1')), 'caf\u00e9'],
    ['BMPString', encode(0x1e, Buffer.from('00470072', 'hex')), 'Gr'],
    ['an empty text', utf8String(''), ''],
  ])('has its challengePassword as %s', (_, value, text) => {
    expect(readCertificationRequest(password(value)).challengePassword).toBe(text);
  });

  test('needs no attributes, and may ask for extensions under the name of Microsoft', () => {
    for (const none of [undefined, attributes()])
      expect(readCertificationRequest(requestWith(none))).toMatchObject({ challengePassword: undefined, extensions: new Map() });
    const asked = attributes(attribute('1.3.6.1.4.1.311.2.1.14', sequence(extension(sanId, 'x'))));
    expect([...readCertificationRequest(requestWith(asked)).extensions.keys()]).toEqual([sanId]);
  });

  test('signed with RSASSA-PSS, SHA-1 or ECDSA is read: whether that is good enough is for the CA to say', () => {
    for (const signed of ['pss', 'sha1'] as const)
      expect(readCertificationRequest(requestWith(attributes(), device, signed)).challengePassword).toBeUndefined();
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const info = sequence(integer(0), sequence(), keys.publicKey.export({ format: 'der', type: 'spki' }), attributes());
    const der = sequence(info, algorithm('1.2.840.10045.4.3.2'), bitString(signWith('sha256', info, keys.privateKey)));
    expect(readCertificationRequest(der).extensions.size).toBe(0);
  });

  const bad = generateKeyPairSync('rsa', { modulusLength: 1024 });
  test.each([
    ['nothing', () => Buffer.alloc(0)],
    ['zeros', () => Buffer.alloc(64)],
    ['a certificate', () => device.certificate],
    ['octets behind it', () => Buffer.concat([password(utf8String('x')), Buffer.of(0)])],
    ['its end missing', () => password(utf8String('x')).subarray(0, -1)],
    [
      'another signature',
      () => requestWith(attributes(), { ...device, privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey }),
    ],
    [
      'an octet of its challengePassword changed',
      () => Buffer.from(hex(password(utf8String('open sesame'))).replace(hex(Buffer.from('sesame')), hex(Buffer.from('sesams'))), 'hex'),
    ],
    ['a signature algorithm that is not known', () => requestWith(attributes(), device, 'other')],
    [
      'rsaEncryption as signature algorithm',
      () => Buffer.from(hex(requestWith(attributes())).replace(hex(oid('1.2.840.113549.1.1.11')), hex(oid(ids.rsa))), 'hex'),
    ],
    ['a key of 1024 bits', () => requestWith(attributes(), bad)],
    ['attributes under another tag', () => requestWith(explicit(1))],
  ])('with %s is refused as one that was not decrypted', (_, make) => {
    const error = expect.objectContaining({
      name: 'ScepMalformed',
      failInfo: 'badMessageCheck',
      reason: expect.stringContaining('cannot be decrypted'),
    });
    expect(() => readCertificationRequest(make())).toThrow(error);
    expect(takeOpensslErrors()).toEqual([]);
  });

  test.each([
    ['an attribute twice', attributes(attribute(challenge, utf8String('a')), attribute(challenge, utf8String('a'))), 'twice'],
    ['two passwords in one attribute', attributes(attribute(challenge, utf8String('a'), utf8String('b'))), 'two values'],
    ['65 attributes', attributes(...Array.from({ length: 65 }, (_, n) => attribute(`1.2.${n}`, nullValue))), 'more than 64'],
    ['an attribute without a value', attributes(attribute(challenge)), 'well-formed'],
    ['a password that is a number', attributes(attribute(challenge, integer(1))), 'challengePassword'],
    ['a password that is not UTF-8', attributes(attribute(challenge, encode(tag.utf8String, Buffer.of(0xff)))), 'challengePassword'],
    ['a password of 1025 octets', attributes(attribute(challenge, utf8String('a'.repeat(1_025)))), 'challengePassword'],
    ['a BMPString of odd length', attributes(attribute(challenge, encode(0x1e, Buffer.of(0)))), 'challengePassword'],
    [
      'an extension twice',
      attributes(attribute(extensionRequest, sequence(extension(sanId, 'a'), extension(sanId, 'b')))),
      'an extension twice',
    ],
    [
      'an extension under both names',
      attributes(
        attribute(extensionRequest, sequence(extension(sanId, 'a'))),
        attribute('1.3.6.1.4.1.311.2.1.14', sequence(extension(sanId, 'b'))),
      ),
      'an extension twice',
    ],
    ['extensions that are none', attributes(attribute(extensionRequest, integer(1))), 'well-formed'],
  ])('signed well, with %s, is refused with words', (_, made, words) => {
    expect(() => readCertificationRequest(requestWith(made))).toThrow(expect.objectContaining({ failInfo: 'badRequest' }));
    expect(() => readCertificationRequest(requestWith(made))).toThrow(words);
  });
});

describe('the name of a certificate', () => {
  test('is read', () => {
    const { issuer } = namesOf(device.certificate);
    const asked = readIssuerAndSerial(sequence(issuer, integer(Buffer.from('80ff', 'hex'))));
    expect([hex(asked.issuer), asked.serial]).toEqual([hex(issuer), '0080ff']);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['one part', sequence(sequence())],
    ['three parts', sequence(sequence(), integer(1), integer(1))],
    ['an issuer that is a set', sequence(setOf(), integer(1))],
    ['a serial number that is a sequence', sequence(sequence(), sequence())],
    ['octets behind it', Buffer.concat([sequence(sequence(), integer(1)), Buffer.of(0)])],
  ])('with %s is refused as one that was not decrypted', (_, octets) => {
    expect(() => readIssuerAndSerial(octets)).toThrow(expect.objectContaining({ failInfo: 'badMessageCheck' }));
  });
});
