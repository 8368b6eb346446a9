// Answers: OpenSSL and pkijs verify and open them, and find what SCEP says of them.
import { sign as signWith } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import * as pkijs from 'pkijs';
import { beforeAll, describe, expect, test } from 'vitest';
import { encode, objectIdentifier, octetString, sequence, tag, utf8String } from '../../../../core/der/der.ts';
import type { ContentCipher, Digest } from '../../../../plugins/scep/message/algorithms.ts';
import { readCertificate } from '../../../../plugins/scep/message/certificate.ts';
import { failInfos, type FailInfo } from '../../../../plugins/scep/message/malformed.ts';
import { type Outcome, writeReply } from '../../../../plugins/scep/message/reply.ts';
import { type Sign, writeSignedData } from '../../../../plugins/scep/message/signed.ts';
import { readCertsOnly } from '../../ca/pki.ts';
import { readSigner } from '../../../harness/scep/signer.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { makeParty, type Party } from './parties.ts';
import { openssl } from './tools.ts';

const path = temporaryDirectory();
const legacy = ['-provider', 'legacy', '-provider', 'default'];
let device: Party;
let authority: Party;
beforeAll(async () => {
  device = await makeParty({ key: 'RSA-2048', subject: 'CN=device' });
  authority = await makeParty({ key: 'RSA-2048', subject: 'CN=RA' });
  for (const [name, party] of Object.entries({ device, ra: authority })) {
    writeFileSync(path(`${name}.pem`), party.pem);
    writeFileSync(path(`${name}.key`), party.keys.pem);
  }
});

const sign: Sign = async (octets, digest) => signWith(digest, octets, authority.privateKey);
const recipientNonce = Buffer.alloc(16, 1);
const senderNonce = Buffer.alloc(16, 2);

function reply(outcome: Outcome, digest: Digest = 'sha256'): Promise<Uint8Array> {
  const transactionId = 'q83vEjRWeJCrze8SNFZ4kKvN7xI=/';
  return writeReply({ transactionId, recipientNonce, senderNonce, digest, signer: authority.certificate, ...outcome }, sign);
}

const success = (cipher: ContentCipher = 'aes-128-cbc'): Outcome => ({
  ...{ pkiStatus: 'success', certificates: [device.certificate, authority.certificate] },
  ...{ recipient: readSigner(device.certificate), cipher },
});

/** eContent, as OpenSSL finds it behind a signature that holds. */
function verified(der: Uint8Array, ...more: readonly string[]): Buffer {
  writeFileSync(path('reply'), der);
  return openssl(
    ...['cms', '-verify', '-inform', 'DER', '-binary', '-in', path('reply'), '-CAfile', path('ra.pem')],
    ...['-purpose', 'any', ...more],
  );
}

function decrypted(envelope: Buffer): Buffer {
  writeFileSync(path('envelope'), envelope);
  return openssl(
    ...['cms', '-decrypt', '-inform', 'DER', '-binary', ...legacy, '-in', path('envelope')],
    ...['-recip', path('device.pem'), '-inkey', path('device.key')],
  );
}

/** DER of the one value of each signed attribute, as pkijs reads them; the order of the message is that of DER. */
async function attributesOf(der: Uint8Array): Promise<ReadonlyMap<string, string>> {
  const signed = new pkijs.SignedData({ schema: pkijs.ContentInfo.fromBER(new Uint8Array(der).buffer).content });
  // pkijs does not verify what has no content.
  const hasContent = signed.encapContentInfo.eContent !== undefined;
  const holds = hasContent ? await signed.verify({ signer: 0, checkChain: false }) : verified(der, '-content', '/dev/null').length === 0;
  expect(holds).toBe(true);
  const attributes = signed.signerInfos[0]?.signedAttrs?.attributes ?? [];
  const encoded = attributes.map((one) => Buffer.from(one.toSchema().toBER()));
  expect(encoded.toSorted((left, right) => left.compare(right))).toEqual(encoded);
  return new Map(
    attributes.map(({ type, values }) => [type, Buffer.from((values[0] as { toBER(): ArrayBuffer }).toBER()).toString('hex')]),
  );
}

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString('hex');
const printable = (text: string): string => hex(encode(tag.printableString, Buffer.from(text)));
const ofAll = {
  '1.2.840.113549.1.9.3': hex(objectIdentifier('1.2.840.113549.1.7.1')),
  '2.16.840.1.113733.1.9.2': printable('3'),
  '2.16.840.1.113733.1.9.5': hex(octetString(senderNonce)),
  '2.16.840.1.113733.1.9.6': hex(octetString(recipientNonce)),
  '2.16.840.1.113733.1.9.7': printable('q83vEjRWeJCrze8SNFZ4kKvN7xI=/'),
};

describe('an answer that grants', () => {
  const ciphers = ['aes-128-cbc', 'aes-192-cbc', 'aes-256-cbc', 'des-ede3-cbc', 'des-cbc'] as const;
  test.each(ciphers)('with %s has the certificates for the recipient alone', async (cipher) => {
    const der = await reply(success(cipher));
    const found = readCertsOnly(decrypted(verified(der)));
    expect(found.map(({ raw }) => hex(raw)).toSorted()).toEqual([hex(device.certificate), hex(authority.certificate)].toSorted());
    const attributes = Object.fromEntries(await attributesOf(der));
    expect(attributes).toMatchObject({ ...ofAll, '2.16.840.1.113733.1.9.3': printable('0') });
    expect(Object.keys(attributes).length).toBe(7);
  });

  test.each(['md5', 'sha1', 'sha256', 'sha384', 'sha512'] as const)('with %s is verified', async (digest) => {
    expect(readCertsOnly(decrypted(verified(await reply(success(), digest)))).length).toBe(2);
  });

  test('with a key transport by OAEP, as the request had it', async () => {
    const outcome = { ...success(), keyTransport: { padding: 'oaep', hash: 'sha256' } } as Outcome;
    expect(readCertsOnly(decrypted(verified(await reply(outcome)))).length).toBe(2);
  });

  test('with a revocation list', async () => {
    const crl = makeList();
    const outcome: Outcome = { pkiStatus: 'success', crl, recipient: readSigner(device.certificate), cipher: 'aes-256-cbc' };
    writeFileSync(path('degenerate'), decrypted(verified(await reply(outcome))));
    const pem = openssl('pkcs7', '-inform', 'DER', '-in', path('degenerate'), '-print_certs').toString();
    expect([pem.includes('BEGIN X509 CRL'), pem.includes('BEGIN CERTIFICATE')]).toEqual([true, false]);
    expect(pem.replaceAll(/\s/g, '')).toContain(Buffer.from(crl).toString('base64'));
  });

  test('has the order of DER in its set of certificates, and says when it was signed', async () => {
    const signingTime = Temporal.Instant.from('2026-11-27T09:00:00Z');
    const message = { content: undefined, signer: authority.certificate, digest: 'sha256', signingTime } as const;
    const der = await writeSignedData({ ...message, certificates: [device.certificate] }, sign);
    const again = await writeSignedData({ ...message, certificates: [device.certificate].toReversed() }, sign);
    expect(hex(der)).toBe(hex(again));
    expect((await attributesOf(der)).get('1.2.840.113549.1.9.5')).toBe(hex(encode(tag.utcTime, Buffer.from('261127090000Z'))));
  });

  test('to a recipient without an RSA key is refused before it is signed', async () => {
    const other = await makeParty({ key: 'P-256', subject: 'CN=device' });
    const outcome = { ...success(), recipient: readSigner(other.certificate) } as Outcome;
    await expect(reply(outcome)).rejects.toThrow(expect.objectContaining({ failInfo: 'badAlg' }));
  });
});

describe('an answer that grants nothing', () => {
  test.each(Object.entries(failInfos))('because of %s says so', async (failInfo, number) => {
    const der = await reply({ pkiStatus: 'failure', failInfo: failInfo as FailInfo, failInfoText: 'Größe' });
    const attributes = Object.fromEntries(await attributesOf(der));
    expect(attributes).toMatchObject({
      ...ofAll,
      '2.16.840.1.113733.1.9.3': printable('2'),
      '2.16.840.1.113733.1.9.4': printable(String(number)),
      '1.3.6.1.5.5.7.24.1': hex(utf8String('Größe')),
    });
    expect(verified(der).length).toBe(0);
  });

  test('yet, because it waits, says so', async () => {
    const der = await reply({ pkiStatus: 'pending' });
    expect(Object.fromEntries(await attributesOf(der))).toMatchObject({ ...ofAll, '2.16.840.1.113733.1.9.3': printable('3') });
    expect(verified(der).length).toBe(0);
  });
});

/** An empty revocation list of the authority. */
function makeList(): Uint8Array {
  const algorithm = sequence(objectIdentifier('1.2.840.113549.1.1.11'), encode(tag.null));
  const { subject } = readCertificate(authority.certificate);
  const content = sequence(algorithm, subject, encode(tag.utcTime, Buffer.from('261127090000Z')));
  const signature = signWith('sha256', content, authority.privateKey);
  return sequence(content, algorithm, encode(tag.bitString, Buffer.of(0), signature));
}
