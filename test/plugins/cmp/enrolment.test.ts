// Enrolment by CMP: first requests, confirmation, repetitions, updates, revocation, approval by a person, and what is refused.
import { randomBytes, type X509Certificate } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Unreadable } from '../../../core/store/store.ts';
import { decodeKey, encodeKey } from '../../../core/store/keys.ts';
import { damageRecords } from '../../harness/damage.ts';
import { sequence } from '../../../core/der/der.ts';
import { type CmpReply, holding, partsOf, post, send } from '../../harness/cmp/device.ts';
import {
  bodies,
  byCertificate,
  byMac,
  confirmationOf,
  general,
  implicitConfirm,
  type MessageParts,
  nameOf,
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
import { type CmpAppliance, cmpSecret, openCmp, startCmpAppliance } from './cmp-appliance.ts';

let appliance: CmpAppliance;
let ca: string;
let url: string;
let keys: Pair;

beforeAll(async () => {
  appliance = await startCmpAppliance();
  ca = await appliance.makeCa();
  url = appliance.cmpUrl(ca);
  keys = newKeys();
});

// Refused messages are limited by address.
beforeEach(() => appliance.clock.step(61));

type Ask = Partial<MessageParts> & { readonly template?: Partial<TemplateOptions>; readonly at?: string };

/** An ir of a device under the shared secret. */
function ask({ template = {}, at = url, ...parts }: Ask = {}): Promise<CmpReply> {
  const body = sequence(requestOf({ keys, ...template }));
  return send(at, { type: bodies.ir, body, protect: byMac(cmpSecret), ...parts }, cmpSecret);
}

type Listed = { readonly serial: string; readonly via: string; readonly status: string };
const listed = async (name = ca): Promise<readonly Listed[]> =>
  ((await appliance.list(name, 'certificates')) as Listed[]).filter(({ via }) => via.startsWith('cmp-'));
const serialOf = ({ certificate }: CmpReply): string => (certificate as X509Certificate).serialNumber.toLowerCase();
const statusOf = async (serial: string, name = ca): Promise<string | undefined> =>
  (await listed(name)).find((one) => one.serial === serial)?.status;

/** A device that has its certificate. */
async function enrolled(template: Partial<TemplateOptions> = {}): Promise<{ keys: Pair; certificate: X509Certificate; protect: Protect }> {
  const own = newKeys();
  const reply = await ask({ template: { keys: own, ...template }, info: [implicitConfirm] });
  const certificate = reply.certificate as X509Certificate;
  return { keys: own, certificate, protect: holding(own, certificate) };
}

/** The message that goes on after an answer. */
const next = (reply: CmpReply, parts: Partial<MessageParts> & Pick<MessageParts, 'type' | 'body'>, at = url): Promise<CmpReply> =>
  send(
    at,
    {
      protect: byMac(cmpSecret),
      transactionId: reply.transactionId ?? null,
      recipientNonce: reply.senderNonce ?? null,
      ...parts,
    },
    cmpSecret,
  );

const accept = ({ certificate }: CmpReply): Pick<MessageParts, 'type' | 'body'> => ({
  type: bodies.certConf,
  body: confirmationOf((certificate as X509Certificate).raw),
});

describe('a first enrolment under the shared secret', () => {
  test('gets a certificate that it confirms, protected by the same secret', async () => {
    const senderNonce = randomBytes(16);
    const transactionId = randomBytes(16);
    const reply = await ask({ senderNonce, transactionId });
    expect(reply).toMatchObject({ http: 200, version: 2, type: bodies.ip, status: 0, protectedBy: 'mac', isImplicit: false });
    expect([reply.transactionId, reply.recipientNonce]).toEqual([transactionId, senderNonce]);
    expect([reply.certificate?.subject, reply.certificate?.subjectAltName]).toEqual(['CN=dev.example.test', 'DNS:dev.example.test']);
    expect(await next(reply, accept(reply))).toMatchObject({ type: bodies.pkiconf, protectedBy: 'mac' });
    expect(appliance.cmpRecords().at(-1)?.['request-parameters']).toMatchObject({
      ...{ operation: 'message', message: 'certConf', ca, credential: 'shared-secret', serial: serialOf(reply) },
    });
    appliance.clock.step(2 * 3_600);
    await appliance.revokeUnconfirmed();
    expect(await statusOf(serialOf(reply))).toBe('valid');
  });

  test('without a subject gets its names alone, as a critical extension', async () => {
    const reply = await ask({ template: { keys: newKeys(), subject: null } });
    expect([reply.certificate?.subject, reply.certificate?.subjectAltName]).toEqual([undefined, 'DNS:dev.example.test']);
    expect(await next(reply, accept(reply))).toMatchObject({ type: bodies.pkiconf });
  });

  test('is refused under a wrong secret, with one answer for every reference', async () => {
    const texts = [];
    for (const reference of ['1234', 'other', '5d0a3c7e-9b1f-4d0a-8c7e-9b1f5d0a3c7e']) {
      const reply = await ask({ protect: byMac('wrong secret', { reference }) });
      expect(reply).toMatchObject({ type: bodies.error, failInfo: 'badMessageCheck', protectedBy: 'signature' });
      texts.push(reply.reason);
    }
    expect(new Set(texts).size).toBe(1);
  });

  test('asks at the well-known place too, and with the name of an operation behind it', async () => {
    for (const path of [`/.well-known/cmp/p/${appliance.tenantId}~${ca}`, `/cmp/${appliance.tenantId}/${ca}/initialization`])
      expect(await ask({ at: `${appliance.plain}${path}` })).toMatchObject({ type: bodies.ip, status: 0 });
    expect((await ask({ at: `${appliance.plain}/.well-known/cmp/p/${appliance.tenantId}~nobody` })).http).toBe(404);
  });
});

describe('a certificate', () => {
  test.each([
    ['with a wrong hash', () => confirmationOf(randomBytes(8), randomBytes(32)), bodies.error],
    ['by a rejection', (der: Uint8Array) => confirmationOf(der, undefined, 2), bodies.pkiconf],
    ['by a confirmation of nothing', () => sequence(), bodies.pkiconf],
  ])('that is confirmed %s is revoked', async (_how, body, answered) => {
    const reply = await ask();
    const der = (reply.certificate as X509Certificate).raw;
    expect((await next(reply, { type: bodies.certConf, body: body(der) })).type).toBe(answered);
    expect(await statusOf(serialOf(reply))).toBe('revoked');
    expect(await next(reply, accept(reply))).toMatchObject({ failInfo: 'certConfirmed' });
  });

  test('that is not confirmed within an hour is revoked, and a later confirmation refused', async () => {
    const reply = await ask();
    appliance.clock.step(3_600 + 120);
    expect(await next(reply, accept(reply))).toMatchObject({ type: bodies.error, reason: expect.stringContaining('in time') });
    await appliance.revokeUnconfirmed();
    expect(await statusOf(serialOf(reply))).toBe('revoked');
    const revoked = appliance.cmpRecords().filter(({ 'request-parameters': asked }) => asked?.['operation'] === 'revoke-unconfirmed');
    expect(revoked.map(({ 'request-parameters': { serial } }) => serial)).toContain(serialOf(reply));
  });

  test.each(['cmp/transactions', 'cmp/open'])('that is not confirmed is revoked, though its record in %s does not open', async (table) => {
    const replies = [await ask(), await ask()];
    appliance.clock.step(3_600 + 120);
    await damageRecords(appliance, (texts) => {
      const first = texts.find((text) => decodeKey(text).table === 'cmp/open') ?? '';
      return [encodeKey(table, decodeKey(first).key) ?? ''];
    });
    await appliance.sweepTransactions();
    await appliance.revokeUnconfirmed();
    expect(await Promise.all(replies.map((reply) => statusOf(serialOf(reply))))).toEqual(['revoked', 'revoked']);
    const store = appliance.store.prefixed('cmp');
    expect(
      ['transactions', 'open'].flatMap((name) => [...store.table(name).entriesFound([])].filter(([, one]) => one instanceof Unreadable)),
    ).toEqual([]);
  });

  test('needs no confirmation where the device asks to be spared it; the same confirmation twice is one', async () => {
    const implicit = await ask({ info: [implicitConfirm] });
    expect(implicit.isImplicit).toBe(true);
    expect(await next(implicit, accept(implicit))).toMatchObject({ failInfo: 'certConfirmed' });
    const reply = await ask();
    const senderNonce = randomBytes(16);
    for (let time = 0; time < 2; time++) expect((await next(reply, { ...accept(reply), senderNonce })).type).toBe(bodies.pkiconf);
    expect(await next(reply, accept(reply))).toMatchObject({ failInfo: 'certConfirmed' });
  });

  test('is confirmed by its own sender alone, with the nonce of the answer', async () => {
    const reply = await ask();
    expect(await next(reply, { ...accept(reply), recipientNonce: randomBytes(16) })).toMatchObject({ failInfo: 'badRecipientNonce' });
    expect(await next(reply, { ...accept(reply), recipientNonce: null })).toMatchObject({ failInfo: 'badRecipientNonce' });
    const other = await enrolled();
    expect(await next(reply, { ...accept(reply), protect: other.protect })).toMatchObject({ failInfo: 'badRequest' });
    expect((await next(reply, accept(reply))).type).toBe(bodies.pkiconf);
  });
});

describe('a repeated request', () => {
  test('gets the same certificate, also when four come at once; another one under its transactionID is refused', async () => {
    const own = newKeys();
    const message = writeMessage({
      ...{ type: bodies.ir, body: sequence(requestOf({ keys: own })), protect: byMac(cmpSecret), transactionId: randomBytes(16) },
    });
    const replies = await Promise.all([1, 2, 3, 4].map(() => post(url, message, cmpSecret)));
    expect(new Set(replies.map(serialOf)).size).toBe(1);
    const [first] = replies as [CmpReply];
    const transactionId = first.transactionId as Buffer;
    for (const other of [
      ask({ transactionId }),
      ask({ transactionId, template: { keys: own, subject: 'b.example.test', names: [] } }),
      ask({ transactionId, type: bodies.cr, template: { keys: own } }),
      ask({ transactionId, template: { keys: own }, protect: byMac(cmpSecret, { reference: 'other' }) }),
    ])
      expect(await other).toMatchObject({ type: bodies.error, failInfo: 'transactionIdInUse', protectedBy: 'mac' });
    // Each of the copies has a nonce that the confirmation goes on with.
    for (const copy of replies.toReversed()) {
      const answer = await next(copy, accept(copy));
      expect([answer.type, answer.failInfo]).toEqual(
        copy === replies.at(-1) ? [bodies.pkiconf, undefined] : [bodies.error, 'certConfirmed'],
      );
    }
  });
});

describe('a recorded message', () => {
  const revoke = (serial: string, reason: string): Promise<unknown> => appliance.act(ca, 'revoke', { serial, reason });

  test.each(['superseded', 'key-compromise'])(
    'of an ir whose certificate was revoked (%s) gets no other, days later neither',
    async (reason) => {
      const message = writeMessage({
        ...{ type: bodies.ir, body: sequence(requestOf({ keys: newKeys() })), protect: byMac(cmpSecret), info: [implicitConfirm] },
      });
      const reply = await post(url, message, cmpSecret);
      await revoke(serialOf(reply), reason);
      const before = (await listed()).length;
      expect(await post(url, message, cmpSecret)).toMatchObject({ failInfo: 'transactionIdInUse' });
      appliance.clock.step(2 * 24 * 3_600);
      await appliance.sweepTransactions();
      expect(await post(url, message, cmpSecret)).toMatchObject({ failInfo: 'transactionIdInUse' });
      expect(await listed()).toHaveLength(before);
    },
  );

  test('of an ir whose certificate has ended gets no other', async () => {
    const brief = await appliance.makeCa({ ...openCmp, est: { ...openCmp.est, ttl: '60s' } });
    const message = writeMessage({
      ...{ type: bodies.ir, body: sequence(requestOf({ keys: newKeys() })), protect: byMac(cmpSecret), info: [implicitConfirm] },
    });
    expect(await post(appliance.cmpUrl(brief), message, cmpSecret)).toMatchObject({ status: 0 });
    appliance.clock.step(3_600);
    expect(await post(appliance.cmpUrl(brief), message, cmpSecret)).toMatchObject({ failInfo: 'transactionIdInUse' });
    appliance.clock.step(30 * 24 * 3_600);
    await appliance.sweepTransactions();
    expect(await post(appliance.cmpUrl(brief), message, cmpSecret)).toMatchObject({ failInfo: 'transactionIdInUse' });
  });

  test('of a kur whose certificate was revoked gets no other', async () => {
    const device = await enrolled();
    const body = sequence(requestOf({ keys: newKeys() }));
    const message = writeMessage({ type: bodies.kur, body, protect: device.protect, info: [implicitConfirm] });
    await revoke(serialOf(await post(url, message, cmpSecret)), 'key-compromise');
    expect(await post(url, message, cmpSecret)).toMatchObject({ failInfo: 'transactionIdInUse' });
  });

  test('that is not recorded: a compromised key is certified in no other transaction', async () => {
    const own = newKeys();
    await revoke(serialOf(await ask({ template: { keys: own } })), 'key-compromise');
    expect(await ask({ template: { keys: own } })).toMatchObject({ status: 2, failInfo: 'notAuthorized' });
  });
});

test('two senders at once with one transactionID: one of them gets a certificate', async () => {
  const devices = [await enrolled(), await enrolled()];
  const transactionId = randomBytes(16);
  const before = (await listed()).length;
  const replies = await Promise.all(
    devices.map(({ protect }) => ask({ type: bodies.kur, protect, transactionId, template: { keys: newKeys() } })),
  );
  expect(new Set(replies.map(({ failInfo }) => failInfo))).toEqual(new Set([undefined, 'transactionIdInUse']));
  expect(await listed()).toHaveLength(before + 1);
});

describe('the holder of a certificate', () => {
  test('updates it with a new key, and gets another for the same names alone', async () => {
    const device = await enrolled();
    const { issuer, serial } = partsOf(device.certificate);
    const controls = [oldCertificate(issuer, serial)];
    const { protect } = device;
    const updated = await ask({ type: bodies.kur, protect, template: { keys: newKeys(), controls, subject: 'DEV.Example.test' } });
    // Names are recorded as they are certified.
    expect(appliance.cmpRecords().at(-1)?.['request-parameters']).toMatchObject({
      subject: 'CN=dev.example.test',
      serial: serialOf(updated),
    });
    expect(updated).toMatchObject({ type: bodies.kup, status: 0, protectedBy: 'signature' });
    expect((await next(updated, { ...accept(updated), protect })).type).toBe(bodies.pkiconf);
    expect(await ask({ type: bodies.cr, protect, template: { keys: newKeys() } })).toMatchObject({ type: bodies.cp, status: 0 });
    expect(await ask({ type: bodies.cr, protect, template: { keys: newKeys(), subject: 'b.example.test' } })).toMatchObject({
      ...{ type: bodies.cp, status: 2, failInfo: 'notAuthorized' },
    });
    expect((await listed()).filter(({ via }) => via === 'cmp-renewal')).not.toHaveLength(0);
  });

  test('updates no other certificate, and nothing without one', async () => {
    const [device, other] = [await enrolled(), await enrolled()];
    const { issuer, serial } = partsOf(other.certificate);
    const controls = [oldCertificate(issuer, serial)];
    expect(await ask({ type: bodies.kur, protect: device.protect, template: { controls } })).toMatchObject({
      ...{ type: bodies.kup, failInfo: 'badCertId' },
    });
    expect(await ask({ type: bodies.kur, template: { controls } })).toMatchObject({ type: bodies.kup, failInfo: 'notAuthorized' });
    await appliance.patchCa(ca, { cmp: { 'allow-reenroll-with-issued-cert': false } });
    expect(await ask({ type: bodies.kur, protect: device.protect })).toMatchObject({ failInfo: 'notAuthorized' });
    await appliance.patchCa(ca, { cmp: { 'allow-reenroll-with-issued-cert': true } });
  });

  test('revokes it, and no other one; then it proves nothing more', async () => {
    const [device, other] = [await enrolled(), await enrolled()];
    const named = (certificate: X509Certificate, reason?: number): Uint8Array => {
      const { issuer, serial } = partsOf(certificate);
      return revocationOf(issuer, serial, reason);
    };
    const revoke = (body: Uint8Array, protect = device.protect): Promise<CmpReply> =>
      send(url, { type: bodies.rr, body, protect }, cmpSecret);
    expect(await revoke(named(other.certificate))).toMatchObject({ type: bodies.rp, failInfo: 'badCertId' });
    expect(await revoke(named(device.certificate), byMac(cmpSecret))).toMatchObject({ type: bodies.rp, failInfo: 'notAuthorized' });
    expect(await revoke(named(device.certificate, 8))).toMatchObject({ failInfo: 'badRequest' });
    expect(await revoke(named(device.certificate, 1))).toMatchObject({ type: bodies.rp, status: 0 });
    expect(await statusOf(device.certificate.serialNumber.toLowerCase())).toBe('revoked');
    expect(await revoke(named(device.certificate, 1))).toMatchObject({ type: bodies.error, failInfo: 'certRevoked' });
    expect(await ask({ type: bodies.kur, protect: device.protect })).toMatchObject({ type: bodies.error, failInfo: 'certRevoked' });
  });
});

describe('a one-time secret', () => {
  test('proves itself by its id, is spent once, and confirms what it got; without for-cmp it proves nothing, and where nothing takes it there is none', async () => {
    const make = async (fields: object): Promise<{ id: string; secret: string }> =>
      (await appliance.act(ca, 'make-enrolment-secret', { subject: 'CN=Printer 7', ...fields })).body;
    // For CMP unless told otherwise: the CA has no SCEP, which would take it by its hash.
    const { id, secret } = await make({});
    const subject = 'Printer 7';
    const protect = byMac(secret, { reference: id });
    const mine = (parts: Ask = {}): Promise<CmpReply> =>
      send(url, { type: bodies.ir, body: sequence(requestOf({ keys, subject, names: [], ...parts.template })), protect, ...parts }, secret);
    expect(await mine({ template: { subject: 'dev.example.test' } })).toMatchObject({ status: 2, failInfo: 'notAuthorized' });
    const reply = await mine();
    expect(reply.certificate?.subject).toBe('CN=Printer 7');
    const confirm = {
      ...accept(reply),
      protect,
      transactionId: reply.transactionId as Buffer,
      recipientNonce: reply.senderNonce as Buffer,
      senderNonce: randomBytes(16),
    };
    expect((await send(url, confirm, secret)).type).toBe(bodies.pkiconf);
    // Spent, it goes on with its own transaction; for another one it is no credential, and the tenant does not pay for it.
    const admitted = appliance.admitted.length;
    expect((await send(url, confirm, secret)).type).toBe(bodies.pkiconf);
    expect(appliance.admitted).toHaveLength(admitted + 1);
    const used = { status: 2, failInfo: 'notAuthorized', reason: expect.stringContaining('used already'), protectedBy: 'mac' };
    expect(await mine()).toMatchObject({ ...used, type: bodies.ip });
    expect(await send(url, { type: bodies.genm, body: sequence(), protect }, secret)).toMatchObject({ ...used, type: bodies.error });
    expect(appliance.admitted).toHaveLength(admitted + 1);
    const count = (await appliance.list(ca, 'enrolment-secrets')).length;
    expect(await make({ 'for-cmp': false })).toMatchObject({ detail: expect.stringMatching(/CMP on and SCEP off.* set scep\/enabled/) });
    expect(await appliance.list(ca, 'enrolment-secrets')).toHaveLength(count);
    await appliance.patchCa(ca, { scep: { enabled: true } });
    const hashed = await make({ 'for-cmp': false });
    await appliance.patchCa(ca, { scep: { enabled: false } });
    expect(await ask({ protect: byMac(hashed.secret, { reference: hashed.id }) })).toMatchObject({ failInfo: 'badMessageCheck' });
    const revoked = await make({ 'for-cmp': true });
    await appliance.act(ca, 'revoke-enrolment-secret', { id: revoked.id });
    expect(await ask({ protect: byMac(revoked.secret, { reference: revoked.id }) })).toMatchObject({ failInfo: 'badMessageCheck' });
  });
});

describe('where a person decides', () => {
  let name: string;
  let at: string;
  beforeAll(async () => {
    name = await appliance.makeCa({ ...openCmp, cmp: { ...openCmp.cmp, 'approval-required': true } });
    at = appliance.cmpUrl(name);
  });
  const poll = (reply: CmpReply): Promise<CmpReply> => next(reply, { type: bodies.pollReq, body: pollOf() }, at);
  const waiting = async (): Promise<readonly { id: string; via: string }[]> => (await appliance.list(name, 'enrolment-requests')) as never;

  test('a device waits, polls, and gets its certificate with the approval', async () => {
    const reply = await ask({ at });
    expect(reply).toMatchObject({ type: bodies.ip, status: 3 });
    const polled = await poll(reply);
    expect(polled).toMatchObject({ type: bodies.pollRep, protectedBy: 'mac' });
    // The same question again: an answer was lost.
    expect((await poll(reply)).type).toBe(bodies.pollRep);
    const [{ id, via } = { id: '', via: '' }] = await waiting();
    expect(via).toBe('cmp-shared-secret');
    expect((await appliance.act(name, 'approve-enrolment', { id })).status).toBe(200);
    const issued = await poll(polled);
    expect(issued).toMatchObject({ type: bodies.ip, status: 0 });
    expect((await next(issued, accept(issued), at)).type).toBe(bodies.pkiconf);
  });

  test('a refusal is told, and what is approved and never fetched is revoked', async () => {
    const rejected = await ask({ at, template: { keys: newKeys() } });
    await appliance.act(name, 'reject-enrolment', { id: (await waiting())[0]?.id ?? '' });
    expect(await poll(rejected)).toMatchObject({
      type: bodies.error,
      failInfo: 'notAuthorized',
      reason: expect.stringContaining('person'),
    });
    await ask({ at, template: { keys: newKeys(), subject: 'late.example.test', names: [] } });
    const { body } = await appliance.act(name, 'approve-enrolment', { id: (await waiting())[0]?.id ?? '' });
    appliance.clock.step(9 * 24 * 3_600);
    await appliance.revokeUnconfirmed();
    expect(await statusOf(body.serial, name)).toBe('revoked');
  });
});

describe('is refused', () => {
  const template = (fields: Partial<TemplateOptions>) => () => ask({ template: fields });
  const message = (parts: Ask) => () => ask(parts);
  const info = (id: string, ...value: readonly Uint8Array[]): Uint8Array => sequence(Buffer.from(id, 'hex'), ...value);
  const implicitId = '06082b0601050507040d';
  const waitId = '06082b0601050507040e';
  const time = Buffer.concat([Buffer.from('180f', 'hex'), Buffer.from('20300101000000Z')]);
  const rows: readonly (readonly [string, string, () => Promise<CmpReply>])[] = [
    ['another pvno', 'unsupportedVersion', message({ version: 1 })],
    ['no transactionID', 'badDataFormat', message({ transactionId: null })],
    ['no senderNonce', 'badSenderNonce', message({ senderNonce: null })],
    ['a short senderNonce', 'badSenderNonce', message({ senderNonce: randomBytes(15) })],
    ['a recipNonce in a first message', 'badRecipientNonce', message({ recipientNonce: randomBytes(16) })],
    ['a sender that is not a directoryName', 'badMessageCheck', message({ sender: Buffer.from('8103612e62', 'hex') })],
    ['no senderKID with a MAC', 'badMessageCheck', message({ keyId: null })],
    ['a protection without its algorithm', 'badMessageCheck', message({ algorithm: null })],
    ['an algorithm without protection', 'badMessageCheck', message({ protection: null })],
    ['a changed protection', 'badMessageCheck', message({ protection: randomBytes(20) })],
    ['too few rounds', 'badAlg', message({ protect: byMac(cmpSecret, { iterations: 99 }) })],
    ['too many rounds', 'badAlg', message({ protect: byMac(cmpSecret, { iterations: 100_001 }) })],
    ['a short salt', 'badAlg', message({ protect: byMac(cmpSecret, { salt: randomBytes(7) }) })],
    ['SHA-1 as one-way function', 'badAlg', message({ protect: byMac(cmpSecret, { owf: 'sha1' }) })],
    ['a value of implicitConfirm', 'badRequest', message({ info: [info(implicitId, Buffer.from('0101ff', 'hex'))] })],
    ['implicitConfirm beside confirmWaitTime', 'badRequest', message({ info: [implicitConfirm, info(waitId, time)] })],
    ['a confirmWaitTime of another type', 'badDataFormat', message({ info: [info(waitId, Buffer.from('0500', 'hex'))] })],
    ['a body that nobody takes', 'badRequest', message({ type: bodies.genp, body: sequence() })],
    ['no proof of possession', 'badPOP', template({ proof: null })],
    [
      'a wrong proof of possession',
      'badPOP',
      () => ask({ body: sequence(requestOf({ keys: { ...keys, privateKey: newKeys().privateKey } })) }),
    ],
    ['raVerified', 'notAuthorized', template({ proof: raVerified })],
    ['another certReqId', 'badRequest', template({ requestId: 1 })],
    ['no subject', 'badCertTemplate', template({ subject: null, names: [] })],
    ['a serial number in the template', 'badCertTemplate', template({ fields: [Buffer.from('810101', 'hex')] })],
    ['two requests', 'badRequest', () => ask({ body: sequence(requestOf({ keys }), requestOf({ keys })) })],
    ['a name outside the policy', 'notAuthorized', template({ subject: 'dev.example.com' })],
    ['an oldCertID under a MAC', 'badCertId', template({ controls: [oldCertificate(nameOf('CA'), Uint8Array.of(1))] })],
  ];

  test.each(rows)('%s: %s', async (_what, failInfo, run) => {
    const before = (await listed()).length;
    expect(await run()).toMatchObject({ http: 200, status: 2, failInfo });
    expect(await listed()).toHaveLength(before);
  });

  test('a signer that nobody knows, one of another CA, and a sender or key identifier that is not that of the certificate', async () => {
    const elsewhere = await appliance.makeCa();
    const own = newKeys();
    const foreign = await ask({ at: appliance.cmpUrl(elsewhere), template: { keys: own }, info: [implicitConfirm] });
    const protect = holding(own, foreign.certificate as X509Certificate);
    expect(await ask({ type: bodies.cr, protect })).toMatchObject({ type: bodies.error, failInfo: 'signerNotTrusted' });
    const device = await enrolled();
    const again = (parts: Partial<MessageParts>): Promise<CmpReply> => ask({ type: bodies.cr, protect: device.protect, ...parts });
    for (const parts of [
      { sender: general(nameOf('b.example.test')) },
      { keyId: randomBytes(20) },
      { keyId: null },
      { certificates: [] },
      { protect: byCertificate(newKeys().privateKey, partsOf(device.certificate)) },
    ])
      expect(await again(parts)).toMatchObject({ type: bodies.error, failInfo: 'badMessageCheck', protectedBy: 'signature' });
  });

  test('what is no message, and another media type, method or place; off is as unknown', async () => {
    expect(await post(url, Buffer.from('hello'))).toMatchObject({
      http: 200,
      type: bodies.error,
      failInfo: 'badDataFormat',
      protectedBy: undefined,
    });
    expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(415);
    expect((await fetch(url)).status).toBe(405);
    expect((await post(url, Buffer.alloc(200_000))).http).toBe(413);
    const off = await appliance.makeCa({ est: openCmp.est });
    expect((await ask({ at: appliance.cmpUrl(off) })).http).toBe(404);
    expect((await ask({ at: `${url}/other` })).http).toBe(404);
  });

  test('a message from another time, where the CA has a window', async () => {
    const name = await appliance.makeCa({ ...openCmp, cmp: { ...openCmp.cmp, 'message-time-window': '5m' } });
    const at = appliance.cmpUrl(name);
    const now = appliance.clock.now();
    for (const time of [null, now.subtract({ minutes: 6 }), now.add({ minutes: 6 })])
      expect(await ask({ at, time })).toMatchObject({ type: bodies.error, failInfo: 'badTime', protectedBy: 'mac' });
    expect(await ask({ at, time: now })).toMatchObject({ status: 0 });
  });
});

test('what is refused again and again is answered by HTTP, and right messages pass', async () => {
  const at = appliance.cmpUrl(await appliance.makeCa());
  const wrong = (): Promise<CmpReply> => ask({ at, protect: byMac('wrong secret') });
  for (let time = 0; time < 10; time++) expect((await wrong()).http).toBe(200);
  expect(await wrong()).toMatchObject({ http: 429, retryAfter: expect.any(String) });
  expect(await ask({ at })).toMatchObject({ status: 0 });
});
