// Requests are refused with the failInfo and the words that fit, in bounded time, whatever is wrong with them.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  bitString,
  encode,
  explicit,
  implicit,
  integer,
  nullValue,
  octetString,
  Reader,
  sequence,
  setOf,
  tag,
} from '../../../../core/der/der.ts';
import { messageLimits } from '../../../../plugins/scep/message/limits.ts';
import { readRequest } from '../../../../plugins/scep/message/request.ts';
import { takeOpensslErrors } from '../../../harness/openssl-queue.ts';
import {
  algorithm,
  attribute,
  digestOids,
  defaultTransactionId,
  ids,
  issuerAndSerial,
  makeEnvelope,
  makeRequest,
  oid,
  pssAlgorithm,
  type RequestParts,
  type SignedParts,
  withAlgorithm,
  wrapEnvelope,
} from '../../../harness/scep/messages.ts';
import { makeDeviceRequest, makeParty, type Party } from './parties.ts';

let device: Party;
let authority: Party;
let csr: Buffer;
beforeAll(async () => {
  device = await makeParty({ key: 'RSA-2048', subject: 'CN=device' });
  authority = await makeParty({ key: 'RSA-2048', subject: 'CN=RA' });
  csr = await makeDeviceRequest(device);
});

const envelope = (): Uint8Array => makeEnvelope({ content: csr, recipients: [authority.certificate] });
const request = (parts: Partial<RequestParts> = {}): Uint8Array => makeRequest({ signer: device, envelope: envelope(), ...parts });
const hex = (octets: Uint8Array | undefined): string => Buffer.from(octets ?? []).toString('hex');

/** Attributes without that of a type, and with others. */
const without =
  (type: string, ...values: readonly Uint8Array[]) =>
  (all: readonly Uint8Array[]): readonly Uint8Array[] => [...all.filter((one) => !hex(one).includes(hex(oid(type)))), ...values];

const bare = integer(1);
type Row = readonly [problem: string, make: () => Uint8Array, failInfo: string, words: string];

const wrongTypes = ['3', '0', '1', '18', '19 ', '019', '+19', '1e1', '22222222222222222222', '', '-19', '16', '23', '99', '2', '19\0'];
const types: readonly Row[] = wrongTypes.map((messageType) => [
  `messageType ${JSON.stringify(messageType)}`,
  () => request({ messageType }),
  'badRequest',
  'messageType is not taken',
]);

const attributeRows: readonly Row[] = [
  ...(['contentType', 'messageDigest', 'messageType', 'transactionId', 'senderNonce'] as const).map((name): Row => [
    `no ${name}`,
    () => request({ attributes: without(ids[name]) }),
    'badRequest',
    'is missing',
  ]),
  ...(['contentType', 'messageDigest', 'messageType', 'transactionId', 'senderNonce', 'signingTime'] as const).map((name): Row => [
    `${name} twice`,
    () => request({ attributes: (all) => [...all, ...all.filter((one) => hex(one).includes(hex(oid(ids[name]))))] }),
    'badRequest',
    'is repeated',
  ]),
  [
    'an attribute with two values',
    () => request({ attributes: (all) => [...all, attribute('1.2.3', bare, integer(2))] }),
    'badRequest',
    'trailing octets',
  ],
  ['an attribute without a value', () => request({ attributes: (all) => [...all, attribute('1.2.3')] }), 'badRequest', 'element missing'],
  [
    '33 attributes',
    () => request({ attributes: (all) => [...all, ...many(27, (n) => attribute(`1.2.${n}`, bare))] }),
    'badRequest',
    'more than 32',
  ],
  [
    'a messageType that is a number',
    () => request({ attributes: without(ids.messageType, attribute(ids.messageType, integer(19))) }),
    'badRequest',
    'messageType',
  ],
  ['a nonce of 15 octets', () => request({ senderNonce: Buffer.alloc(15) }), 'badRequest', 'senderNonce'],
  ['a nonce of 0 octets', () => request({ senderNonce: Buffer.alloc(0) }), 'badRequest', 'senderNonce'],
  ['an empty transactionID', () => request({ transactionId: '' }), 'badRequest', 'transactionID'],
  ['a transactionID with a line break', () => request({ transactionId: 'a\nb' }), 'badRequest', 'transactionID'],
  ['a transactionID beyond ASCII', () => request({ transactionId: 'a\u00e9' }), 'badRequest', 'transactionID'],
  ['a transactionID of 129 characters', () => request({ transactionId: 'a'.repeat(129) }), 'badRequest', 'transactionID'],
  [
    'a signed content type other than data',
    () => request({ attributes: without(ids.contentType, attribute(ids.contentType, oid(ids.envelopedData))) }),
    'badRequest',
    'contentType',
  ],
];

const many = (count: number, make: (n: number) => Uint8Array): readonly Uint8Array[] => Array.from({ length: count }, (_, n) => make(n));
const change = (part: Partial<SignedParts> | ((parts: SignedParts) => Partial<SignedParts>)) => () =>
  request({ change: (parts) => ({ ...parts, ...(typeof part === 'function' ? part(parts) : part) }) });

const structureRows: readonly Row[] = [
  ['no signature', change({ signerInfos: setOf() }), 'badRequest', 'one signature'],
  [
    'two signatures',
    change(({ signerInfos }) => ({
      signerInfos: encode(tag.set, new Reader(signerInfos).next().content, new Reader(signerInfos).next().content),
    })),
    'badRequest',
    'one signature',
  ],
  ['no certificate', () => request({ certificates: [] }), 'badRequest', 'certificate that its signature names'],
  [
    'the certificate of another signer',
    () => request({ certificates: [authority.certificate] }),
    'badRequest',
    'certificate that its signature names',
  ],
  ['17 certificates', () => request({ certificates: many(17, () => device.certificate) }), 'badRequest', 'more than 16 certificates'],
  [
    'an attribute certificate',
    () => request({ certificates: [encode(tag.constructed(1), bare), device.certificate] }),
    'badRequest',
    'X.509',
  ],
  ['no digest that is announced', change({ digestAlgorithms: setOf() }), 'badRequest', 'announce'],
  ['another digest that is announced', change({ digestAlgorithms: setOf(algorithm(digestOids.sha512)) }), 'badRequest', 'announce'],
  ['no content', () => request({ envelope: undefined }), 'badRequest', 'no content'],
  [
    'a content type other than data',
    change({ encapsulated: sequence(oid(ids.signedData), explicit(0, octetString(bare))) }),
    'badRequest',
    'other than data',
  ],
  ['a message that is an envelope', () => envelope(), 'badRequest', 'not a SignedData'],
  ['a request for a certificate alone', () => csr, 'badRequest', 'CMS'],
  ['octets behind the message', () => Buffer.concat([request(), Buffer.of(0)]), 'badRequest', 'behind its end'],
  ['more octets than a message may have', () => Buffer.alloc(messageLimits.octets + 1), 'badRequest', 'more than'],
  ['an empty sequence', () => sequence(), 'badRequest', 'CMS'],
  ['sequences without end', () => Buffer.alloc(messageLimits.octets, '3080', 'hex'), 'badRequest', 'inside of each other'],
];

const algorithmRows: readonly Row[] = [
  [
    'a digest that is not known',
    change(({ signerInfos }) => ({ signerInfos: exchanged(signerInfos, digestOids.sha256, '2.16.840.1.101.3.4.2.8') })),
    'badAlg',
    '2.16.840.1.101.3.4.2.8',
  ],
  [
    'a signature algorithm that is not known',
    change(({ signerInfos }) => ({ signerInfos: setOf(withAlgorithm(signerInfos, algorithm('1.2.840.10040.4.3'))) })),
    'badAlg',
    '1.2.840.10040.4.3',
  ],
  [
    'a signature algorithm with another digest',
    change(({ signerInfos }) => ({ signerInfos: setOf(withAlgorithm(signerInfos, algorithm('1.2.840.113549.1.1.5', nullValue))) })),
    'badAlg',
    'use one digest',
  ],
  [
    'a signature algorithm with parameters',
    change(({ signerInfos }) => ({ signerInfos: setOf(withAlgorithm(signerInfos, algorithm(ids.rsa, bare))) })),
    'badAlg',
    'parameters',
  ],
  [
    'RSASSA-PSS with a salt of 200 octets',
    change(({ signerInfos }) => ({ signerInfos: setOf(withAlgorithm(signerInfos, pssAlgorithm('sha256', 65))) })),
    'badAlg',
    'salt',
  ],
  [
    'RSASSA-PSS without parameters',
    change(({ signerInfos }) => ({ signerInfos: setOf(withAlgorithm(signerInfos, algorithm(ids.pss))) })),
    'badAlg',
    'parameters',
  ],
  [
    'RSASSA-PSS with SHA-1 by default',
    change(({ signerInfos }) => ({ signerInfos: setOf(withAlgorithm(signerInfos, algorithm(ids.pss, sequence()))) })),
    'badAlg',
    'use one digest',
  ],
];

function exchanged(octets: Uint8Array, one: string, other: string): Uint8Array {
  return Buffer.from(hex(octets).replace(hex(oid(one)), hex(oid(other))), 'hex');
}

const sealed = (id: string, ...parameters: readonly Uint8Array[]): Uint8Array =>
  sequence(oid(ids.data), algorithm(id, ...parameters), implicit(0, Buffer.alloc(16)));
const recipient = (): Uint8Array =>
  sequence(integer(0), issuerAndSerial(authority.certificate), algorithm(ids.rsa), octetString(Buffer.alloc(256)));
const aes = '2.16.840.1.101.3.4.1.2';
const iv = octetString(Buffer.alloc(16));
const inEnvelope =
  (recipients: () => Uint8Array, encrypted: Uint8Array = sealed(aes, iv)) =>
  () =>
    request({ envelope: wrapEnvelope(recipients(), encrypted) });
const ofRecipient = (...transport: readonly [string, ...Uint8Array[]]) =>
  inEnvelope(() =>
    setOf(sequence(integer(0), issuerAndSerial(authority.certificate), algorithm(...transport), octetString(Buffer.alloc(256)))),
  );

const envelopeRows: readonly Row[] = [
  ['no recipient', inEnvelope(() => setOf()), 'badAlg', 'no recipient'],
  ['17 recipients', inEnvelope(() => encode(tag.set, ...many(17, recipient))), 'badRequest', 'more than 16 recipients'],
  ['a recipient by key agreement alone', inEnvelope(() => setOf(encode(tag.constructed(1), bare))), 'badAlg', 'no recipient'],
  ['key transport by another algorithm', ofRecipient('1.2.840.113549.1.9.16.3.14'), 'badAlg', 'key transport'],
  ['key transport with parameters', ofRecipient(ids.rsa, bare), 'badAlg', 'parameters'],
  ['OAEP with two hashes', ofRecipient(ids.oaep, sequence(explicit(0, algorithm(digestOids.sha256)))), 'badAlg', 'mask generation'],
  [
    'OAEP with a label',
    ofRecipient(ids.oaep, sequence(explicit(2, algorithm('1.2.840.113549.1.1.9', octetString(Buffer.of(1)))))),
    'badAlg',
    'label',
  ],
  ['AES-GCM', inEnvelope(() => setOf(recipient()), sealed('2.16.840.1.101.3.4.1.6', sequence(iv))), 'badAlg', '2.16.840.1.101.3.4.1.6'],
  ['RC2', inEnvelope(() => setOf(recipient()), sealed('1.2.840.113549.3.2', sequence(integer(58), iv))), 'badAlg', '1.2.840.113549.3.2'],
  [
    'an initialisation vector of 8 octets',
    inEnvelope(() => setOf(recipient()), sealed(aes, octetString(Buffer.alloc(8)))),
    'badAlg',
    'initialisation vector',
  ],
  ['no initialisation vector', inEnvelope(() => setOf(recipient()), sealed(aes)), 'badAlg', 'initialisation vector'],
  [
    'no ciphertext',
    inEnvelope(() => setOf(recipient()), sequence(oid(ids.data), algorithm(aes, iv), implicit(0, Buffer.alloc(0)))),
    'badRequest',
    'whole blocks',
  ],
  [
    'a ciphertext that is not of blocks',
    inEnvelope(() => setOf(recipient()), sequence(oid(ids.data), algorithm(aes, iv), implicit(0, Buffer.alloc(17)))),
    'badRequest',
    'whole blocks',
  ],
  [
    'an absent ciphertext',
    inEnvelope(() => setOf(recipient()), sequence(oid(ids.data), algorithm(aes, iv))),
    'badRequest',
    'element missing',
  ],
  [
    'an encrypted type other than data',
    inEnvelope(() => setOf(recipient()), sequence(oid(ids.signedData), algorithm(aes, iv), implicit(0, Buffer.alloc(16)))),
    'badRequest',
    'other than data',
  ],
  ['a request that is signed, not encrypted', () => request({ envelope: csr }), 'badRequest', 'CMS'],
  ['a SignedData where the envelope belongs', () => request({ envelope: request() }), 'badRequest', 'not an EnvelopedData'],
  ['an envelope that is deep', () => request({ envelope: Buffer.alloc(2_000, '3080', 'hex') }), 'badRequest', 'inside of each other'],
];

describe('a request is refused', () => {
  test.each([...types, ...attributeRows, ...structureRows, ...algorithmRows, ...envelopeRows])('with %s', (_, make, failInfo, words) => {
    const octets = make();
    expect(() => readRequest(octets)).toThrow(expect.objectContaining({ name: 'ScepMalformed', failInfo }));
    expect(() => readRequest(octets)).toThrow(words);
    expect(takeOpensslErrors()).toEqual([]);
  });

  test('of a type that is not taken before anything else of it is read', () => {
    const signer = { certificate: device.certificate, privateKey: generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey };
    const parts = { certificates: [sequence()], envelope: Buffer.from('no envelope'), signer };
    expect(() => readRequest(request({ ...parts, messageType: '18' }))).toThrow('messageType is not taken');
    expect(() => readRequest(request(parts))).not.toThrow('messageType is not taken');
  });

  test('of a version that CMS does not have, in each of its structures', () => {
    // SignedData, EnvelopedData and its recipient, SignerInfo; each is followed by a SET or a SEQUENCE.
    const octets = Buffer.from(request());
    const places = Array.from(octets.keys()).filter((at) => /^0201(?:00|01)(?:30|31)$/.test(octets.toString('hex', at, at + 4)));
    expect(places.length).toBeGreaterThan(3);
    for (const at of [...places.slice(0, 3), places.at(-1) ?? 0]) {
      const changed = Buffer.from(octets);
      changed[at + 2] = 6;
      expect(() => readRequest(changed)).toThrow('a version that CMS does not have');
    }
  });

  test('with what an answer needs, as soon as that is read', () => {
    const senderNonce = Buffer.alloc(16, 9);
    const answerable = { transactionId: defaultTransactionId, senderNonce: new Uint8Array(senderNonce) };
    for (const parts of [{ messageType: '18' }, { envelope: csr }, { certificates: [] }]) {
      const error = refusalOf(request({ senderNonce, ...parts }));
      expect({ ...error.answerable, senderNonce: new Uint8Array(error.answerable?.senderNonce ?? []) }).toEqual(answerable);
    }
    expect(refusalOf(request({ messageType: '18', transactionId: 'a\0' })).answerable).toBeUndefined();
    expect(refusalOf(csr).answerable).toBeUndefined();
  });
});

function refusalOf(octets: Uint8Array): { answerable?: { transactionId: string; senderNonce: Uint8Array } } {
  try {
    readRequest(octets);
  } catch (error) {
    return error as ReturnType<typeof refusalOf>;
  }
  throw new Error('the message is taken');
}

/** The certificate of the device with another key inside. */
function withKey(publicKey: Uint8Array): Uint8Array {
  const [tbs, ...rest] = new Reader(new Reader(device.certificate).next().content).rest().toArray();
  const fields = new Reader(tbs?.content ?? bare).rest().toArray();
  return sequence(sequence(...fields.map(({ whole }, index) => (index === 6 ? publicKey : whole))), ...rest.map(({ whole }) => whole));
}

const rsaKey = (modulus: Uint8Array, exponent: Uint8Array, id: string = ids.rsa): Uint8Array =>
  sequence(algorithm(id, nullValue), bitString(sequence(integer(modulus), integer(exponent))));
const modulusOf = (octets: number): Uint8Array => Buffer.alloc(octets, 0xc3);
const usual = Buffer.of(1, 0, 1);
const spki = (key: KeyObject): Uint8Array => key.export({ format: 'der', type: 'spki' });
const curve = (namedCurve: string, paramEncoding: 'named' | 'explicit' = 'named') =>
  spki(generateKeyPairSync('ec', { namedCurve, paramEncoding }).publicKey);

const keyRows: readonly (readonly [key: string, make: () => Uint8Array, failInfo: string])[] = [
  ['RSA of 1024 bits', () => spki(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey), 'badAlg'],
  ['RSA of 16384 bits', () => rsaKey(modulusOf(2_048), usual), 'badAlg'],
  ['RSA of 300,000 bits', () => rsaKey(modulusOf(40_000), usual), 'badAlg'],
  ['RSA with an exponent of 3', () => rsaKey(modulusOf(256), Buffer.of(3)), 'badAlg'],
  ['RSA with an even exponent', () => rsaKey(modulusOf(256), Buffer.of(1, 0, 0)), 'badAlg'],
  ['RSA with an exponent of 2048 bits', () => rsaKey(modulusOf(256), modulusOf(256)), 'badAlg'],
  ['RSA whose modulus has a small factor', () => rsaKey(modulusOf(256), usual), 'badAlg'],
  ['RSA with a modulus of 0', () => rsaKey(Buffer.of(0), usual), 'badAlg'],
  ['RSA for RSASSA-PSS alone', () => spki(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey), 'badAlg'],
  ['RSA without parameters', () => sequence(algorithm(ids.rsa), bitString(sequence(integer(modulusOf(256)), integer(usual)))), 'badAlg'],
  ['Ed25519', () => spki(generateKeyPairSync('ed25519').publicKey), 'badAlg'],
  ['P-224', () => curve('P-224'), 'badAlg'],
  ['secp256k1', () => curve('secp256k1'), 'badAlg'],
  ['P-256, written out', () => curve('P-256', 'explicit'), 'badAlg'],
  ['a curve over a binary field', () => curve('sect283k1'), 'badAlg'],
  ['DSA', () => spki(generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 }).publicKey), 'badAlg'],
  ['the point at infinity', () => sequence(algorithm('1.2.840.10045.2.1', oid('1.2.840.10045.3.1.7')), bitString(Buffer.of(0))), 'badAlg'],
  ['no point', () => sequence(algorithm('1.2.840.10045.2.1', oid('1.2.840.10045.3.1.7')), bitString(Buffer.alloc(65, 4))), 'badRequest'],
  [
    'a point of 10,000 octets',
    () => sequence(algorithm('1.2.840.10045.2.1', oid('1.3.132.0.35')), bitString(Buffer.alloc(10_000, 4))),
    'badRequest',
  ],
  ['an empty bit string', () => sequence(algorithm(ids.rsa, nullValue), encode(tag.bitString)), 'badRequest'],
];

describe('the key of the signer is refused', () => {
  test.each(keyRows)('%s', (_, make, failInfo) => {
    const octets = request({ certificates: [withKey(make())] });
    expect(() => readRequest(octets)).toThrow(expect.objectContaining({ name: 'ScepMalformed', failInfo }));
    expect(takeOpensslErrors()).toEqual([]);
  });
});
