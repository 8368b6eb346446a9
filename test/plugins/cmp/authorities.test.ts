// Registration authorities that a CA names: they vouch for keys, pass messages on and revoke; others may do none of it. And what is not confirmed, or refused
// again and again.
import { randomBytes, type X509Certificate } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sequence } from '../../../core/der/der.ts';
import { makeAuthority, nested, type RegistrationAuthority } from '../../harness/cmp/authority.ts';
import { type CmpReply, holding, innerOf, partsOf, post, send } from '../../harness/cmp/device.ts';
import {
  bodies,
  byMac,
  confirmationOf,
  implicitConfirm,
  type MessageParts,
  newKeys,
  type Pair,
  pollOf,
  raVerified,
  requestOf,
  revocationOf,
  type TemplateOptions,
  writeMessage,
} from '../../harness/cmp/messages.ts';
import { type CmpAppliance, cmpSecret, openCmp, startCmpAppliance } from './cmp-appliance.ts';

let appliance: CmpAppliance;
let authority: RegistrationAuthority;
let outsider: RegistrationAuthority;
let ca: string;
let url: string;

beforeAll(async () => {
  [authority, outsider] = [makeAuthority(), makeAuthority()];
  appliance = await startCmpAppliance();
  ca = await appliance.makeCa({ ...openCmp, cmp: { ...openCmp.cmp, 'ra-certs': [authority.pem] } });
  url = appliance.cmpUrl(ca);
});

// Refused messages are limited by address, and by sender.
beforeEach(() => appliance.clock.step(61));

type Ask = Partial<MessageParts> & { readonly template?: Partial<TemplateOptions> };

/** The parts of an ir. */
function partsFor({ template = {}, ...parts }: Ask = {}): MessageParts {
  const body = sequence(requestOf({ keys: newKeys(), ...template }));
  return { type: bodies.ir, body, protect: authority.protect, ...parts };
}

const ask = (parts: Ask = {}, at = url): Promise<CmpReply> => send(at, partsFor(parts), cmpSecret);
const serialOf = ({ certificate }: CmpReply): string => (certificate as X509Certificate).serialNumber.toLowerCase();
type Listed = { readonly serial: string; readonly via: string; readonly status: string };
const listed = async (name = ca): Promise<readonly Listed[]> =>
  ((await appliance.list(name, 'certificates')) as Listed[]).filter(({ via }) => via.startsWith('cmp-'));
const recorded = () => appliance.cmpRecords().at(-1)?.['request-parameters'];

describe('a registration authority', () => {
  test('vouches for the key of a device, which gets a certificate by the rules of the CA alone', async () => {
    const reply = await ask({ template: { proof: raVerified }, info: [implicitConfirm] });
    expect(reply).toMatchObject({ type: bodies.ip, status: 0, protectedBy: 'signature' });
    expect((await listed()).find(({ serial }) => serial === serialOf(reply))?.via).toBe('cmp-registration-authority');
    expect(recorded()).toMatchObject({ credential: 'registration-authority', message: 'ir', serial: serialOf(reply) });
    expect(await ask({ template: { proof: raVerified, subject: 'dev.example.com', names: [] } })).toMatchObject({
      ...{ type: bodies.ip, status: 2, failInfo: 'notAuthorized' },
    });
    expect(await ask({ template: { proof: null } })).toMatchObject({ type: bodies.ip, failInfo: 'badPOP' });
    expect(await ask({ type: bodies.kur, template: { proof: raVerified } })).toMatchObject({ type: bodies.kup, failInfo: 'notAuthorized' });
  });

  test('confirms for the device what it got', async () => {
    const reply = await ask();
    const confirm = { type: bodies.certConf, body: confirmationOf((reply.certificate as X509Certificate).raw), protect: authority.protect };
    const going = { transactionId: reply.transactionId as Buffer, recipientNonce: reply.senderNonce as Buffer };
    expect((await send(url, { ...confirm, ...going })).type).toBe(bodies.pkiconf);
  });

  test('revokes the certificate of a device, and no other one', async () => {
    const { certificate } = await ask({ info: [implicitConfirm] });
    const { issuer, serial } = partsOf(certificate as X509Certificate);
    const revoke = (body: Uint8Array, protect = authority.protect) => send(url, { type: bodies.rr, body, protect });
    expect(await revoke(revocationOf(issuer, serial, 4), outsider.protect)).toMatchObject({ failInfo: 'signerNotTrusted' });
    expect(await revoke(revocationOf(issuer, randomBytes(8), 4))).toMatchObject({ type: bodies.rp, failInfo: 'badCertId' });
    const registration = (await appliance.list(ca, 'certificates')).find(({ via }: Listed) => via === 'registration-authority') as Listed;
    const own = Buffer.from(registration.serial, 'hex');
    expect(await revoke(revocationOf(issuer, own, 4))).toMatchObject({ type: bodies.rp, failInfo: 'badCertId' });
    expect(await revoke(revocationOf(issuer, serial, 4))).toMatchObject({ type: bodies.rp, status: 0 });
    expect(await revoke(revocationOf(issuer, serial, 4))).toMatchObject({ type: bodies.rp, failInfo: 'certRevoked' });
  });

  test('waits for a person as devices do, whose approval goes on with its word for the key', async () => {
    const name = await appliance.makeCa({ ...openCmp, cmp: { ...openCmp.cmp, 'ra-certs': [authority.pem], 'approval-required': true } });
    const at = appliance.cmpUrl(name);
    const reply = await ask({ template: { proof: raVerified } }, at);
    expect(reply.status).toBe(3);
    const [{ id }] = (await appliance.list(name, 'enrolment-requests')) as [{ id: string }];
    expect((await appliance.act(name, 'approve-enrolment', { id })).status).toBe(200);
    const going = { transactionId: reply.transactionId as Buffer, recipientNonce: reply.senderNonce as Buffer };
    expect(await send(at, { type: bodies.pollReq, body: pollOf(), protect: authority.protect, ...going })).toMatchObject({
      ...{ type: bodies.ip, status: 0 },
    });
  });

  test('has its very certificate in the settings, valid, with the purpose cmcRA', async () => {
    const refused = (pem: string) =>
      appliance.request('PATCH', `/v1/config/keystore/tls/ca/${ca}`, { cmp: { 'ra-certs': [authority.pem, pem] } });
    expect(await refused(makeAuthority('clientAuth').pem)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('cmcRA') },
    });
    expect(await refused('nothing')).toMatchObject({ status: 400, body: { detail: expect.stringContaining('PEM') } });
    expect(await ask({ protect: outsider.protect, template: { proof: raVerified } })).toMatchObject({ failInfo: 'signerNotTrusted' });
    const brief = makeAuthority(undefined, 1);
    const name = await appliance.makeCa({ ...openCmp, cmp: { ...openCmp.cmp, 'ra-certs': [brief.pem] } });
    const { body } = await appliance.request('GET', `/v1/config/keystore/tls/ca/${name}`);
    expect(body.cmp['ra-certs']).toEqual([brief.pem]);
    expect(await ask({ protect: brief.protect }, appliance.cmpUrl(name))).toMatchObject({ status: 0 });
    appliance.clock.step(2 * 24 * 3_600);
    expect(await ask({ protect: brief.protect }, appliance.cmpUrl(name))).toMatchObject({ failInfo: 'signerNotTrusted' });
  });
});

describe('a nested message', () => {
  const ofDevice = (parts: Ask = {}): Buffer => writeMessage(partsFor({ protect: byMac(cmpSecret), ...parts }));
  const around = (inner: readonly Buffer[], parts: Partial<MessageParts> = {}): Promise<CmpReply> =>
    post(url, nested(inner, { protect: authority.protect, ...parts }), cmpSecret);
  const named = (): Required<Pick<MessageParts, 'transactionId' | 'senderNonce'>> => ({
    transactionId: randomBytes(16),
    senderNonce: randomBytes(16),
  });

  test('around one is answered as that one is, which keeps its own protection', async () => {
    const own = named();
    const reply = await around([ofDevice({ ...own, version: 3, info: [implicitConfirm] })], own);
    expect(reply).toMatchObject({ type: bodies.ip, status: 0, protectedBy: 'mac', version: 3, recipientNonce: own.senderNonce });
    expect(recorded()).toMatchObject({ credential: 'shared-secret', serial: serialOf(reply), 'passed-on-by': expect.any(String) });
    expect((await listed()).find(({ serial }) => serial === serialOf(reply))?.via).toBe('cmp-shared-secret');
  });

  test('around several is answered by as many, each in its own way', async () => {
    const inner = [ofDevice({ info: [implicitConfirm] }), ofDevice({ template: { subject: 'no.example.com' } }), writeMessage(partsFor())];
    const reply = await around(inner);
    expect(reply).toMatchObject({ type: bodies.nested, protectedBy: 'signature' });
    const replies = innerOf(reply, cmpSecret);
    expect(replies.map(({ status, protectedBy }) => [status, protectedBy])).toEqual([
      [0, 'mac'],
      [2, 'mac'],
      [0, 'signature'],
    ]);
    const serials = [replies[0], replies[2]].map((one) => serialOf(one as CmpReply));
    expect(recorded()?.['messages']).toMatchObject([{ serial: serials[0] }, { reason: expect.any(String) }, { serial: serials[1] }]);
  });

  test('the same batch again gets the same certificates', async () => {
    const message = nested([ofDevice(), ofDevice()], { protect: authority.protect });
    const [first, second] = [await post(url, message, cmpSecret), await post(url, message, cmpSecret)];
    const serials = (reply: CmpReply) => innerOf(reply, cmpSecret).map(serialOf);
    expect(serials(second)).toEqual(serials(first));
  });

  const own = named();
  const rows: readonly (readonly [string, string, () => Promise<CmpReply>])[] = [
    ['under a MAC', 'wrongIntegrity', () => around([ofDevice(own)], { ...own, protect: byMac(cmpSecret) })],
    ['by one that the CA does not name', 'signerNotTrusted', () => around([ofDevice(own)], { ...own, protect: outsider.protect })],
    ['with another transactionID', 'badRequest', () => around([ofDevice(own)], { senderNonce: own.senderNonce as Buffer })],
    ['with another senderNonce', 'badSenderNonce', () => around([ofDevice(own)], { transactionId: own.transactionId as Buffer })],
    ['around nothing', 'badRequest', () => around([])],
    ['in another', 'badRequest', () => around([nested([ofDevice()], { ...own, protect: authority.protect })], own)],
    ['around a wrong MAC', 'badMessageCheck', () => around([ofDevice(), ofDevice({ protect: byMac('wrong secret') })])],
    [
      'around two of one transactionID',
      'transactionIdInUse',
      () => around([1, 2].map(() => ofDevice({ transactionId: randomBytes(1).fill(1) }))),
    ],
    ['around two of one senderNonce', 'badSenderNonce', () => around([1, 2].map(() => ofDevice({ senderNonce: Buffer.alloc(16) })))],
    ['around too many', 'badRequest', () => around(Array.from({ length: 17 }, () => ofDevice()))],
  ];
  test.each(rows)('%s is refused as a whole: %s', async (_what, failInfo, run) => {
    const before = (await listed()).length;
    expect(await run()).toMatchObject({ type: bodies.error, status: 2, failInfo });
    expect(await listed()).toHaveLength(before);
  });

  test('does not make a device one that vouches', async () => {
    const reply = await around([ofDevice({ ...own, template: { proof: raVerified } })], own);
    expect(reply).toMatchObject({ type: bodies.ip, status: 2, failInfo: 'notAuthorized', protectedBy: 'mac' });
  });

  test('of a device that passes others on is refused', async () => {
    const keys: Pair = newKeys();
    const { certificate } = await ask({ template: { keys }, info: [implicitConfirm] });
    const reply = await around([ofDevice(own)], { ...own, protect: holding(keys, certificate as X509Certificate) });
    expect(reply).toMatchObject({ type: bodies.error, failInfo: 'notAuthorized' });
  });
});

describe('a certificate that nobody has confirmed', () => {
  test('renews nothing by CMP until it is confirmed', async () => {
    const keys = newKeys();
    const reply = await ask({ template: { keys }, protect: byMac(cmpSecret) });
    const certificate = reply.certificate as X509Certificate;
    const protect = holding(keys, certificate);
    for (const type of [bodies.kur, bodies.cr, bodies.ir])
      expect(await ask({ type, protect, template: { keys } })).toMatchObject({
        ...{ type: bodies.error, failInfo: 'signerNotTrusted', reason: expect.stringContaining('not confirmed') },
      });
    // Nor is it trusted by a CA that trusts this one.
    const other = await appliance.makeCa({
      cmp: { ...openCmp.cmp, 'allow-trusted-cert': true },
      est: { ...openCmp.est, 'initial-enroll-trust-ca': ca },
    });
    const elsewhere = () => ask({ protect, template: { keys: newKeys() }, info: [implicitConfirm] }, appliance.cmpUrl(other));
    expect(await elsewhere()).toMatchObject({ type: bodies.error, failInfo: 'signerNotTrusted' });
    const going = { transactionId: reply.transactionId as Buffer, recipientNonce: reply.senderNonce as Buffer };
    const confirm = { type: bodies.certConf, body: confirmationOf(certificate.raw), protect: byMac(cmpSecret), ...going };
    expect((await send(url, confirm, cmpSecret)).type).toBe(bodies.pkiconf);
    expect(await elsewhere()).toMatchObject({ type: bodies.ip, status: 0 });
    expect(await ask({ type: bodies.kur, protect, template: { keys }, info: [implicitConfirm] })).toMatchObject({ status: 0 });
  });

  test('nor does one that a person has approved', async () => {
    const name = await appliance.makeCa({ ...openCmp, cmp: { ...openCmp.cmp, 'approval-required': true } });
    const at = appliance.cmpUrl(name);
    const keys = newKeys();
    const reply = await ask({ template: { keys }, protect: byMac(cmpSecret) }, at);
    const [{ id }] = (await appliance.list(name, 'enrolment-requests')) as [{ id: string }];
    await appliance.act(name, 'approve-enrolment', { id });
    const going = { transactionId: reply.transactionId as Buffer, recipientNonce: reply.senderNonce as Buffer };
    const issued = await send(at, { type: bodies.pollReq, body: pollOf(), protect: byMac(cmpSecret), ...going }, cmpSecret);
    const protect = holding(keys, issued.certificate as X509Certificate);
    expect(await ask({ type: bodies.kur, protect, template: { keys } }, at)).toMatchObject({ failInfo: 'signerNotTrusted' });
  });
});

test('a known sender that is refused again and again is answered by HTTP; others behind its address are not', async () => {
  const keys = newKeys();
  const { certificate } = await ask({ template: { keys }, info: [implicitConfirm] });
  const protect = holding(keys, certificate as X509Certificate);
  const other = (): Promise<CmpReply> => ask({ type: bodies.cr, protect, template: { subject: 'other.example.test', names: [] } });
  const answers = [await other()];
  // Some come back meanwhile.
  while (answers.at(-1)?.http === 200 && answers.length < 1_000) answers.push(await other());
  expect(answers.slice(0, 100).every(({ http, failInfo }) => http === 200 && failInfo === 'notAuthorized')).toBe(true);
  expect(answers.at(-1)).toMatchObject({ http: 429, retryAfter: expect.any(String) });
  expect(await ask({ protect: byMac(cmpSecret), template: { subject: 'other.example.com' } })).toMatchObject({ failInfo: 'notAuthorized' });
  expect(await ask({ type: bodies.kur, protect, template: { keys }, info: [implicitConfirm] })).toMatchObject({ status: 0 });
});
