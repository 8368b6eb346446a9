// Whole exchanges of the client of the tests with a server that has nothing but the message layer.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sequence } from '../../../../core/der/der.ts';
import { type Changes, ScepClient, sendTo } from '../../../harness/scep/client.ts';
import { likeJscep, toBer } from '../../../harness/scep/ber.ts';
import { namesOf } from '../../../harness/scep/messages.ts';
import { type ScratchServer, startScratchServer } from '../../../harness/scep/scratch-server.ts';
import { type Identity, makeIdentity, usages } from '../../ca/pki.ts';
import { makeDeviceRequest, makeParty, type Party } from './parties.ts';

let ca: Identity;
let ra: Identity;
let device: Party;
let server: ScratchServer;
beforeAll(async () => {
  ca = await makeIdentity({ key: 'P-256', subject: 'CN=CA', ca: true });
  ra = await makeIdentity({ key: 'RSA-2048', subject: 'CN=RA', issuer: ca, extensions: [usages('digitalSignature', 'keyEncipherment')] });
  device = await makeParty({ key: 'RSA-2048', subject: 'CN=device' });
  server = await startScratchServer({ ca, ra });
});
afterAll(() => server.close());

const client = (transactionId = 'a transaction'): ScepClient =>
  new ScepClient({ send: sendTo(server.url), signer: device, recipients: [ra.certificate], transactionId });
const granted = { status: 'success', failInfo: undefined };

describe('an exchange', () => {
  test('shows capabilities and certificates', async () => {
    expect(await client().capabilities()).toContain('POSTPKIOperation');
    const raw = (await client().authorities('x')).map((one) => one.raw.toString('hex'));
    expect(raw.toSorted()).toEqual([ra, ca].map(({ certificate }) => certificate.toString('hex')).toSorted());
  });

  const forms: readonly (readonly [form: string, changes: Changes])[] = [
    ['POST', {}],
    ['GET with all escaped', { get: encodeURIComponent }],
    ['GET in the URL alphabet', { get: (base64) => base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '%3D') }],
    ['BER', { octets: (message) => toBer(message, likeJscep) }],
    ['RSASSA-PSS and SHA-512', { digest: 'sha512', signature: 'pss' }],
    ['DES and SHA-1', { digest: 'sha1', encryption: { cipher: 'des-cbc' } }],
    ['OAEP and AES-256', { encryption: { cipher: 'aes-256-cbc', transport: 'oaep-sha256' } }],
  ];
  test.each(forms)('by %s enrols', async (_, changes) => {
    const reply = await client().enrol(await makeDeviceRequest(device), changes);
    expect(reply).toMatchObject({ ...granted, digest: changes.digest ?? 'sha256', cipher: changes.encryption?.cipher ?? 'aes-128-cbc' });
    expect(reply.certificates.map(({ subject }) => subject)).toEqual(['CN=device']);
  });

  test('waits, polls, and renews with what it got', async () => {
    const waiting = client('one that waits');
    expect(await waiting.enrol(await makeDeviceRequest(device, 'later'))).toMatchObject({ status: 'pending', certificates: [] });
    const names = sequence(namesOf(ca.certificate).subject, namesOf(device.certificate).subject);
    const { certificates } = await waiting.poll(names);
    const [certificate] = certificates;
    if (certificate === undefined) throw new Error('no certificate');
    const signer = { certificate: certificate.raw, privateKey: device.privateKey };
    expect(await client('renewal').renew(await makeDeviceRequest(device, 'none'), { signer })).toMatchObject(granted);
    expect((await client().certificate(certificate.raw)).certificates.map(({ raw }) => raw.equals(certificate.raw))).toEqual([true]);
    expect(await client().certificate(device.certificate)).toMatchObject({ status: 'failure', failInfo: 'badCertId' });
    expect((await client().revocationList(certificate.raw)).lists.length).toBe(1);
    expect(await client('another').poll(names)).toMatchObject({ status: 'failure', failInfo: 'badCertId' });
  });

  test('that is wrong is refused with the failInfo and words', async () => {
    const csr = await makeDeviceRequest(device);
    const rows: readonly (readonly [changes: Changes, failInfo: string, words: string])[] = [
      [{ messageType: '18' }, 'badRequest', 'messageType is not taken'],
      [{ encryption: { recipients: [device.certificate] } }, 'badRequest', 'somebody else'],
      [
        { signer: { certificate: device.certificate, privateKey: (await makeParty({ key: 'RSA-2048' })).privateKey } },
        'badMessageCheck',
        'signature',
      ],
      [{ encryption: { padded: Buffer.alloc(1_024) } }, 'badMessageCheck', 'cannot be decrypted'],
      [{ encryption: { padded: Buffer.alloc(1_024, 1) } }, 'badMessageCheck', 'cannot be decrypted'],
    ];
    for (const [changes, failInfo, words] of rows)
      expect(await client().ask(changes.messageType ?? '19', csr, changes)).toMatchObject({
        ...{ status: 'failure', failInfo, failInfoText: expect.stringContaining(words) },
      });
    expect(await client().enrol(await makeDeviceRequest(device, 'wrong'))).toMatchObject({ status: 'failure', failInfo: 'badRequest' });
  });
});
