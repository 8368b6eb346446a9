// A copied key renews before it is missed: the certificates that it made must end with the one that is revoked.
import { X509Certificate } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { type Identity, type Keys, makeDeviceCsr, makeKeys, readCertsOnly, x509 } from '../../plugins/ca/pki.ts';
import { basic, send, type Reply } from '../../plugins/est/client.ts';
import { type EstAppliance, openEst, secret, startEstAppliance } from '../../plugins/est/est-appliance.ts';
import type { IssuedCertificate } from '../../../plugins/ca/records/records.ts';

const name = 'pump.example.test';
const day = 86_400;
let appliance: EstAppliance;
let keys: Keys;

beforeAll(async () => {
  appliance = await startEstAppliance();
  keys = await makeKeys('P-256');
});

function held(reply: Reply): Identity {
  const [certificate] = readCertsOnly(reply.text);
  if (certificate === undefined) throw new Error(`${reply.status} ${reply.text}`);
  return { keys, certificate: certificate.raw, pem: certificate.toString() };
}

const enrol = async (ca: string): Promise<Identity> =>
  held(await appliance.enrol(ca, 'simpleenroll', await makeDeviceCsr(keys, name), { headers: { Authorization: basic(secret) } }));
const ask = async (ca: string, client: Identity): Promise<Reply> =>
  appliance.enrol(ca, 'simplereenroll', await makeDeviceCsr(keys, name), { client });
const renew = async (ca: string, client: Identity): Promise<Identity> => held(await ask(ca, client));

const serialOf = ({ pem }: Identity): string => new X509Certificate(pem).serialNumber.toLowerCase();

type Shown = { readonly serial: string; readonly status: string; readonly line?: string };
const list = async (ca: string): Promise<readonly Shown[]> =>
  (await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/certificates?limit=1000`)).body;
const good = async (ca: string): Promise<readonly string[]> =>
  (await list(ca)).filter(({ status }) => status === 'valid').map(({ serial }) => serial);

test('twelve renewals made from one certificate end with its line, whichever of them is named; other enrolments live on', async () => {
  const ca = await appliance.makeCa();
  const first = await enrol(ca);
  const renewals: Identity[] = [];
  for (let count = 0; count < 12; count++) renewals.push(await renew(ca, first));
  const [one, two] = renewals as [Identity, Identity];
  const further = await renew(ca, two);
  const line = [first, ...renewals, further];
  const other = await enrol(ca);
  for (const { serial, line: shown } of await list(ca)) {
    const isRenewal = serial !== serialOf(first) && serial !== serialOf(other);
    expect(shown).toBe(isRenewal ? serialOf(first) : undefined);
  }

  const alone = await appliance.act(ca, 'revoke', { serial: serialOf(one) });
  expect(alone).toMatchObject({ status: 200, body: { revoked: 1, 'still-valid': 13 } });
  expect((await ask(ca, first)).status).toBe(200);

  const whole = await appliance.act(ca, 'revoke', { serial: serialOf(one), reason: 'key-compromise', line: true });
  // With the one that was just made.
  expect(whole).toMatchObject({ status: 200, body: { revoked: 14, 'still-valid': 0 } });
  for (const identity of line) expect((await ask(ca, identity)).status).toBe(401);
  expect(await good(ca)).toEqual([serialOf(other)]);
  expect((await ask(ca, other)).status).toBe(200);

  const record = appliance.audited().findLast(({ path }) => String(path).endsWith('/revoke'));
  const asked = record?.['request-parameters'] as { readonly revoked: readonly string[] } | undefined;
  const revoked = asked?.revoked ?? [];
  expect(asked).toEqual({ serial: serialOf(one), reason: 'key-compromise', line: true, revoked });
  expect(revoked).toHaveLength(14);
  expect(revoked).toEqual(expect.arrayContaining([first, ...renewals.slice(1), further].map(serialOf)));

  const { body } = await send(appliance.url, new URL((await appliance.state(ca))['crl-url']).pathname);
  const crl = new x509.X509Crl(Uint8Array.from(body));
  expect(new Set(crl.entries.map(({ serialNumber }) => serialNumber))).toEqual(new Set([serialOf(one), ...revoked]));

  const again = await appliance.act(ca, 'revoke', { serial: serialOf(further), line: true });
  expect(again).toMatchObject({ status: 200, body: { revoked: 0, 'still-valid': 0 } });
});

test('a renewal that runs while its line is revoked is refused or revoked with it', async () => {
  const ca = await appliance.makeCa();
  for (let round = 0; round < 4; round++) {
    const first = await enrol(ca);
    const members = [first];
    for (let count = 0; count < 11; count++) members.push(await renew(ca, first));
    const [answer] = await Promise.all([
      appliance.act(ca, 'revoke', { serial: serialOf(first), line: true }),
      ...members.map((member) => ask(ca, member)),
    ]);
    expect(answer).toMatchObject({ status: 200, body: { 'still-valid': 0 } });
    expect(await good(ca)).toEqual([]);
  }
});

test('an intermediate CA that was renewed is one line at the CA above', async () => {
  const root = await appliance.makeCa({});
  const ca = await appliance.makeCa({ 'issuing-ca': root });
  expect((await appliance.act(ca, 'renew')).status).toBe(200);
  const [one] = await good(root);
  expect(await appliance.act(root, 'revoke', { serial: one })).toMatchObject({ body: { revoked: 1, 'still-valid': 1 } });
  expect(await appliance.act(root, 'revoke', { serial: one, line: true })).toMatchObject({ body: { revoked: 1, 'still-valid': 0 } });
});

test('records of earlier versions have no line: each begins one', async () => {
  const ca = await appliance.makeCa();
  const first = await enrol(ca);
  const old = await renew(ca, first);
  const store = appliance.store.prefixed('est').table<IssuedCertificate>('certificates');
  const [key, { line, ...record }] = [...store.entries([appliance.tenantId])].find(
    ([parts]) => parts.at(-1) === serialOf(old),
  ) as readonly [readonly string[], IssuedCertificate];
  expect(line).toBe(serialOf(first));
  const lines = appliance.store.prefixed('ca').table<true>('lines');
  await appliance.store.write((transaction) => {
    transaction.put(store, key, record);
    transaction.delete(lines, [...key.slice(0, -1), serialOf(first), serialOf(old)]);
  });
  const renewed = await renew(ca, old);
  expect(await appliance.act(ca, 'revoke', { serial: serialOf(first), line: true })).toMatchObject({
    body: { revoked: 1, 'still-valid': 0 },
  });
  expect(await appliance.act(ca, 'revoke', { serial: serialOf(renewed), line: true })).toMatchObject({
    body: { revoked: 2, 'still-valid': 0 },
  });
  expect(await good(ca)).toEqual([]);
});

test('a line outlives the record of its first certificate, and leaves nothing behind when all are forgotten', async () => {
  const ca = await appliance.makeCa({ est: { ...openEst, ttl: '60d' } });
  const id = appliance.store.prefixed('est').table<{ readonly id: string }>('cas').get([appliance.tenantId, ca])?.id ?? '';
  const lines = (): number => appliance.store.prefixed('ca').table('lines').count([appliance.tenantId, id]);
  const jobs = async (): Promise<void> => {
    for (const job of appliance.jobs) await job.run(AbortSignal.timeout(60_000));
  };
  const first = await enrol(ca);
  const second = await renew(ca, first);
  appliance.clock.advance(50 * day);
  const third = await renew(ca, second);
  appliance.clock.advance(50 * day);
  const [fourth, fifth] = [await renew(ca, third), await renew(ca, third)];
  appliance.clock.advance(51 * day);
  expect(lines()).toBe(4);
  await jobs();
  expect((await list(ca)).map(({ serial }) => serial).toSorted()).toEqual([third, fourth, fifth].map(serialOf).toSorted());
  expect(await appliance.act(ca, 'revoke', { serial: serialOf(fourth), line: true })).toMatchObject({
    body: { revoked: 2, 'still-valid': 0 },
  });
  appliance.clock.advance(200 * day);
  await jobs();
  expect(await list(ca)).toEqual([]);
  expect(lines()).toBe(0);
  await appliance.setBack(351 * day);
});
