// A device logs in with its certificate, and its token works with that certificate alone.
import { Agent } from 'node:https';
import { connect } from 'node:tls';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type Identity, makeIdentity, makeKeys } from '../ca/pki.ts';
import { type CertificateHarness, type Client, listOf, roles, startCertificateHarness } from './harness.ts';

const at = temporaryDirectory();
let harness: CertificateHarness;
let device: Client & { readonly serial: string };

const est = { enabled: true, 'allowed-domains': ['example.test'], 'allow-subdomains': true, 'allow-bare-domains': true };
const dns = (value: string) => ({ names: [{ type: 'dns' as const, value }] });
const info = (client: Client | undefined, token: string) => harness.send('/v1/state/keystore/token/info', client, { token });
const loggedIn = async (role: string, client: Client): Promise<string> => {
  const { status, body } = await harness.login(role, client);
  expect([status, body.code]).toEqual([200, undefined]);
  return body.token as string;
};

beforeAll(async () => {
  harness = await startCertificateHarness(at());
  for (const name of ['devices', 'others'])
    await harness.must('POST', '/v1/config/keystore/tls/ca', { name, subject: `CN=${name}`, ttl: '365d', est });
  await harness.setRole('devices', { 'trust-ca': 'devices', names: ['*.example.test'] });
  device = await harness.certify('devices', 'CN=d1.example.test', dns('d1.example.test'));
});
afterAll(() => harness.close());

describe('the token', () => {
  test('has the identity of the certificate, and works with the same one alone', async () => {
    const token = await loggedIn('devices', device);
    const sibling = await harness.certify('devices', 'CN=d1.example.test', dns('d1.example.test'));
    const own = await info(device, token);
    expect(own.body).toMatchObject({
      ...{ user: 'd1.example.test', 'user-kind': 'certificate', 'user-source': 'devices', 'bound-to': 'certificate' },
      identity: { kind: 'certificate', subject: 'cn:d1.example.test' },
    });
    const others = [await info(sibling, token), await info(undefined, token)];
    expect(others.map(({ status, body }) => [status, body.code])).toEqual([
      [401, 'invalid-token'],
      [401, 'invalid-token'],
    ]);
    const elsewhere = await harness.appliance.request('POST', '/v1/state/keystore/token/info', {}, { token });
    expect(elsewhere.status).toBe(401);
  });

  test('binds its children, which no session of a browser and no lasting credential frees', async () => {
    const token = await loggedIn('devices', device);
    const child = await harness.send('/v1/state/keystore/token/create', device, { token, body: { policies: ['root'] } });
    expect(child.status).toBe(200);
    expect([(await info(device, child.body.token)).status, (await info(undefined, child.body.token)).status]).toEqual([200, 401]);
    const approle = { name: 'free', 'token-policies': ['root'] };
    const made = await harness.send('/v1/config/keystore/authentication/approles', device, { token, body: approle });
    expect([made.status, made.body.code, made.body.detail]).toEqual([403, 'policy-denied', expect.stringContaining('client certificate')]);
    await harness.must('POST', '/v1/config/keystore/authentication/approles', { ...approle, name: 'there' });
    for (const action of ['generate-secret-id', 'hand-over-secret-id']) {
      const secret = await harness.send(`/v1/state/keystore/authentication/approles/there/${action}`, device, { token, body: {} });
      expect([secret.status, secret.body.code, secret.body.detail]).toEqual([
        ...[403, 'policy-denied', expect.stringContaining('client certificate')],
      ]);
    }
  });

  test('ends when the certificate is revoked, on a connection that is open', async () => {
    const leaving = await harness.certify('devices', 'CN=leaving.example.test', dns('leaving.example.test'));
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: harness.trust, ...leaving });
    const over = (path: string, more: object) => harness.send(path, leaving, { agent, ...more });
    const { body } = await over('/v1/certificate-login', { body: { tenant: 'system', role: 'devices' } });
    expect((await over('/v1/state/keystore/token/info', { token: body.token })).status).toBe(200);
    await harness.must('POST', '/v1/state/keystore/tls/ca/devices/revoke', { serial: leaving.serial });
    expect((await over('/v1/state/keystore/token/info', { token: body.token })).status).toBe(401);
    expect((await over('/v1/certificate-login', { body: { tenant: 'system', role: 'devices' } })).status).toBe(401);
    agent.destroy();
  });

  test('bound to the key works with a renewed certificate of the key, and ends with the revocation of either', async () => {
    await harness.setRole('by-key', { 'trust-ca': 'devices', names: ['*.example.test'], 'bound-to': 'key' });
    const keys = await makeKeys('P-256');
    const [first, second] = [
      await harness.certify('devices', 'CN=k.example.test', { ...dns('k.example.test'), keys }),
      await harness.certify('devices', 'CN=k.example.test', { ...dns('k.example.test'), keys }),
    ];
    const token = await loggedIn('by-key', first);
    expect([(await info(second, token)).status, (await info(device, token)).status]).toEqual([200, 401]);
    await harness.must('POST', '/v1/state/keystore/tls/ca/devices/revoke', { serial: second.serial });
    expect((await info(first, token)).status).toBe(401);
  });

  test('is given by a role that lists every way in which a CA issues', async () => {
    const ways = ['est', 'scep', 'acme', 'cmp', 'sign-csr'];
    await harness.setRole('any-way', { 'trust-ca': 'devices', names: ['*.example.test'], 'issued-via': ways });
    expect((await info(device, await loggedIn('any-way', device))).status).toBe(200);
  });

  test('is free where the role says so, and still ends with the certificate', async () => {
    await harness.setRole('free', { 'trust-ca': 'devices', names: ['*.example.test'], 'bound-to': 'none' });
    const free = await harness.certify('devices', 'CN=f.example.test', dns('f.example.test'));
    const token = await loggedIn('free', free);
    expect((await harness.appliance.request('POST', '/v1/state/keystore/token/info', {}, { token })).status).toBe(200);
    await harness.must('POST', '/v1/state/keystore/tls/ca/devices/revoke', { serial: free.serial });
    expect((await harness.appliance.request('POST', '/v1/state/keystore/token/info', {}, { token })).status).toBe(401);
  });

  test('ends with its role, and with its CA', async () => {
    await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'short', subject: 'CN=short', est, 'deletion-allowed': true });
    await harness.setRole('short', { 'trust-ca': 'short' });
    await harness.setRole('shorter', { 'trust-ca': 'short' });
    const client = await harness.certify('short', 'CN=s.example.test', dns('s.example.test'));
    const [ofRole, ofCa] = [await loggedIn('shorter', client), await loggedIn('short', client)];
    await harness.must('DELETE', `${roles}/shorter`);
    expect([(await info(client, ofRole)).status, (await info(client, ofCa)).status]).toEqual([401, 200]);
    await harness.must('DELETE', '/v1/config/keystore/tls/ca/short');
    expect((await info(client, ofCa)).status).toBe(401);
    // Another CA of the name is not the one that the role means.
    await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'short', subject: 'CN=short', est });
    const twin = await harness.certify('short', 'CN=s.example.test', dns('s.example.test'));
    expect((await harness.login('short', twin)).status).toBe(401);
    const state = await harness.must('GET', '/v1/state/keystore/authentication/certificate/roles/short');
    expect(state.notices).toEqual(['The CA of the role was deleted, or has another certificate: nobody logs in.']);
  });

  test('lives no longer than its certificate', async () => {
    await harness.setRole('long', { 'trust-ca': 'devices', names: ['*.example.test'], 'token-ttl': '90d', 'token-max-ttl': '90d' });
    const { body } = await harness.login('long', device);
    expect(body['expires-in']).toBeLessThanOrEqual(30 * 86_400);
  });
});

test('no session of TLS is resumed at the listener: a stolen one would stand for the key', async () => {
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const { hostname, port } = new URL(harness.origin);
    const options = { host: hostname, port: Number(port), ca: harness.trust, servername: 'localhost', maxVersion };
    const first = connect({ ...options, ...device });
    const sessions: Buffer[] = [];
    first.on('session', (session) => sessions.push(session));
    await once(first, 'secureConnect');
    first.write('GET /v1/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    first.resume();
    await once(first, 'close');
    for (const session of sessions) {
      const second = connect({ ...options, session });
      await once(second, 'secureConnect');
      expect([maxVersion, second.isSessionReused()]).toEqual([maxVersion, false]);
      second.destroy();
    }
  }
});

test('refusals are alike, whatever is wrong; the one without a certificate says where to log in', async () => {
  const unknown = await makeIdentity({ subject: 'CN=d1.example.test' });
  const wrong = { key: unknown.keys.pem, cert: unknown.pem };
  const answers = [
    await harness.login('devices', wrong),
    await harness.login('none', wrong),
    await harness.login('devices', await harness.certify('others', 'CN=d1.example.test', dns('d1.example.test'))),
    await harness.login('none', device),
  ];
  const shown = answers.map(({ status, body }) => JSON.stringify([status, { ...(body as object), 'request-id': '' }]));
  expect(new Set(shown).size).toBe(1);
  expect(answers[0]?.body.code).toBe('login-failed');
  expect((await harness.login('devices', undefined)).body.detail).toContain('certificate-listen');
  const explain = (certificate: string) =>
    harness.must('POST', '/v1/state/keystore/authentication/certificate/roles/devices/explain', { certificate });
  expect(await explain(device.cert)).toMatchObject({ outcome: 'accepted', holder: 'd1.example.test' });
  expect(await explain(unknown.pem)).toMatchObject({ outcome: 'refused', reason: 'not-issued' });
});

describe('a CA elsewhere', () => {
  let root: Identity;
  let crl: string;
  let good: Client;
  let revoked: Client;

  beforeAll(async () => {
    root = await makeIdentity({ subject: 'CN=Elsewhere', ca: true });
    const make = async (name: string): Promise<Identity> => makeIdentity({ subject: `CN=${name}`, issuer: root });
    const [one, two] = [await make('one'), await make('two')];
    [good, revoked] = [one, two].map(({ keys, pem }) => ({ key: keys.pem, cert: pem })) as [Client, Client];
    crl = await listOf(root, [two], new Date(Date.now() + 86_400_000));
    await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'elsewhere', 'ca-cert': root.pem });
  });

  test('needs its revocation lists, which must be its own, and current', async () => {
    const refused = async (fields: object): Promise<unknown> => {
      const path = `${roles}/elsewhere`;
      const answer = await harness.appliance.request('PUT', path, { 'trust-ca': 'elsewhere', names: ['one', 'two'], ...fields });
      return [answer.status, answer.body.code, answer.body.errors?.[0]?.['error-info']];
    };
    expect(await refused({})).toEqual([400, 'invalid-value', 'crl']);
    expect(await refused({ crl: 'x' })).toEqual([400, 'invalid-value', 'crl']);
    const other = await makeIdentity({ subject: 'CN=Elsewhere', ca: true });
    expect(await refused({ crl: await listOf(other, [], new Date(Date.now() + 86_400_000)) })).toEqual([400, 'invalid-value', 'crl']);
    expect(await refused({ crl, revocation: 'none' })).toEqual([400, 'invalid-value', 'crl']);
    expect(await refused({ crl, 'issued-via': ['est'] })).toEqual([400, 'invalid-value', 'issued-via']);
    await harness.setRole('elsewhere', { 'trust-ca': 'elsewhere', names: ['one', 'two'], crl });
    expect([(await harness.login('elsewhere', good)).status, (await harness.login('elsewhere', revoked)).status]).toEqual([200, 401]);
    harness.clock.advance(2 * 86_400);
    expect((await harness.login('elsewhere', good)).status).toBe(401);
    harness.clock.advance(-2 * 86_400);
    await harness.setRole('elsewhere', { 'trust-ca': 'elsewhere', names: ['one', 'two'], revocation: 'none' });
    expect((await harness.login('elsewhere', revoked)).status).toBe(200);
  });

  test('with another certificate logs in nobody of the role, and what it has logged in ends', async () => {
    const ours = { 'trust-ca': 'replaced', names: ['one'], revocation: 'none' };
    await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'replaced', 'ca-cert': root.pem });
    await harness.setRole('replaced', ours);
    const token = await loggedIn('replaced', good);
    const other = await makeIdentity({ subject: 'CN=Elsewhere', ca: true });
    const { keys, pem } = await makeIdentity({ subject: 'CN=one', issuer: other });
    await harness.must('PATCH', '/v1/config/keystore/tls/ca/replaced', { 'ca-cert': other.pem });
    const logins = [await harness.login('replaced', good), await harness.login('replaced', { key: keys.pem, cert: pem })];
    expect([(await info(good, token)).status, ...logins.map(({ status }) => status)]).toEqual([401, 401, 401]);
    const edited = await harness.appliance.request('PATCH', `${roles}/replaced`, { 'token-ttl': '30m' });
    expect([edited.status, edited.body.errors?.[0]?.['error-info']]).toEqual([400, 'trust-ca']);
  });
});

describe('a role', () => {
  test.each([
    [{ 'trust-ca': 'none' }, 'trust-ca'],
    [{ 'trust-ca': 'devices', names: ['a*'] }, 'names/0'],
    [{ 'trust-ca': 'devices', names: ['*.'] }, 'names/0'],
    [{ 'trust-ca': 'devices', 'name-from': 'uri', names: ['spiffe://*'] }, 'names/0'],
    [{ 'trust-ca': 'devices', 'name-from': 'dns', names: ['D1.example.test'] }, 'names/0'],
    [{ 'trust-ca': 'devices', revocation: 'none' }, 'revocation'],
    [{ 'trust-ca': 'devices', 'token-ttl': '2d', 'token-max-ttl': '1d' }, 'token-ttl'],
    [{ 'trust-ca': 'devices', 'token-policies': ['unknown'] }, 'token-policies'],
  ])('%j is refused for %s', async (fields, field) => {
    const answer = await harness.appliance.request('PUT', `${roles}/bad`, { names: ['*'], ...fields });
    expect([answer.status, answer.body.code, answer.body.errors?.[0]?.['error-info']]).toEqual([400, 'invalid-value', field]);
  });

  test('is widened only by holders of its policies', async () => {
    const rules = [{ path: '/v1/config/keystore/authentication/certificate/**', operations: { all: 'allow' } }];
    await harness.must('POST', '/v1/config/policy/policies', { name: 'role-keepers', 'rest-api': { rules } });
    await harness.setRole('narrow', { 'trust-ca': 'devices', names: ['a.example.test'] });
    const { token } = await harness.must('POST', '/v1/state/keystore/token/create', { policies: ['role-keepers', 'user'] });
    for (const fields of [
      { names: ['*'] },
      { 'bound-to': 'none' },
      { 'name-from': 'dns' },
      { 'token-ttl': '20h' },
      { 'trust-ca': 'others' },
    ]) {
      const refused = await harness.appliance.request('PATCH', `${roles}/narrow`, fields, { token });
      expect([fields, refused.status, refused.body.code]).toEqual([fields, 403, 'policy-denied']);
    }
    const narrowed = await harness.appliance.request('PATCH', `${roles}/narrow`, { 'token-ttl': '30m' }, { token });
    expect(narrowed.status).toBe(204);
  });
});
