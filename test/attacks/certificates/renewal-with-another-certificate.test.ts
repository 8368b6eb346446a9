// OpenBao GHSA-7ccv-rp6m-rffr (renewal with another valid certificate) and step-ca #2491 (the credential of one provisioner at another).
import { beforeAll, expect, test } from 'vitest';
import { basic, type Reply } from '../../plugins/est/client.ts';
import { type EstAppliance, secret, startEstAppliance } from '../../plugins/est/est-appliance.ts';
import { type Identity, type Keys, makeCsr, makeDeviceCsr, makeKeys, readCertsOnly } from '../../plugins/ca/pki.ts';

let appliance: EstAppliance;
let ca: string;
let other: string;
let keys: Keys;
let mine: Identity;
let theirs: Identity;

beforeAll(async () => {
  appliance = await startEstAppliance();
  [ca, other] = [await appliance.makeCa(), await appliance.makeCa()];
  keys = await makeKeys('P-256');
  mine = await obtain(ca, 'mine.example.test');
  theirs = await obtain(ca, 'theirs.example.test');
});

async function obtain(from: string, name: string): Promise<Identity> {
  const own = await makeKeys('P-256');
  const reply = await appliance.enrol(from, 'simpleenroll', await makeDeviceCsr(own, name), { headers: { Authorization: basic(secret) } });
  const [certificate] = readCertsOnly(reply.text);
  if (certificate === undefined) throw new Error(reply.text);
  return { keys: own, certificate: certificate.raw, pem: certificate.toString() };
}

async function renew(client: Identity, name: string, where = ca): Promise<Reply> {
  return appliance.enrol(where, 'simplereenroll', await makeDeviceCsr(keys, name), { client });
}

test('one’s own certificate renews one’s own name, and nothing else', async () => {
  expect((await renew(mine, 'mine.example.test')).status).toBe(200);
  expect((await renew(mine, 'theirs.example.test')).status).toBe(403);
  expect((await renew(theirs, 'mine.example.test')).status).toBe(403);
});

test('names may not grow, shrink or move to other places by renewal', async () => {
  const tries = [
    {
      subject: 'CN=mine.example.test',
      names: [
        { type: 'dns', value: 'mine.example.test' },
        { type: 'dns', value: 'more.example.test' },
      ],
    },
    { subject: 'CN=mine.example.test', names: [{ type: 'dns', value: 'other.example.test' }] },
    { subject: 'CN=other.example.test', names: [{ type: 'dns', value: 'mine.example.test' }] },
    { subject: 'CN=mine.example.test, O=admins', names: [{ type: 'dns', value: 'mine.example.test' }] },
    { subject: 'CN=mine.example.test', names: [] },
  ] as const;
  for (const { subject, names } of tries) {
    const csr = await makeCsr({ keys, subject, ...(names.length === 0 ? {} : { names: [...names] }) });
    expect([subject, names.length, (await appliance.enrol(ca, 'simplereenroll', csr, { client: mine })).status]).toEqual([
      subject,
      names.length,
      403,
    ]);
  }
});

test('no comparison that folds names takes one for another: only ASCII letters of hosts, and spaces in subjects, are alike', async () => {
  const held = await obtain(ca, 'kiosk.example.test');
  const status = async (subject: string, ...values: readonly string[]): Promise<number> => {
    const csr = await makeCsr({ keys, subject, names: values.map((value) => ({ type: 'dns', value })) });
    return (await appliance.enrol(ca, 'simplereenroll', csr, { client: held })).status;
  };
  expect(await status('CN=KIOSK.example.test', 'kiosk.EXAMPLE.test')).toBe(200);
  for (const [subject, ...values] of [
    ['CN=kiosk.example.test', 'kiosk.example.test.'],
    ['CN=kiosk.example.test', ' kiosk.example.test'],
    ['CN=kiosk.example.test', 'kiosk.example.test\u0000'],
    ['CN=kiosk.example.test', 'kiosk .example.test'],
    ['CN=kiosk.example.test', 'kiosk.example.test', 'KIOSK.example.test', 'other.example.test'],
    ['CN=ki osk.example.test', 'kiosk.example.test'],
    ['CN=kiosk.example.test, CN=KIOSK.example.test', 'kiosk.example.test'],
    ['CN=k\u0131osk.example.test', 'kiosk.example.test'],
  ] as const)
    expect([subject, values, await status(subject, ...values)]).toEqual([subject, values, 403]);
});

test('the certificate of another CA of the same appliance is no credential here', async () => {
  const foreign = await obtain(other, 'mine.example.test');
  expect((await renew(foreign, 'mine.example.test')).status).toBe(401);
  expect((await renew(mine, 'mine.example.test', other)).status).toBe(401);
});

test('nor is it under another tenant, by path or by label', async () => {
  await appliance.request('POST', '/v1/config/tenants', { name: 'guest', policies: ['root'] });
  const { uuid } = (await appliance.request('GET', '/v1/state/tenants/guest')).body;
  const csr = (await makeDeviceCsr(keys, 'mine.example.test')).toString('base64');
  for (const base of [`${uuid}/${ca}`, `${uuid}~${ca}`, `${uuid}/..%2f${appliance.tenantId}%2f${ca}`, `${appliance.tenantId}/${ca}~x`]) {
    const { send } = await import('../../plugins/est/client.ts');
    const reply = await send(appliance.est, `/.well-known/est/${base}/simplereenroll`, {
      method: 'POST',
      body: csr,
      headers: { 'Content-Type': 'application/pkcs10', 'Content-Transfer-Encoding': 'base64' },
      ca: appliance.caPem,
      client: mine,
    });
    expect([base, reply.status]).toEqual([base, 404]);
  }
});

test('a revoked certificate renews nothing from the next request on', async () => {
  const lost = await obtain(ca, 'lost.example.test');
  expect((await renew(lost, 'lost.example.test')).status).toBe(200);
  const { X509Certificate } = await import('node:crypto');
  const serial = new X509Certificate(lost.pem).serialNumber.toLowerCase();
  expect((await appliance.act(ca, 'revoke', { serial })).status).toBe(200);
  expect((await renew(lost, 'lost.example.test')).status).toBe(401);
});

test('every outcome is on record with the tenant’s name and uuid', () => {
  const records = appliance.audited().filter(({ kind }) => kind === 'est');
  expect(records.length).toBeGreaterThan(10);
  for (const record of records.filter((one) => one['status'] !== 404)) {
    expect(record).toMatchObject({ tenant: 'system', 'tenant-id': appliance.tenantId });
  }
});
