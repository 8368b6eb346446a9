// Envelopes against OpenSSL and pkijs, both ways; what does not open is not told apart.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import * as pkijs from 'pkijs';
import { beforeAll, describe, expect, test } from 'vitest';
import { contentCiphers, type ContentCipher, type KeyTransport } from '../../../../plugins/scep/message/algorithms.ts';
import { readCertificate } from '../../../../plugins/scep/message/certificate.ts';
import { readCertificationRequest, readIssuerAndSerial } from '../../../../plugins/scep/message/content.ts';
import { type Envelope, findRecipient, readEnvelope } from '../../../../plugins/scep/message/envelope.ts';
import { messageLimits } from '../../../../plugins/scep/message/limits.ts';
import { writeEnvelope } from '../../../../plugins/scep/message/write-envelope.ts';
import { readSigner } from '../../../harness/scep/signer.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { makeEnvelope } from '../../../harness/scep/messages.ts';
import { decryptKey, makeDeviceRequest, makeParty, type Party } from './parties.ts';
import { openssl } from './tools.ts';

const path = temporaryDirectory();
const content = Buffer.from('what is in the message\n'.repeat(150));
const ciphers = Object.keys(contentCiphers) as readonly ContentCipher[];
let device: Party;
let authority: Party;
beforeAll(async () => {
  device = await makeParty({ key: 'RSA-2048', subject: 'CN=device' });
  authority = await makeParty({ key: 'RSA-2048', subject: 'CN=RA, O=Example' });
  writeFileSync(path('ra.pem'), authority.pem);
  writeFileSync(path('ra.key'), authority.keys.pem);
  writeFileSync(path('device.pem'), device.pem);
  writeFileSync(path('content'), content);
});

const read = (der: Uint8Array): Envelope => readEnvelope(der, messageLimits);
function opened(envelope: Envelope): Uint8Array {
  const recipient = findRecipient(envelope, readCertificate(authority.certificate));
  if (recipient === undefined) throw new Error('the message is not for this authority');
  return envelope.open(decryptKey(authority, recipient));
}
const isContent = (octets: Uint8Array): boolean => content.equals(octets);

const oaep = (hash: string): readonly string[] => [
  '-keyopt',
  'rsa_padding_mode:oaep',
  '-keyopt',
  `rsa_oaep_md:${hash}`,
  '-keyopt',
  `rsa_mgf1_md:${hash}`,
];
const paddings: readonly (readonly [name: string, options: readonly string[], transport: KeyTransport])[] = [
  ['PKCS#1 v1.5', [], { padding: 'pkcs1v15' }],
  ...(['sha1', 'sha256', 'sha384', 'sha512'] as const).map((hash) => [`OAEP with ${hash}`, oaep(hash), { padding: 'oaep', hash }] as const),
];
/** OpenSSL's command line has DES in its legacy provider. */
const legacy = ['-provider', 'legacy', '-provider', 'default'];

describe('an envelope of OpenSSL', () => {
  test.each(ciphers.flatMap((cipher) => paddings.map((padding) => [cipher, ...padding] as const)))(
    'with %s and %s is opened',
    (cipher, _, options, transport) => {
      for (const form of [[], ['-stream']]) {
        const der = openssl(
          ...['cms', '-encrypt', '-binary', '-outform', 'DER', ...form, ...legacy, `-${cipher}`, '-in', path('content')],
          ...['-recip', path('ra.pem'), ...options],
        );
        const envelope = read(der);
        expect([envelope.contentCipher, envelope.recipients[0]?.keyTransport]).toEqual([cipher, transport]);
        expect(opened(envelope)).satisfy(isContent);
      }
    },
  );

  test('for two recipients, and for one by its key identifier', () => {
    const words = ['cms', '-encrypt', '-binary', '-outform', 'DER', '-aes-256-cbc', '-in', path('content')];
    expect(opened(read(openssl(...words, path('device.pem'), path('ra.pem'))))).satisfy(isContent);
    const byKey = read(openssl(...words, '-keyid', path('ra.pem')));
    expect(byKey.recipients[0]?.issuer).toBeUndefined();
    expect(opened(byKey)).satisfy(isContent);
  });
});

describe('an envelope written here', () => {
  test.each(ciphers.flatMap((cipher) => paddings.map(([name, , keyTransport]) => [cipher, name, keyTransport] as const)))(
    'with %s and %s is opened by OpenSSL, and by us',
    (cipher, _, keyTransport) => {
      for (const length of [0, 1, 7, 8, 15, 16, 17, content.length]) {
        const der = writeEnvelope({
          content: content.subarray(0, length),
          recipient: readSigner(authority.certificate),
          cipher,
          keyTransport,
        });
        expect(content.subarray(0, length).equals(opened(read(der)))).toBe(true);
        if (length < content.length) continue;
        writeFileSync(path('envelope'), der);
        expect(
          openssl(
            ...['cms', '-decrypt', '-binary', '-inform', 'DER', ...legacy, '-in', path('envelope')],
            ...['-recip', path('ra.pem'), '-inkey', path('ra.key')],
          ),
        ).satisfy(isContent);
      }
    },
  );

  test('is for RSA keys alone', async () => {
    const { certificate } = await makeParty({ key: 'P-256', subject: 'CN=device' });
    expect(() => writeEnvelope({ content, recipient: readSigner(certificate), cipher: 'aes-128-cbc' })).toThrow(
      expect.objectContaining({ failInfo: 'badAlg' }),
    );
  });

  // pkijs has no DES.
  test.each(['aes-128-cbc', 'aes-192-cbc', 'aes-256-cbc'] as const)(
    'with %s is opened by pkijs, and one of pkijs by us',
    async (cipher) => {
      const key = await crypto.subtle.importKey(
        'pkcs8',
        authority.privateKey.export({ format: 'der', type: 'pkcs8' }),
        { name: 'RSA-OAEP', hash: 'SHA-256' },
        true,
        ['decrypt'],
      );
      const pkcs8 = await crypto.subtle.exportKey('pkcs8', key);
      const recipient = readSigner(authority.certificate);
      const der = writeEnvelope({ content, recipient, cipher, keyTransport: { padding: 'oaep', hash: 'sha256' } });
      const theirs = new pkijs.EnvelopedData({ schema: pkijs.ContentInfo.fromBER(new Uint8Array(der).buffer).content });
      const certificate = pkijs.Certificate.fromBER(new Uint8Array(authority.certificate).buffer);
      expect(new Uint8Array(await theirs.decrypt(0, { recipientCertificate: certificate, recipientPrivateKey: pkcs8 }))).satisfy(isContent);

      const enveloped = new pkijs.EnvelopedData();
      enveloped.addRecipientByCertificate(certificate, { oaepHashAlgorithm: 'SHA-256' });
      const length = contentCiphers[cipher].keyLength * 8;
      await enveloped.encrypt({ name: 'AES-CBC', length } as Parameters<typeof enveloped.encrypt>[0], new Uint8Array(content).buffer);
      const info = new pkijs.ContentInfo({ contentType: '1.2.840.113549.1.7.3', content: enveloped.toSchema() });
      const envelope = read(new Uint8Array(info.toSchema().toBER()));
      expect([envelope.contentCipher, envelope.recipients[0]?.keyTransport]).toEqual([cipher, { padding: 'oaep', hash: 'sha256' }]);
      expect(opened(envelope)).satisfy(isContent);
    },
  );
});

describe('what does not open', () => {
  const readers = [readCertificationRequest, readIssuerAndSerial] as const;
  const expectSilent = (octets: Uint8Array): void => {
    for (const reader of readers)
      expect(() => reader(octets)).toThrow(
        expect.objectContaining({
          name: 'ScepMalformed',
          failInfo: 'badMessageCheck',
          reason: expect.stringContaining('cannot be decrypted'),
        }),
      );
  };

  test.each(ciphers)('with %s: a wrong key, a key of another length and bad padding have one refusal', async (cipher) => {
    const csr = await makeDeviceRequest(device);
    const { keyLength, blockLength } = contentCiphers[cipher];
    const contentKey = randomBytes(keyLength);
    const sealed = (padded?: Uint8Array) =>
      read(
        makeEnvelope({
          content: csr,
          recipients: [authority.certificate],
          cipher,
          contentKey,
          ...(padded === undefined ? {} : { padded }),
        }),
      );
    expect(csr.equals(sealed().open(Buffer.from(contentKey)))).toBe(true);
    for (const key of [randomBytes(keyLength), randomBytes(keyLength + 1), Buffer.alloc(0), randomBytes(256)])
      expectSilent(sealed().open(key));
    const room = blockLength - (csr.length % blockLength);
    const padded = (...padding: readonly number[]) => sealed(Buffer.concat([csr, Buffer.from(padding)]));
    const bad: readonly (readonly number[])[] = [
      Array.from({ length: room }, () => 0),
      Array.from({ length: room }, () => 0xff),
      Array.from({ length: room }, () => blockLength + 1),
      Array.from({ length: room + blockLength }, (_, at) => (at === 0 ? 1 : room + blockLength)),
      ...(room > 1 ? [Array.from({ length: room }, (_, at) => (at === 0 ? room ^ 1 : room))] : []),
    ];
    for (const padding of bad) expectSilent(padded(...padding).open(Buffer.from(contentKey)));
    // Right padding of another length leaves octets behind the request.
    const longer = room + blockLength;
    expectSilent(padded(...Array.from({ length: longer }, (_, at) => (at === longer - 1 ? 1 : 5))).open(Buffer.from(contentKey)));
  });

  test('answers as many octets for bad padding as were encrypted, all zero, and zeroes the key', () => {
    const contentKey = randomBytes(16);
    const envelope = read(makeEnvelope({ content, recipients: [authority.certificate], contentKey, padded: Buffer.alloc(64, 0xaa) }));
    const given = Buffer.from(contentKey);
    expect(Buffer.alloc(64).equals(envelope.open(given))).toBe(true);
    expect(given.every((octet) => octet === 0)).toBe(true);
  });
});
