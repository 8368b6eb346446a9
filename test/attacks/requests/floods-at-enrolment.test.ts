// micromdm, step-ca: a caller who reaches the port makes the server decrypt and sign as often as it can. Here an address has its part, the tenant pays
// nothing, and devices elsewhere go on.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { request as httpRequest } from 'node:http';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeEnvelope, makeRequest } from '../../harness/scep/messages.ts';
import { ask, csrOf, type Device, issuerAndSubject, makeDevice, newTransaction, registrationOf } from '../../plugins/scep/device.ts';
import { openScep, type ScepAppliance, secret, startScepAppliance } from '../../plugins/scep/scep-appliance.ts';

let appliance: ScepAppliance;
let flooder: Device;
let device: Device;
let wrongCsr: Buffer;
let bareCsr: Buffer;

beforeAll(async () => {
  appliance = await startScepAppliance();
  [flooder, device] = [await makeDevice('CN=flooder'), await makeDevice()];
  [wrongCsr, bareCsr] = [await csrOf(flooder.keys, 'wrong'), await csrOf(flooder.keys, undefined)];
});
beforeEach(() => appliance.clock.step(61));

/** Sends a message from an address of this machine; the status of HTTP. */
function sendFrom(from: string, ca: string, message: Uint8Array): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const url = `${appliance.urlOf(ca)}?operation=PKIOperation`;
  httpRequest(url, { method: 'POST', localAddress: from, agent: false }, (response) => {
    response.resume();
    response.once('end', () => resolve(response.statusCode ?? 0));
  })
    .once('error', reject)
    .end(message);
  return promise;
}

type Flood = readonly [what: string, settings: object, make: (registration: Awaited<ReturnType<typeof registrationOf>>) => Uint8Array];

const floods: readonly Flood[] = [
  [
    'of requests with wrong secrets',
    {},
    ({ raw }) =>
      makeRequest({
        signer: flooder,
        envelope: makeEnvelope({ content: wrongCsr, recipients: [raw] }),
        transactionId: newTransaction(),
      }),
  ],
  [
    'of polls for what nobody has asked for',
    {},
    (registration) =>
      makeRequest({
        signer: flooder,
        envelope: makeEnvelope({ content: issuerAndSubject(registration, flooder), recipients: [registration.raw] }),
        messageType: '20',
        transactionId: newTransaction(),
      }),
  ],
  [
    'of messages whose signature does not verify',
    {},
    ({ raw }) => {
      const whole = Buffer.from(makeRequest({ signer: flooder, envelope: makeEnvelope({ content: wrongCsr, recipients: [raw] }) }));
      whole[whole.length - 5] = (whole[whole.length - 5] as number) ^ 1;
      return whole;
    },
  ],
  [
    'of requests that a person would decide about',
    { scep: { enabled: true, 'approval-required': true } },
    ({ raw }) =>
      makeRequest({
        signer: flooder,
        envelope: makeEnvelope({ content: bareCsr, recipients: [raw] }),
        transactionId: newTransaction(),
      }),
  ],
];

describe.each(floods)('a flood %s', (_what, settings, make) => {
  test(
    'from one address costs a bounded number of answers and nothing of the tenant; a device elsewhere enrols',
    { timeout: 60_000 },
    async () => {
      const ca = await appliance.makeCa({ ...openScep, ...settings });
      const registration = await registrationOf(appliance, ca);
      const [seconds, admitted, answered] = [
        appliance.hsm.timeOf(appliance.tenantId),
        appliance.admitted.length,
        appliance.audited().length,
      ];
      const statuses: number[] = [];
      for (let sent = 0; sent < 45; sent += 1) statuses.push(await sendFrom('127.0.0.9', ca, make(registration)));
      // Twenty may wait for a person from an address; of what is refused ten are answered.
      expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(30);
      expect(new Set(statuses.slice(-10))).toEqual(new Set([429]));
      expect(appliance.hsm.timeOf(appliance.tenantId)).toBe(seconds);
      expect(appliance.admitted).toHaveLength(admitted);
      expect(appliance.audited().length).toBeGreaterThan(answered);
      // What is beyond the limit costs the store nothing either.
      const failures = (await appliance.list(ca, 'enrolment-failures')) as { failures: number }[];
      expect(failures.map(({ failures: times }) => times <= 10)).toEqual([true]);
      const password = 'scep' in settings ? undefined : secret;
      const reply = await ask(appliance, ca, device, await csrOf(device.keys, password), { transactionId: newTransaction() });
      expect(reply.pkiStatus).toBe('scep' in settings ? '3' : '0');
      expect(appliance.admitted).toHaveLength(admitted + ('scep' in settings ? 0 : 1));
    },
  );
});

test('messages of an address beyond a hundred refused ones in a minute are not even decrypted', { timeout: 60_000 }, async () => {
  const ca = await appliance.makeCa();
  const registration = await registrationOf(appliance, ca);
  const anybody = `anybody of ${appliance.tenantId}`;
  const [, , make] = floods[0] as Flood;
  for (let sent = 0; sent < 100; sent += 1) await sendFrom('127.0.0.9', ca, make(registration));
  const before = appliance.hsm.timeOf(anybody);
  expect(before).toBeGreaterThan(0);
  for (let sent = 0; sent < 10; sent += 1) expect(await sendFrom('127.0.0.9', ca, make(registration))).toBe(429);
  expect(appliance.hsm.timeOf(anybody)).toBe(before);
});

test('a recorded message that is sent again and again is answered only so often', { timeout: 60_000 }, async () => {
  const ca = await appliance.makeCa();
  const registration = await registrationOf(appliance, ca);
  const envelope = makeEnvelope({ content: await csrOf(device.keys, secret), recipients: [registration.raw] });
  const message = makeRequest({ signer: device, envelope, transactionId: newTransaction() });
  const statuses: number[] = [];
  for (let batch = 0; batch < 12; batch += 1)
    statuses.push(...(await Promise.all(Array.from({ length: 20 }, () => sendFrom('127.0.0.9', ca, message)))));
  const answered = statuses.filter((status) => status === 200).length;
  expect([answered >= 195 && answered < 225, statuses.at(-1)]).toEqual([true, 429]);
  expect(((await appliance.list(ca, 'certificates')) as { via: string }[]).filter(({ via }) => via.startsWith('scep-'))).toHaveLength(1);
});

test(
  'connections that say nothing take no place on the plain port from those of others, and are counted',
  { timeout: 60_000 },
  async () => {
    const listener = appliance.open.get('enrolment-plain');
    expect(appliance.open.get('enrolment')?.connections.limits.open).toBe(listener?.connections.limits.open);
    const { port } = new URL(appliance.plain);
    const idle: Socket[] = [];
    for (let each = 0; each < 50; each += 1) {
      const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: '127.0.0.9' }).on('error', () => undefined);
      await once(socket, 'connect');
      idle.push(socket);
    }
    await expect.poll(() => listener?.connections.counts.handshake).toBeGreaterThanOrEqual(50);
    const before = listener?.handshakes ?? 0;
    expect((await fetch(`${appliance.plain}/elsewhere`)).status).toBe(404);
    expect(listener?.handshakes).toBe(before + 1);
    for (const socket of idle) socket.destroy();
    await expect.poll(() => listener?.connections.counts.handshake).toBe(0);
  },
);
