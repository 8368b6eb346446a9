// step-ca CVE-2026-30836, MikroTik CVE-2026-7668, VU#971035 and what else servers of SCEP got wrong: a certificate is issued to whom it belongs.
import { randomBytes, X509Certificate } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeEnvelope, makeRequest } from '../../harness/scep/messages.ts';
import { makeCsr, makeIdentity, makeKeys, type Names, x509 } from '../../plugins/ca/pki.ts';
import {
  ask,
  csrOf,
  type Device,
  holding,
  issuerAndSubject,
  makeDevice,
  newTransaction,
  registrationOf,
  type Reply,
  send,
  serialOf,
} from '../../plugins/scep/device.ts';
import { openScep, type ScepAppliance, secret, startScepAppliance } from '../../plugins/scep/scep-appliance.ts';

let appliance: ScepAppliance;
let ca: string;
let victim: Device;
let attacker: Device;

beforeAll(async () => {
  appliance = await startScepAppliance();
  ca = await appliance.makeCa();
  victim = await makeDevice();
  attacker = await makeDevice('CN=attacker');
});

// Each attack is one of another minute: refused messages are limited by address.
beforeEach(() => appliance.clock.step(61));

const issuedOf = async (name: string): Promise<number> =>
  ((await appliance.list(name, 'certificates')) as { via: string }[]).filter(({ via }) => via.startsWith('scep-')).length;

/** Runs an attack, which must not get a certificate, nor an error of the server. */
async function expectNothing(name: string, attack: () => Promise<readonly Reply[]>): Promise<readonly Reply[]> {
  const before = await issuedOf(name);
  const replies = await attack();
  for (const reply of replies) {
    expect([200, 400, 429]).toContain(reply.status);
    expect([reply.pkiStatus === '0', reply.certificate]).toEqual([false, undefined]);
  }
  expect(await issuedOf(name)).toBe(before);
  return replies;
}

const enrol = async (name: string, from: Device, password: string | undefined, asking: Parameters<typeof ask>[4] = {}, dns?: string) =>
  ask(appliance, name, from, await csrOf(from.keys, password, dns), { transactionId: newTransaction(), ...asking });

describe('a certificate without the challenge', () => {
  test('by messages of a type that is parsed and not handled (CVE-2026-30836)', async () => {
    const types = ['18', '17', '1', '3', '20', '21', '0', '99'];
    await expectNothing(ca, () => Promise.all(types.map((messageType) => enrol(ca, attacker, undefined, { messageType }))));
  });

  test('by a renewal that is signed with a certificate which only says that the CA has issued it', async () => {
    const issuer = new X509Certificate((await appliance.state(ca))['ca-cert'] as string);
    const subject = issuer.subject.replaceAll('\n', ', ');
    const false_ = await makeIdentity({ key: 'P-256', subject, ca: true });
    const forged = await makeIdentity({ key: 'RSA-2048', subject: 'CN=dev.example.test', issuer: false_ });
    const signer: Device = { ...forged, privateKey: attacker.privateKey };
    const { privateKey } = await makeDevice();
    expect(privateKey.asymmetricKeyType).toBe('rsa');
    await expectNothing(ca, async () => [
      await enrol(ca, { ...attacker, certificate: forged.certificate }, undefined, { messageType: '17' }),
      await enrol(ca, signer, undefined, { messageType: '19' }),
    ]);
  });

  test('by an empty one, where the CA has no shared secret', async () => {
    const name = await appliance.makeCa({ ...openScep, scep: { enabled: true } });
    await expectNothing(name, async () => [await enrol(name, attacker, ''), await enrol(name, attacker, undefined)]);
  });
});

test('lengths and characters that are used before they are looked at (CVE-2026-7668)', async () => {
  const strange = ['', 'a'.repeat(129), 'a'.repeat(60_000), '../../../etc/passwd', 'a\0b', "'; DROP TABLE", '\r\nset-cookie: x', '%n%s%x'];
  const replies = await Promise.all(
    strange.map(async (transactionId) => enrol(ca, attacker, 'no secret', { transactionId, senderNonce: randomBytes(16) })),
  );
  const types = ['', '1'.repeat(1_000), '-1', '19\0', ' 19', '0x13', '1.9e1'];
  replies.push(...(await Promise.all(types.map((messageType) => enrol(ca, attacker, secret, { messageType })))));
  for (const { status, pkiStatus } of replies) expect([[200, 400, 429].includes(status), pkiStatus === '0']).toEqual([true, false]);
  // What is recorded of it has no line of its own and no more than a transaction may have.
  for (const { 'request-parameters': said = {} } of appliance.audited())
    expect(JSON.stringify(said['transaction'] ?? '')).toMatch(/^"[\x20-\x7e]{0,140}"$/);
});

describe('the secret of one device (VU#971035)', () => {
  test('buys no name of another, and nothing more than its own', async () => {
    const name = await appliance.makeCa({ ...openScep, scep: { enabled: true } });
    const made = await appliance.act(name, 'make-enrolment-secret', { subject: 'CN=dev.example.test', names: ['dev.example.test'] });
    const { secret: own } = made.body as { secret: string };
    await expectNothing(name, async () => [
      await enrol(name, attacker, own, {}, 'router.example.test'),
      await ask(appliance, name, attacker, await csrOf(attacker.keys, own, 'router.example.test', 'CN=dev.example.test'), {
        transactionId: newTransaction(),
      }),
      await ask(appliance, name, attacker, await csrOf(attacker.keys, own, 'dev.example.test', 'CN=dev.example.test, O=Plant'), {
        transactionId: newTransaction(),
      }),
    ]);
    const other = await appliance.makeCa({ ...openScep, scep: { enabled: true } });
    await expectNothing(other, async () => [await enrol(other, attacker, own)]);
    expect((await enrol(name, victim, own)).pkiStatus).toBe('0');
  });

  test('buys no name in another spelling than that of its kind, and no other grouping of the subject', async () => {
    const name = await appliance.makeCa({ ...openScep, scep: { enabled: true } });
    const made = await appliance.act(name, 'make-enrolment-secret', {
      ...{ subject: 'CN=dev.example.test, O=Plant', names: ['URI:spiffe://plant.test/Web', 'email:Alice@other.test', '*.wild.test'] },
      uses: 5,
    });
    const { secret: own } = made.body as { secret: string };
    const ordered = async (subject: string | x509.JsonName, ...names: Names) =>
      ask(
        ...([appliance, name, attacker] as const),
        await makeCsr({ keys: attacker.keys, subject, names, attributes: [new x509.ChallengePasswordAttribute(own)] }),
        { transactionId: newTransaction() },
      );
    const subject = 'CN=dev.example.test, O=Plant';
    await expectNothing(name, async () => [
      await ordered(subject, { type: 'url', value: 'spiffe://plant.test/web' }),
      await ordered(subject, { type: 'url', value: 'SPIFFE://PLANT.test/WEB' }),
      await ordered(subject, { type: 'email', value: 'alice@other.test' }),
      await ordered(subject, { type: 'dns', value: 'spiffe://plant.test/Web' }),
      await ordered([{ CN: ['dev.example.test'], O: ['Plant'] }]),
      await ordered('O=Plant, CN=dev.example.test'),
    ]);
    const spelled: Names = [
      { type: 'url', value: 'SPIFFE://plant.TEST/Web' },
      { type: 'email', value: 'Alice@OTHER.test' },
      { type: 'dns', value: '*.WILD.test' },
    ];
    expect((await ordered(subject, ...spelled)).pkiStatus).toBe('0');
  });

  test('is in no record, list or log', async () => {
    const name = await appliance.makeCa({ ...openScep, scep: { enabled: true } });
    const made = await appliance.act(name, 'make-enrolment-secret', { subject: 'CN=dev.example.test', names: ['dev.example.test'] });
    const { secret: own } = made.body as { secret: string };
    await enrol(name, victim, own);
    await enrol(name, attacker, `${own}x`);
    const lists = await Promise.all(['enrolment-secrets', 'certificates', 'enrolment-requests'].map((what) => appliance.list(name, what)));
    expect(JSON.stringify([lists, appliance.audited(), appliance.logged, await appliance.state(name)])).not.toContain(own);
  });
});

describe('a recorded request', () => {
  test('that is sent again issues nothing new (step-ca issues 300 a second)', async () => {
    const name = await appliance.makeCa();
    const registration = await registrationOf(appliance, name);
    const envelope = makeEnvelope({ content: await csrOf(victim.keys, secret), recipients: [registration.raw] });
    const message = makeRequest({ signer: victim, envelope, transactionId: newTransaction() });
    const first = await send(appliance, name, message, victim, registration);
    for (let again = 0; again < 20; again++)
      expect((await send(appliance, name, message, victim, registration)).certificate?.serialNumber).toBe(first.certificate?.serialNumber);
    expect(await issuedOf(name)).toBe(1);
  });

  test('whose envelope is put into a message of another signer tells and gives nothing', async () => {
    const registration = await registrationOf(appliance, ca);
    const envelope = makeEnvelope({ content: await csrOf(victim.keys, secret), recipients: [registration.raw] });
    await expectNothing(ca, async () => {
      const messages = ['19', '17', '20', '21'].map((messageType) =>
        makeRequest({ signer: attacker, envelope, messageType, transactionId: newTransaction() }),
      );
      return Promise.all(messages.map((message) => send(appliance, ca, message, attacker, registration)));
    });
  });

  test('gives its transaction to no other key', async () => {
    const name = await appliance.makeCa();
    const transactionId = newTransaction();
    expect((await enrol(name, victim, secret, { transactionId })).pkiStatus).toBe('0');
    await expectNothing(name, async () => [
      await enrol(name, attacker, secret, { transactionId }),
      await enrol(name, attacker, undefined, { transactionId, messageType: '20' }),
    ]);
  });
});

describe('the name of a transaction, which who knows the key of a device knows first,', () => {
  const secretFor = async (name: string, dns: string, uses = 1): Promise<string> => {
    const made = await appliance.act(name, 'make-enrolment-secret', { subject: `CN=${dns}`, names: [dns], uses });
    return (made.body as { secret: string }).secret;
  };
  const poll = async (name: string, from: Device, transactionId: string): Promise<Reply> =>
    ask(appliance, name, from, issuerAndSubject(await registrationOf(appliance, name), from), { transactionId, messageType: '20' });
  const numberOf = ({ certificate }: Reply): string => (certificate as X509Certificate).serialNumber.toLowerCase();
  const [own, strange] = ['own.example.test', 'strange.example.test'];

  test('holds no device out that shows another secret; with one secret it has one key', async () => {
    const name = await appliance.makeCa();
    const [transactionId, other] = [newTransaction(), await makeDevice()];
    const [ofVictim, ofAttacker] = [await secretFor(name, own, 3), await secretFor(name, strange, 3)];
    const squat = await enrol(name, attacker, ofAttacker, { transactionId }, strange);
    const first = await enrol(name, victim, ofVictim, { transactionId }, own);
    const shared = await enrol(name, other, secret, { transactionId });
    expect([squat, first, shared].map(({ pkiStatus }) => pkiStatus)).toEqual(['0', '0', '0']);
    // Each has its own again, whatever the secret that it shows now, also when it asks without one.
    expect(numberOf(await enrol(name, victim, undefined, { transactionId }, own))).toBe(numberOf(first));
    expect(numberOf(await poll(name, victim, transactionId))).toBe(numberOf(first));
    expect(numberOf(await poll(name, attacker, transactionId))).toBe(numberOf(squat));
    await expectNothing(name, async () => [
      await enrol(name, await makeDevice(), ofAttacker, { transactionId }, strange),
      await enrol(name, victim, ofVictim, { transactionId }, strange),
      await enrol(name, await makeDevice(), 'no secret', { transactionId }, own),
      await enrol(name, await makeDevice(), undefined, { transactionId }, own),
    ]);
  });

  test('holds none out that comes at the same time, nor in the place of one that was revoked', async () => {
    const name = await appliance.makeCa();
    const transactionId = newTransaction();
    const devices = await Promise.all(Array.from({ length: 4 }, () => makeDevice()));
    const secrets = await Promise.all(devices.map(() => secretFor(name, own, 2)));
    const enrolAll = () => Promise.all(devices.map((device, index) => enrol(name, device, secrets[index], { transactionId }, own)));
    const serials = (await enrolAll()).map(numberOf);
    expect(new Set(serials).size).toBe(4);
    expect((await enrolAll()).map(numberOf)).toEqual(serials);
    for (const serial of serials) expect((await appliance.act(name, 'revoke', { serial })).status).toBe(200);
    const again = (await enrolAll()).map(numberOf);
    expect(new Set([...serials, ...again]).size).toBe(8);
  });

  test('holds none out where a person decides', async () => {
    const name = await appliance.makeCa({ ...openScep, scep: { enabled: true, 'approval-required': true } });
    const transactionId = newTransaction();
    const [ofVictim, ofAttacker] = [await secretFor(name, own), await secretFor(name, strange)];
    const asked = [
      await enrol(name, attacker, undefined, { transactionId }, strange),
      await enrol(name, await makeDevice(), ofAttacker, { transactionId }, strange),
      await enrol(name, victim, ofVictim, { transactionId }, own),
    ];
    expect(asked.map(({ pkiStatus }) => pkiStatus)).toEqual(['3', '3', '3']);
    const waiting = (await appliance.list(name, 'enrolment-requests')) as { id: string; subject: string }[];
    expect(waiting).toHaveLength(3);
    for (const { id, subject } of waiting)
      expect((await appliance.act(name, subject === `CN=${own}` ? 'approve-enrolment' : 'reject-enrolment', { id })).status).toBeLessThan(
        300,
      );
    const reply = await poll(name, victim, transactionId);
    expect([reply.pkiStatus, reply.certificate?.subject]).toEqual(['0', `CN=${own}`]);
    expect((await poll(name, attacker, transactionId)).pkiStatus).toBe('2');
    expect(numberOf(await enrol(name, victim, ofVictim, { transactionId }, own))).toBe(numberOf(reply));
  });
});

describe('a held certificate', () => {
  const hold = async (name: string): Promise<Device> => holding(victim, (await enrol(name, victim, secret)).certificate as X509Certificate);

  test('gets no other name, and after its end or revocation nothing', async () => {
    const name = await appliance.makeCa();
    const holder = await hold(name);
    const serial = new X509Certificate(holder.certificate).serialNumber.toLowerCase();
    await expectNothing(name, async () => [await enrol(name, holder, undefined, { messageType: '17' }, 'router.example.test')]);
    expect((await appliance.act(name, 'revoke', { serial })).status).toBeLessThan(300);
    await expectNothing(name, async () => [
      await enrol(name, holder, undefined, { messageType: '17' }),
      await enrol(name, holder, undefined, { messageType: '19' }),
    ]);
    const other = await hold(name);
    appliance.clock.step(40 * 86_400);
    await expectNothing(name, async () => [await enrol(name, other, undefined, { messageType: '17' })]);
  });

  test('reads no certificate of others with GetCert, nor does an unauthenticated caller', async () => {
    const name = await appliance.makeCa();
    const holder = await hold(name);
    const other = await makeDevice('CN=b.example.test');
    const foreign = (await enrol(name, other, secret, {}, 'b.example.test')).certificate as X509Certificate;
    const registration = await registrationOf(appliance, name);
    await expectNothing(name, () =>
      Promise.all(
        [holder, attacker].map((signer) => {
          const envelope = makeEnvelope({ content: serialOf(foreign), recipients: [registration.raw] });
          return send(appliance, name, makeRequest({ signer, envelope, messageType: '21' }), signer, registration);
        }),
      ),
    );
  });

  test('of the registration authority or of the CA signs no request', async () => {
    const registration = await registrationOf(appliance, ca);
    const issuer = new X509Certificate((await appliance.state(ca))['ca-cert'] as string);
    for (const certificate of [registration.raw, issuer.raw])
      await expectNothing(ca, async () => {
        const envelope = makeEnvelope({ content: await csrOf(attacker.keys, undefined), recipients: [registration.raw] });
        const message = makeRequest({ signer: { certificate, privateKey: attacker.privateKey }, envelope, messageType: '17' });
        const response = await fetch(`${appliance.urlOf(ca)}?operation=PKIOperation`, { method: 'POST', body: Buffer.from(message) });
        await response.arrayBuffer();
        return [{ status: response.status, pkiStatus: undefined, certificate: undefined } as Reply];
      });
  });
});

test('an answer is encrypted for no weak key, and a key that is not RSA gets a refusal and no error (sscep sends them)', async () => {
  const [short, ec] = [
    await makeDevice('CN=dev.example.test', { key: 'RSA-1024' }),
    await makeDevice('CN=dev.example.test', { key: 'P-256' }),
  ];
  const registration = await registrationOf(appliance, ca);
  for (const signer of [short, ec]) {
    const keys = await makeKeys('RSA-2048');
    const envelope = makeEnvelope({ content: await csrOf(keys, secret), recipients: [registration.raw] });
    const response = await fetch(`${appliance.urlOf(ca)}?operation=PKIOperation`, {
      method: 'POST',
      body: Buffer.from(makeRequest({ signer, envelope, transactionId: newTransaction() })),
    });
    await response.arrayBuffer();
    expect([200, 400]).toContain(response.status);
    expect(appliance.audited().at(-1)?.code).toMatch(/^scep-/);
  }
  expect(await issuedOf(ca)).toBe(0);
});

test('capabilities are never empty and offer nothing that the CA refuses: jscep would take MD5 and DES', async () => {
  const response = await fetch(`${appliance.urlOf(ca)}?operation=GetCACaps`);
  const lines = (await response.text()).trim().split('\n');
  expect(lines).toEqual(expect.arrayContaining(['AES', 'SHA-256', 'SCEPStandard', 'POSTPKIOperation']));
  for (const old of ['SHA-1', 'DES3', 'MD5', 'DES']) expect(lines).not.toContain(old);
});
