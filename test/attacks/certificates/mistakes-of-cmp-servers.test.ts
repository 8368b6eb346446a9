// EJBCA, OpenSSL's mock server and others: what a server of CMP does that believes a message before its sender is proven, or more than the sender may say.
import { randomBytes, type X509Certificate } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { sequence } from '../../../core/der/der.ts';
import { type CmpReply, holding, partsOf, post, send } from '../../harness/cmp/device.ts';
import {
  bodies,
  byMac,
  confirmationOf,
  implicitConfirm,
  type MessageParts,
  newKeys,
  oldCertificate,
  type Pair,
  pollOf,
  type Protect,
  raVerified,
  requestOf,
  revocationOf,
  type TemplateOptions,
  writeMessage,
} from '../../harness/cmp/messages.ts';
import { type CmpAppliance, cmpSecret, openCmp, startCmpAppliance } from '../../plugins/cmp/cmp-appliance.ts';

let appliance: CmpAppliance;
let url: string;
let ca: string;
let keys: Pair;

beforeAll(async () => {
  appliance = await startCmpAppliance();
  ca = await appliance.makeCa({ ...openCmp, est: { ...openCmp.est, 'allow-ip-sans': false } });
  url = appliance.cmpUrl(ca);
  keys = newKeys();
});
beforeEach(() => appliance.clock.step(61));

type Ask = Partial<MessageParts> & { readonly template?: Partial<TemplateOptions>; readonly secret?: string };

const messageOf = ({ template = {}, ...parts }: Ask = {}): MessageParts => ({
  ...{ type: bodies.ir, body: sequence(requestOf({ keys, ...template })), protect: byMac(cmpSecret), info: [implicitConfirm] },
  ...parts,
});
const ask = ({ secret = cmpSecret, ...parts }: Ask = {}): Promise<CmpReply> => send(url, messageOf(parts), secret);

async function enrolled(subject: string): Promise<{ readonly certificate: X509Certificate; readonly protect: Protect }> {
  const own = newKeys();
  const { certificate } = await ask({ template: { keys: own, subject, names: [] } });
  return { certificate: certificate as X509Certificate, protect: holding(own, certificate as X509Certificate) };
}

const issued = async (): Promise<number> =>
  ((await appliance.list(ca, 'certificates')) as { via: string }[]).filter(({ via }) => via.startsWith('cmp')).length;
const statusOf = async ({ serialNumber }: X509Certificate): Promise<string | undefined> =>
  ((await appliance.list(ca, 'certificates')) as { serial: string; status: string }[]).find(
    ({ serial }) => serial === serialNumber.toLowerCase(),
  )?.status;

async function expectNothing(reply: Promise<CmpReply>, failInfo: string): Promise<void> {
  const before = await issued();
  expect(await reply).toMatchObject({ certificate: undefined, failInfo });
  expect(await issued()).toBe(before);
}

test('a request that says that an authority has verified it gets nothing, under a secret and under a certificate', async () => {
  const { protect } = await enrolled('a.example.test');
  await expectNothing(ask({ template: { proof: raVerified } }), 'notAuthorized');
  await expectNothing(ask({ protect, type: bodies.cr, template: { proof: raVerified } }), 'notAuthorized');
});

test('a request without protection, or inside another message, gets nothing', async () => {
  await expectNothing(ask({ algorithm: null, protection: null }), 'badMessageCheck');
  await expectNothing(ask({ type: 20, body: sequence(writeMessage(messageOf())) }), 'wrongIntegrity');
});

test('a part that the protection does not cover as it was protected changes nothing', async () => {
  const message = writeMessage(messageOf({ template: { subject: 'a.example.test', names: [] } }));
  const changed = Buffer.from(message);
  changed[changed.indexOf('a.example.test')] = 'b'.charCodeAt(0);
  await expectNothing(post(url, changed, cmpSecret), 'badMessageCheck');
});

test('rounds that would keep the server busy for minutes are refused before they are computed', async () => {
  for (const iterations of [100_001, 2 ** 31 - 1, 2 ** 40]) await expectNothing(ask({ protect: byMac('x', { iterations }) }), 'badAlg');
});

test('the secret of one device buys no name of another, and its reference no other secret', async () => {
  const make = async (subject: string): Promise<{ id: string; secret: string }> =>
    (await appliance.act(ca, 'make-enrolment-secret', { subject, 'for-cmp': true })).body;
  const [one, other] = [await make('CN=one.example.test'), await make('CN=other.example.test')];
  const template = { subject: 'other.example.test', names: [] };
  await expectNothing(ask({ protect: byMac(one.secret, { reference: one.id }), secret: one.secret, template }), 'notAuthorized');
  await expectNothing(ask({ protect: byMac(one.secret, { reference: other.id }), template }), 'badMessageCheck');
  await expectNothing(ask({ protect: byMac(cmpSecret, { reference: other.id }), template }), 'badMessageCheck');
});

test('the holder of a certificate gets no other names, and neither updates nor revokes that of another', async () => {
  const [own, other] = [await enrolled('own.example.test'), await enrolled('other.example.test')];
  const { issuer, serial } = partsOf(other.certificate);
  const { protect } = own;
  for (const type of [bodies.ir, bodies.cr, bodies.kur])
    await expectNothing(ask({ type, protect, template: { subject: 'other.example.test', names: [] } }), 'notAuthorized');
  const template = { subject: 'own.example.test', names: [], controls: [oldCertificate(issuer, serial)] };
  await expectNothing(ask({ type: bodies.kur, protect, template }), 'badCertId');
  await expectNothing(ask({ type: bodies.rr, protect, body: revocationOf(issuer, serial) }), 'badCertId');
  expect(await statusOf(other.certificate)).toBe('valid');
});

test('a certificate of another CA with the same names is not one of this one', async () => {
  const own = newKeys();
  const elsewhere = appliance.cmpUrl(await appliance.makeCa());
  const { certificate } = await send(elsewhere, messageOf({ template: { keys: own } }), cmpSecret);
  const protect = holding(own, certificate as X509Certificate);
  await expectNothing(ask({ type: bodies.kur, protect }), 'signerNotTrusted');
});

test('a transaction is neither taken over, nor confirmed, nor polled by others', async () => {
  const { protect } = await enrolled('own.example.test');
  const reply = await ask({ info: [] });
  const parts = { transactionId: reply.transactionId as Buffer, recipientNonce: reply.senderNonce as Buffer, protect };
  const der = (reply.certificate as X509Certificate).raw;
  await expectNothing(send(url, { type: bodies.certConf, body: confirmationOf(der, undefined, 2), ...parts }), 'badRequest');
  await expectNothing(send(url, { type: bodies.pollReq, body: pollOf(), ...parts }), 'badRequest');
  await expectNothing(
    ask({ ...parts, recipientNonce: null, type: bodies.cr, template: { subject: 'own.example.test', names: [] } }),
    'transactionIdInUse',
  );
  expect(await statusOf(reply.certificate as X509Certificate)).toBe('valid');
});

test('a recorded message gets what it got, and nothing new', async () => {
  const message = writeMessage(messageOf({ transactionId: randomBytes(16), template: { keys: newKeys() } }));
  const first = await post(url, message, cmpSecret);
  const before = await issued();
  for (let time = 0; time < 5; time++)
    expect((await post(url, message, cmpSecret)).certificate?.serialNumber).toBe(first.certificate?.serialNumber);
  expect(await issued()).toBe(before);
});

test('a certificate that was never confirmed does not stay', async () => {
  const { certificate } = await ask({ info: [], template: { keys: newKeys() } });
  expect(await statusOf(certificate as X509Certificate)).toBe('valid');
  appliance.clock.step(2 * 3_600);
  await appliance.revokeUnconfirmed();
  expect(await statusOf(certificate as X509Certificate)).toBe('revoked');
});

test('a revoked certificate proves nothing, and what it says is not looked at', async () => {
  const { certificate, protect } = await enrolled('own.example.test');
  await appliance.act(ca, 'revoke', { serial: certificate.serialNumber.toLowerCase() });
  await expectNothing(ask({ type: bodies.kur, protect, body: Buffer.from('not DER') }), 'certRevoked');
});
