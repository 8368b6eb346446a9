// Enrolment by SCEP: first requests, repetitions, renewals, one-time secrets, approval by a person, and what naive servers give away.
import type { X509Certificate } from 'node:crypto';
import type { CaContext } from '../../../plugins/ca/context.ts';
import type { FoundCa } from '../../../plugins/ca/authority/lookup.ts';
import { findNoRoom } from '../../../plugins/ca/enrolment/transactions.ts';
import type { PendingEnrolment } from '../../../plugins/ca/records/enrolments.ts';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { decodeKey } from '../../../core/store/keys.ts';
import { damageRecords } from '../../harness/damage.ts';
import { makeEnvelope } from '../../harness/scep/messages.ts';
import { makeKeys } from '../ca/pki.ts';
import { ask, csrOf, type Device, holding, issuerAndSubject, makeDevice, newTransaction, registrationOf, type Reply } from './device.ts';
import { openScep, type ScepAppliance, secret, startScepAppliance } from './scep-appliance.ts';

let appliance: ScepAppliance;
let ca: string;
let device: Device;

beforeAll(async () => {
  appliance = await startScepAppliance();
  ca = await appliance.makeCa();
  device = await makeDevice();
});

/** A first enrolment with a challengePassword. */
async function enrol(
  name: string,
  from: Device,
  password: string | undefined,
  transactionId = newTransaction(),
  dns?: string,
): Promise<Reply> {
  return ask(appliance, name, from, await csrOf(from.keys, password, dns), { transactionId });
}

/** Certificates on record that devices got. */
const issued = async (name: string): Promise<readonly { readonly serial: string; readonly via: string }[]> =>
  ((await appliance.list(name, 'certificates')) as { serial: string; via: string }[]).filter(({ via }) => via.startsWith('scep-'));

const serialOf = (reply: Reply): string => (reply.certificate as X509Certificate).serialNumber.toLowerCase();

describe.each([
  ['ecdsa', {}],
  ['rsa', { 'cert-key-type': 'rsa', 'cert-key-bits': 2048 }],
])('under a CA with key %s', (_kind, fields) => {
  test('a device gets its certificate by the shared secret, and renews it with the same and with a new key', async () => {
    const name = await appliance.makeCa({ ...openScep, ...fields });
    const own = await makeDevice();
    const senderNonce = Buffer.alloc(16, 7);
    const transactionId = newTransaction();
    const first = await ask(appliance, name, own, await csrOf(own.keys, secret), { transactionId, senderNonce });
    expect(first).toMatchObject({ status: 200, pkiStatus: '0', transactionId, recipientNonce: senderNonce });
    expect([first.certificate?.subject, first.certificate?.subjectAltName]).toEqual(['CN=dev.example.test', 'DNS:dev.example.test']);
    const holder = holding(own, first.certificate as X509Certificate);
    // Three of five clients send PKCSReq for a renewal.
    const second = await ask(appliance, name, holder, await csrOf(own.keys, undefined), { transactionId, messageType: '19' });
    expect(second.pkiStatus).toBe('0');
    expect(serialOf(second)).not.toBe(serialOf(first));
    const keys = await makeKeys('RSA-2048');
    // Names of a renewal are recorded as they are certified.
    const third = await ask(appliance, name, holder, await csrOf(keys, undefined, 'DEV.Example.test'), {
      transactionId: newTransaction(),
      messageType: '17',
    });
    expect(third.pkiStatus).toBe('0');
    expect((await issued(name)).map(({ via }) => via).toSorted()).toEqual(['scep-renewal', 'scep-renewal', 'scep-shared-secret']);
    expect(appliance.audited().at(-1)?.['request-parameters']).toMatchObject({
      ...{ operation: 'PKIOperation', ca: name, 'message-type': 'RenewalReq', subject: 'CN=dev.example.test', 'pki-status': 'success' },
      names: ['DNS:dev.example.test'],
      ...{ credential: 'certificate', 'renewed-serial': serialOf(first), serial: serialOf(third) },
    });
  });
});

describe('a repeated request', () => {
  test('gets the same certificate, also when eight come at once; with another key or other names it is refused', async () => {
    const name = await appliance.makeCa();
    const transactionId = newTransaction();
    const csr = await csrOf(device.keys, secret);
    const replies = await Promise.all(Array.from({ length: 8 }, () => ask(appliance, name, device, csr, { transactionId })));
    replies.push(await ask(appliance, name, device, csr, { transactionId }));
    // The challenge is not part of the request: a repetition by the same key needs none.
    replies.push(await enrol(name, device, undefined, transactionId));
    expect(new Set(replies.map(({ pkiStatus }) => pkiStatus))).toEqual(new Set(['0']));
    expect(new Set(replies.map(serialOf)).size).toBe(1);
    expect(await issued(name)).toHaveLength(1);
    expect(appliance.audited().at(-1)?.['request-parameters']).toMatchObject({ repetition: true });
    const other = await makeDevice();
    for (const refused of [
      await enrol(name, other, secret, transactionId),
      await enrol(name, device, secret, transactionId, 'b.example.test'),
    ])
      expect(refused).toMatchObject({ pkiStatus: '2', failInfo: '2', failText: expect.stringContaining('another key or other names') });
    expect(await issued(name)).toHaveLength(1);
  });

  test('of a renewal gets the same certificate; of a revoked one nothing', async () => {
    const name = await appliance.makeCa();
    const first = await enrol(name, device, secret);
    const holder = holding(device, first.certificate as X509Certificate);
    const transactionId = newTransaction();
    const renew = async (): Promise<Reply> => ask(appliance, name, holder, await csrOf(device.keys, undefined), { transactionId });
    const [one, two] = [await renew(), await renew()];
    expect(serialOf(one)).toBe(serialOf(two));
    expect((await appliance.act(name, 'revoke', { serial: serialOf(one) })).status).toBe(200);
    expect((await appliance.act(name, 'revoke', { serial: serialOf(first) })).status).toBe(200);
    expect(await renew()).toMatchObject({ pkiStatus: '2', failText: expect.stringContaining('revoked') });
    expect(await issued(name)).toHaveLength(2);
  });
});

describe('a recorded message', () => {
  const wrap = (content: Uint8Array, registration: X509Certificate) => makeEnvelope({ content, recipients: [registration.raw] });

  test.each(['revoked', 'ended'])(
    'whose certificate is %s gets no other, signed once more neither; a new one of the device does',
    async (how) => {
      const name = await appliance.makeCa({ ...openScep, est: { ...openScep.est, ttl: how === 'ended' ? '60s' : '1d' } });
      const registration = await registrationOf(appliance, name);
      const own = await makeDevice();
      const transactionId = newTransaction();
      const csr = await csrOf(own.keys, secret);
      // The answer to the first was lost: both could be recorded.
      const envelopes = [wrap(csr, registration), wrap(csr, registration)];
      const again = (sealed: Uint8Array) => ask(appliance, name, own, csr, { sealed, transactionId });
      const replies = await Promise.all(envelopes.map(again));
      const [first] = replies as [Reply];
      expect(new Set(replies.map(serialOf)).size).toBe(1);
      if (how === 'revoked') await appliance.act(name, 'revoke', { serial: serialOf(first) });
      else appliance.clock.step(61);
      for (const envelope of envelopes)
        expect(await again(envelope)).toMatchObject({ pkiStatus: '2', failText: expect.stringContaining('send a new message') });
      const newer = await again(wrap(csr, registration));
      expect(newer.pkiStatus).toBe('0');
      expect(await issued(name)).toHaveLength(2);
    },
  );
});

describe('a record that does not open', () => {
  const damage = (table: string, part: string): Promise<void> =>
    damageRecords(appliance, (texts) => {
      const all = texts.filter((text) => decodeKey(text).table === table && (part === '' || decodeKey(text).key[2] === part));
      if (all.length === 0) throw new Error(`there is no record of ${table}`);
      return all;
    });

  test('of an answer or of a request that waits holds no device out', async () => {
    const [name, transactionId] = [await appliance.makeCa(), newTransaction()];
    const first = await enrol(name, device, secret, transactionId);
    await damage('ca/enrolments', 'first');
    const second = await enrol(name, device, secret, transactionId);
    expect([first.pkiStatus, second.pkiStatus]).toEqual(['0', '0']);
    expect(serialOf(await enrol(name, device, undefined, transactionId))).toBe(serialOf(second));
    const slow = await appliance.makeCa({ ...openScep, scep: { enabled: true, 'approval-required': true } });
    expect((await enrol(slow, device, undefined, transactionId)).pkiStatus).toBe('3');
    await damage('ca/pending-enrolments', '');
    expect((await enrol(slow, device, undefined, transactionId)).pkiStatus).toBe('3');
    expect(await appliance.list(slow, 'enrolment-requests')).toHaveLength(1);
  });

  test('of a recorded message does not make it a new one', async () => {
    const [name, transactionId] = [await appliance.makeCa(), newTransaction()];
    const csr = await csrOf(device.keys, secret);
    const sealed = makeEnvelope({ content: csr, recipients: [(await registrationOf(appliance, name)).raw] });
    const again = () => ask(appliance, name, device, csr, { sealed, transactionId });
    await appliance.act(name, 'revoke', { serial: serialOf(await again()) });
    await damage('ca/enrolments', 'message');
    expect((await again()).pkiStatus).not.toBe('0');
    expect(await issued(name)).toHaveLength(1);
  });
});

describe('nothing is issued', () => {
  // Refused messages are limited by address.
  beforeEach(() => appliance.clock.step(61));

  const refusals: readonly (readonly [title: string, text: string, send: () => Promise<Reply>])[] = [
    ['for the wrong secret', 'not a secret of this CA', () => enrol(ca, device, 'wrong')],
    ['without a secret', 'no challengePassword', () => enrol(ca, device, undefined)],
    ['for a name outside the policy', 'not permitted', () => enrol(ca, device, secret, newTransaction(), 'dev.example.com')],
    [
      'for a name that is not a host name',
      'not permitted',
      async () => ask(appliance, ca, device, await csrOf(device.keys, secret, '', 'CN=Printer 7'), { transactionId: newTransaction() }),
    ],
    [
      'for a RenewalReq of a certificate that the CA has not issued',
      'not issued by this CA',
      async () => ask(appliance, ca, device, await csrOf(device.keys, secret), { messageType: '17', transactionId: newTransaction() }),
    ],
    [
      'for a first request that another key has signed',
      'another key',
      async () => ask(appliance, ca, device, await csrOf((await makeDevice()).keys, secret), { transactionId: newTransaction() }),
    ],
    ...['3', '18', '1', '99', '019', ''].map(
      (messageType) =>
        [
          `for messageType "${messageType}"`,
          'messageType',
          async () => ask(appliance, ca, device, await csrOf(device.keys, undefined), { messageType, transactionId: newTransaction() }),
        ] as const,
    ),
    [
      'for a request whose envelope is for another recipient',
      'not encrypted for this CA',
      async () => ask(appliance, ca, device, await csrOf(device.keys, secret), { envelope: { recipients: [device.certificate] } }),
    ],
    ...(['sha1', 'md5'] as const).map(
      (digest) =>
        [`for ${digest}`, `uses ${digest}`, async () => ask(appliance, ca, device, await csrOf(device.keys, secret), { digest })] as const,
    ),
    ['for DES', 'uses des:', async () => ask(appliance, ca, device, await csrOf(device.keys, secret), { envelope: { cipher: 'des-cbc' } })],
    [
      'for 3DES',
      'uses des3',
      async () => ask(appliance, ca, device, await csrOf(device.keys, secret), { envelope: { cipher: 'des-ede3-cbc' } }),
    ],
    [
      'to a device with an EC key',
      'RSA key',
      async () => {
        const ec = await makeDevice('CN=dev.example.test', { key: 'P-256' });
        return ask(appliance, ca, ec, await csrOf(ec.keys, secret), {});
      },
    ],
  ];

  test.each(refusals)('%s', async (_title, text, refused) => {
    const before = (await issued(ca)).length;
    const reply = await refused();
    expect([reply.pkiStatus, reply.failText]).toEqual(['2', expect.stringContaining(text)]);
    expect(await issued(ca)).toHaveLength(before);
    const last = appliance.audited().at(-1);
    expect(last).toMatchObject({
      status: 200,
      code: expect.any(String),
      'request-parameters': { 'pki-status': 'failure', reason: expect.any(String) },
    });
    expect(JSON.stringify(last)).not.toContain(secret);
  });

  test('by a certificate that is revoked, has expired, or is that of the registration authority', async () => {
    const name = await appliance.makeCa({ ...openScep, est: { ...openScep.est, ttl: '1h' } });
    const first = await enrol(name, device, secret);
    const holder = holding(device, first.certificate as X509Certificate);
    appliance.clock.step(2 * 3_600);
    const renewal = await ask(appliance, name, holder, await csrOf(device.keys, undefined), { transactionId: newTransaction() });
    expect(renewal).toMatchObject({ pkiStatus: '2', failText: expect.stringContaining('expired') });
    // The secret of the CA does not help an expired certificate, nor other names a valid one.
    const again = await enrol(name, device, secret);
    const valid = holding(device, again.certificate as X509Certificate);
    const other = await ask(appliance, name, valid, await csrOf(device.keys, secret, 'b.example.test'), {
      transactionId: newTransaction(),
    });
    expect(other).toMatchObject({ pkiStatus: '2', failText: expect.stringContaining('renewed') });
    await appliance.patchCa(name, { scep: { 'allow-reenroll-with-issued-cert': false } });
    const off = await ask(appliance, name, valid, await csrOf(device.keys, undefined), { transactionId: newTransaction() });
    expect(off).toMatchObject({ pkiStatus: '2', failText: expect.stringContaining('does not allow renewals') });
    expect(await issued(name)).toHaveLength(2);
  });
});

describe('a one-time secret', () => {
  const make = async (name: string, fields: object): Promise<{ id: string; secret: string }> => {
    const { status, body } = await appliance.act(name, 'make-enrolment-secret', fields);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body as { id: string; secret: string };
  };

  test('buys one certificate for exactly one identity, and is then worth nothing; its hash alone is stored', async () => {
    const name = await appliance.makeCa({ ...openScep, scep: { enabled: true } });
    const made = await make(name, { subject: 'CN=dev.example.test', names: ['dev.example.test'] });
    expect(await enrol(name, device, made.secret, newTransaction(), 'b.example.test')).toMatchObject({
      pkiStatus: '2',
      failText: expect.stringContaining('for the subject "CN=dev.example.test" alone'),
    });
    const transactionId = newTransaction();
    const first = await enrol(name, device, made.secret, transactionId);
    expect(first.pkiStatus).toBe('0');
    expect(serialOf(await enrol(name, device, made.secret, transactionId))).toBe(serialOf(first));
    expect(await enrol(name, await makeDevice(), made.secret)).toMatchObject({
      pkiStatus: '2',
      failText: expect.stringContaining('used already'),
    });
    expect(await appliance.list(name, 'enrolment-secrets')).toMatchObject([
      { id: made.id, 'uses-left': 0, names: ['DNS:dev.example.test'] },
    ]);
    expect(JSON.stringify([await appliance.list(name, 'enrolment-secrets'), appliance.audited()])).not.toContain(made.secret);
    expect(await issued(name)).toMatchObject([{ via: 'scep-one-time-secret' }]);
  });

  test('of which two devices use the last use at once goes to one of them', async () => {
    const name = await appliance.makeCa({ ...openScep, scep: { enabled: true } });
    const made = await make(name, { subject: 'CN=dev.example.test', names: ['dev.example.test'], uses: 2 });
    const devices = await Promise.all(Array.from({ length: 5 }, () => makeDevice()));
    const replies = await Promise.all(devices.map((one) => enrol(name, one, made.secret)));
    expect(replies.filter(({ pkiStatus }) => pkiStatus === '0')).toHaveLength(2);
    expect(await issued(name)).toHaveLength(2);
  });

  test('may have names that the policy has no words for, which renewals keep', async () => {
    const name = await appliance.makeCa({ ...openScep, scep: { enabled: true } });
    const subject = 'CN=Printer 7,serialNumber=AB12';
    const made = await make(name, { subject });
    const csr = (password?: string) => csrOf(device.keys, password, '', 'CN=Printer 7, 2.5.4.5=AB12');
    const first = await ask(appliance, name, device, await csr(made.secret), { transactionId: newTransaction() });
    expect([first.pkiStatus, first.certificate?.subject]).toEqual(['0', 'CN=Printer 7\nserialNumber=AB12']);
    const holder = holding(device, first.certificate as X509Certificate);
    const second = await ask(appliance, name, holder, await csr(), { transactionId: newTransaction() });
    expect(second.pkiStatus).toBe('0');
  });

  test('that was revoked or has ended buys nothing', async () => {
    const name = await appliance.makeCa({ ...openScep, scep: { enabled: true } });
    const fields = { subject: 'CN=dev.example.test', names: ['dev.example.test'], ttl: '1h' };
    const [revoked, ended] = [await make(name, fields), await make(name, fields)];
    expect((await appliance.act(name, 'revoke-enrolment-secret', { id: revoked.id })).body).toEqual({ 'uses-left': 1 });
    appliance.clock.step(2 * 3_600);
    expect(await enrol(name, device, revoked.secret)).toMatchObject({ pkiStatus: '2', failText: expect.stringContaining('not a secret') });
    expect(await enrol(name, device, ended.secret)).toMatchObject({ pkiStatus: '2', failText: expect.stringContaining('expired') });
    expect(await issued(name)).toEqual([]);
  });
});

test('a caller without the right to sign makes no secret, approves nothing and widens no setting', async () => {
  const name = await appliance.makeCa({ ...openScep, scep: { enabled: false } });
  const path = `/v1/state/keystore/tls/ca/${name}`;
  const rules = [
    ...['make-enrolment-secret', 'approve-enrolment'].map((action) => ({ path: `${path}/${action}`, operations: { execute: 'allow' } })),
    { path: `/v1/config/keystore/tls/ca/${name}`, operations: { read: 'allow', update: 'allow' } },
  ];
  const made = await appliance.request('POST', '/v1/config/policy/policies', { name: 'may-not-sign', 'rest-api': { rules } });
  expect({ status: made.status, body: made.body }).toMatchObject({ status: 201 });
  const { body } = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['may-not-sign'] });
  const { token } = body as { token: string };
  const subject = 'CN=dev.example.test';
  const answers = [
    await appliance.request('POST', `${path}/make-enrolment-secret`, { subject }, { token }),
    await appliance.request('POST', `${path}/approve-enrolment`, { id: 'aaaaaaaa' }, { token }),
    await appliance.request('PATCH', `/v1/config/keystore/tls/ca/${name}`, { scep: { enabled: true } }, { token }),
  ];
  expect(answers.map(({ status, body: said }) => [status, (said as { code?: string }).code])).toEqual(
    answers.map(() => [403, 'policy-denied']),
  );
  expect(await appliance.list(name, 'enrolment-secrets')).toEqual([]);
});

test('wrong secrets are limited for each address: the eleventh in a minute is 429, and the right one still passes', async () => {
  const name = await appliance.makeCa();
  for (let wrong = 0; wrong < 10; wrong += 1) expect((await enrol(name, device, `wrong ${wrong}`)).status).toBe(200);
  expect(await enrol(name, device, 'wrong')).toMatchObject({ status: 429, pkiStatus: undefined });
  expect((await enrol(name, device, secret)).pkiStatus).toBe('0');
});

describe('where a person decides', () => {
  const asking = { ...openScep, scep: { enabled: true, 'approval-required': true } };
  const poll = async (name: string, from: Device, transactionId: string): Promise<Reply> =>
    ask(appliance, name, from, issuerAndSubject(await registrationOf(appliance, name), from), { transactionId, messageType: '20' });

  test('a request waits, is approved, and is collected by its own key alone', async () => {
    const name = await appliance.makeCa(asking);
    const transactionId = newTransaction();
    expect((await enrol(name, device, undefined, transactionId)).pkiStatus).toBe('3');
    expect((await enrol(name, device, undefined, transactionId)).pkiStatus).toBe('3');
    expect((await poll(name, device, transactionId)).pkiStatus).toBe('3');
    const [waiting, ...more] = (await appliance.list(name, 'enrolment-requests')) as { id: string }[];
    expect([waiting, more]).toMatchObject([{ subject: 'CN=dev.example.test', via: 'scep-none', 'client-ip': '127.0.0.1' }, []]);
    expect(await issued(name)).toEqual([]);
    const { status, body } = await appliance.act(name, 'approve-enrolment', { id: waiting?.id });
    expect(status).toBe(200);
    const reply = await poll(name, device, transactionId);
    expect([reply.pkiStatus, serialOf(reply)]).toEqual(['0', (body as { serial: string }).serial]);
    const other = await makeDevice();
    const [foreign, unknown] = [await poll(name, other, transactionId), await poll(name, other, newTransaction())];
    expect(foreign).toMatchObject({ pkiStatus: '2', failInfo: '4', certificate: undefined });
    expect([foreign.failInfo, foreign.failText]).toEqual([unknown.failInfo, unknown.failText]);
    expect(serialOf(await enrol(name, device, undefined, transactionId))).toBe(serialOf(reply));
    expect(await appliance.list(name, 'enrolment-requests')).toEqual([]);
    expect((await appliance.act(name, 'approve-enrolment', { id: waiting?.id })).status).toBe(404);
    expect(await issued(name)).toHaveLength(1);
  });

  test('a request that is refused hears it, and an unknown transaction has no news', async () => {
    const name = await appliance.makeCa(asking);
    const transactionId = newTransaction();
    await enrol(name, device, undefined, transactionId);
    const [waiting] = (await appliance.list(name, 'enrolment-requests')) as { id: string }[];
    expect((await appliance.act(name, 'reject-enrolment', { id: waiting?.id })).status).toBe(204);
    expect(await poll(name, device, transactionId)).toMatchObject({
      pkiStatus: '2',
      failText: expect.stringContaining('A person has refused'),
    });
    expect(await poll(name, device, newTransaction())).toMatchObject({ pkiStatus: '2', failInfo: '4' });
    expect(await issued(name)).toEqual([]);
  });

  test('another key that waits under the name of a transaction without a secret keeps out none who shows one, nor anybody once it was refused', async () => {
    const name = await appliance.makeCa(asking);
    const [unproven, transactionId, refused] = [await makeDevice(), newTransaction(), newTransaction()];
    for (const one of [transactionId, refused]) expect((await enrol(name, unproven, undefined, one)).pkiStatus).toBe('3');
    expect(await enrol(name, device, undefined, transactionId)).toMatchObject({
      pkiStatus: '2',
      failText: expect.stringContaining('another key'),
    });
    const made = await appliance.act(name, 'make-enrolment-secret', { subject: 'CN=dev.example.test', names: ['dev.example.test'] });
    expect((await enrol(name, device, (made.body as { secret: string }).secret, transactionId)).pkiStatus).toBe('3');
    expect((await poll(name, unproven, transactionId)).pkiStatus).toBe('3');
    const waiting = (await appliance.list(name, 'enrolment-requests')) as { id: string; via: string }[];
    expect(waiting.map(({ via }) => via).toSorted()).toEqual(['scep-none', 'scep-none', 'scep-one-time-secret']);
    for (const { id } of waiting.filter(({ via }) => via === 'scep-none'))
      expect((await appliance.act(name, 'reject-enrolment', { id })).status).toBe(204);
    expect(await poll(name, unproven, transactionId)).toMatchObject({ pkiStatus: '2', failText: expect.stringContaining('has refused') });
    expect((await poll(name, device, transactionId)).pkiStatus).toBe('3');
    expect((await enrol(name, device, undefined, refused)).pkiStatus).toBe('3');
    expect((await poll(name, device, refused)).pkiStatus).toBe('3');
  });

  test('at most twenty wait from an address, and each ends after a week', { timeout: 60_000 }, async () => {
    const name = await appliance.makeCa(asking);
    for (let each = 0; each < 20; each += 1) expect((await enrol(name, device, undefined, `t${each}`)).pkiStatus).toBe('3');
    expect(await enrol(name, device, undefined, 'one more')).toMatchObject({
      pkiStatus: '2',
      failText: expect.stringContaining('Too many requests wait'),
    });
    // Those without a secret take no room of a device that has one.
    const made = await appliance.act(name, 'make-enrolment-secret', { subject: 'CN=dev.example.test', names: ['dev.example.test'] });
    expect((await enrol(name, device, (made.body as { secret: string }).secret)).pkiStatus).toBe('3');
    const [waiting] = (await appliance.list(name, 'enrolment-requests')) as { id: string }[];
    appliance.clock.step(8 * 86_400);
    expect(await appliance.list(name, 'enrolment-requests')).toEqual([]);
    // Neither the device nor a person finds it.
    expect(await poll(name, device, 't0')).toMatchObject({ pkiStatus: '2', failText: expect.stringContaining('send PKCSReq') });
    expect((await appliance.act(name, 'approve-enrolment', { id: waiting?.id })).status).toBe(404);
    // Nor do those that have ended and are still there.
    expect((await enrol(name, await makeDevice(), undefined)).pkiStatus).toBe('3');
  });

  test('a subscriber of IPv6 is one address, and a key waits as often from everywhere', async () => {
    const name = await appliance.makeCa(asking);
    await enrol(name, device, undefined);
    const table = appliance.store.prefixed('ca').table<PendingEnrolment>('pending-enrolments');
    const entries = Array.from(table.entries([appliance.tenantId]));
    const [, one] = entries.find(([, { via }]) => via === 'scep-none') as (typeof entries)[number];
    // That of another test may be over.
    const until = appliance.clock.now().add({ hours: 1 }).toString();
    const ca = { tenantId: appliance.tenantId, record: { id: 'a-ca' } } as unknown as FoundCa;
    const refusals = await appliance.store.write((transaction) => {
      const context = { tables: { pendingEnrolments: table }, clock: appliance.clock } as unknown as CaContext;
      for (let each = 0; each < 20; each += 1) {
        const waiting = { ...one, until, clientIp: `2001:db8::${each + 1}`, keyHash: `key ${each}` };
        transaction.put(table, [appliance.tenantId, 'a-ca', `v6 ${each}`], waiting);
        transaction.put(table, [appliance.tenantId, 'a-ca', `key ${each}`], {
          ...waiting,
          clientIp: `192.0.2.${each}`,
          keyHash: 'one key',
        });
      }
      const wanted = [
        { clientIp: '2001:db8::ffff:1', keyHash: 'new' },
        { clientIp: '2001:db8:0:1::1', keyHash: 'new' },
        { clientIp: '198.51.100.1', keyHash: 'one key' },
      ];
      const found = wanted.map((each) => findNoRoom(context, transaction, ca, { ...each, via: 'scep-none' })?.status);
      for (const [entry] of Array.from(transaction.entries(table, [appliance.tenantId, 'a-ca']))) transaction.delete(table, entry);
      return found;
    });
    expect(refusals).toEqual(['refused', undefined, 'refused']);
  });

  test('a secret is needed as well where one is configured', async () => {
    const name = await appliance.makeCa({ ...asking, scep: { ...asking.scep, 'initial-enroll-secret': secret } });
    expect((await enrol(name, device, undefined)).pkiStatus).toBe('2');
    expect((await enrol(name, device, secret)).pkiStatus).toBe('3');
  });
});
