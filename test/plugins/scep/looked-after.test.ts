// What somebody has to look after where devices enrol: devices that fail, secrets that nobody used, requests that wait, certificates that nobody renews.
import type { X509Certificate } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { CaContext } from '../../../plugins/ca/context.ts';
import { enrolmentGauges } from '../../../plugins/ca/enrolment/gauges.ts';
import { openCaTables } from '../../../plugins/ca/records/records.ts';
import { ask, csrOf, type Device, holding, makeDevice, newTransaction } from './device.ts';
import { openScep, type ScepAppliance, secret, startScepAppliance } from './scep-appliance.ts';

let appliance: ScepAppliance;
let device: Device;

beforeAll(async () => {
  appliance = await startScepAppliance();
  device = await makeDevice();
});

const enrol = async (ca: string, from: Device, password: string | undefined, dns?: string) =>
  ask(appliance, ca, from, await csrOf(from.keys, password, dns), { transactionId: newTransaction() });

/** Samples of a gauge for a CA, by the last label. */
async function gauge(name: string, ca: string): Promise<Readonly<Record<string, number>>> {
  appliance.store.refresh();
  // Tables of earlier versions are where EST kept them.
  const { lines, enrolmentSecrets, pendingEnrolments, enrolmentFailures } = openCaTables(appliance.store.prefixed('ca'));
  const tables = { ...openCaTables(appliance.store.prefixed('est')), lines, enrolmentSecrets, pendingEnrolments, enrolmentFailures };
  const gauges = enrolmentGauges({ tables, clock: appliance.clock } as unknown as CaContext);
  const samples =
    (await gauges.find((one) => one.name === `keystored_enrolment_${name}`)?.measure(new Map([[appliance.tenantId, 'system']]))) ?? [];
  const own = samples.filter(({ labels }) => labels['ca'] === ca && labels['tenant'] === 'system');
  return Object.fromEntries(own.map(({ labels, value }) => [labels['state'] ?? 'all', value]));
}

test('a device that fails three times is listed with what it was told, and forgotten when it has its certificate, or after a day', async () => {
  const ca = await appliance.makeCa();
  for (let times = 0; times < 2; times += 1) await enrol(ca, device, 'wrong');
  expect([await gauge('failing', ca), await appliance.list(ca, 'enrolment-failures')]).toMatchObject([{}, [{ failures: 2 }]]);
  // The right secret, and a name that the CA does not allow.
  await enrol(ca, device, secret, 'other.test');
  expect(await gauge('failing', ca)).toEqual({ all: 1 });
  expect(await appliance.list(ca, 'enrolment-failures')).toMatchObject([
    {
      'client-ip': '127.0.0.1',
      protocol: 'scep',
      failures: 3,
      subject: 'CN=other.test',
      reason: expect.stringContaining('allowed-domains'),
    },
  ]);
  expect((await enrol(ca, device, secret)).pkiStatus).toBe('0');
  expect([await gauge('failing', ca), await appliance.list(ca, 'enrolment-failures')]).toEqual([{}, []]);
  for (let times = 0; times < 3; times += 1) await enrol(ca, device, 'wrong');
  appliance.clock.step(86_500);
  expect([await gauge('failing', ca), await appliance.list(ca, 'enrolment-failures')]).toEqual([{}, []]);
});

test('secrets are counted by what became of them', async () => {
  const ca = await appliance.makeCa({ ...openScep, scep: { enabled: true } });
  const make = async (ttl: string): Promise<string> =>
    (
      (await appliance.act(ca, 'make-enrolment-secret', { subject: 'CN=dev.example.test', names: ['dev.example.test'], ttl })).body as {
        secret: string;
      }
    ).secret;
  const used = await make('1h');
  await make('1h');
  await make('30d');
  expect((await enrol(ca, device, used)).pkiStatus).toBe('0');
  expect(await gauge('secrets', ca)).toEqual({ used: 1, usable: 2 });
  appliance.clock.step(7_200);
  expect(await gauge('secrets', ca)).toEqual({ used: 1, usable: 1, 'never-used': 1 });
});

test('requests that wait are counted, and refused at once by what they have in common', async () => {
  const ca = await appliance.makeCa({ ...openScep, scep: { enabled: true, 'approval-required': true } });
  for (const name of ['a', 'b', 'c']) expect((await enrol(ca, device, undefined, `${name}.example.test`)).pkiStatus).toBe('3');
  const made = await appliance.act(ca, 'make-enrolment-secret', { subject: 'CN=d.example.test', names: ['d.example.test'] });
  expect((await enrol(ca, device, (made.body as { secret: string }).secret, 'd.example.test')).pkiStatus).toBe('3');
  expect(await gauge('requests_waiting', ca)).toEqual({ all: 4 });
  const refuse = async (filter: object): Promise<unknown> => (await appliance.act(ca, 'reject-enrolments', filter)).body;
  for (const filter of [{}, { all: true, subject: 'CN=a' }, { all: false }])
    expect(await refuse(filter)).toMatchObject({ code: 'invalid-value' });
  expect(await refuse({ subject: 'CN=a.' })).toEqual({ rejected: 1 });
  expect(await refuse({ 'client-ip': '192.0.2.1' })).toEqual({ rejected: 0 });
  expect(await refuse({ 'client-ip': '127.0.0.1', 'without-secret': true })).toEqual({ rejected: 2 });
  expect(await appliance.list(ca, 'enrolment-requests')).toMatchObject([{ subject: 'CN=d.example.test' }]);
  expect(await refuse({ all: true })).toEqual({ rejected: 1 });
  expect(await gauge('requests_waiting', ca)).toEqual({});
});

test('a certificate with a tenth of its life left counts until it is renewed, revoked or over', async () => {
  const ca = await appliance.makeCa({ ...openScep, est: { ...openScep.est, ttl: '10d' } });
  const other = await makeDevice('CN=b.example.test');
  const held = [
    (await enrol(ca, device, secret)).certificate as X509Certificate,
    (await enrol(ca, other, secret, 'b.example.test')).certificate as X509Certificate,
  ];
  appliance.clock.step(8 * 86_400);
  expect(await gauge('certificates_ending', ca)).toEqual({});
  appliance.clock.step(1.5 * 86_400);
  expect(await gauge('certificates_ending', ca)).toEqual({ all: 2 });
  expect((await enrol(ca, holding(device, held[0] as X509Certificate), undefined)).pkiStatus).toBe('0');
  expect(await gauge('certificates_ending', ca)).toEqual({ all: 1 });
  await appliance.act(ca, 'revoke', { serial: (held[1] as X509Certificate).serialNumber.toLowerCase() });
  expect(await gauge('certificates_ending', ca)).toEqual({});
});
