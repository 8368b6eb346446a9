// Revocation lists of CAs elsewhere that are fetched, by logins and by a job.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type Identity, makeIdentity } from '../ca/pki.ts';
import { type CertificateHarness, type Client, listOf, roles, startCertificateHarness } from './harness.ts';

const at = temporaryDirectory();
let harness: CertificateHarness;
let root: Identity;
let good: Client;

const info = (client: Client, token: string) => harness.send('/v1/state/keystore/token/info', client, { token });
const loggedIn = async (role: string, client: Client): Promise<string> => {
  const { status, body } = await harness.login(role, client);
  expect([status, body.code]).toEqual([200, undefined]);
  return body.token as string;
};

beforeAll(async () => {
  harness = await startCertificateHarness(at());
  root = await makeIdentity({ subject: 'CN=Elsewhere', ca: true });
  const { keys, pem } = await makeIdentity({ subject: 'CN=one', issuer: root });
  good = { key: keys.pem, cert: pem };
  await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'elsewhere', 'ca-cert': root.pem });
  await harness.must('POST', '/v1/config/keystore/tls/ca', { name: 'devices', subject: 'CN=devices' });
});
afterAll(() => harness.close());

test('a CA elsewhere has its lists at URLs: they are fetched, and a new one ends the tokens of what it revokes and no others', async () => {
  const other = await makeIdentity({ subject: 'CN=two', issuer: root });
  const second: Client = { key: other.keys.pem, cert: other.pem };
  const day = 86_400_000;
  let served: string | undefined = await listOf(root, [], new Date(harness.clock.now().epochMilliseconds + day));
  let asked = 0;
  const server = createServer((_request, response) => {
    asked++;
    response.writeHead(served === undefined ? 503 : 200).end(served);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/list.crl`;
  const job = harness.appliance.jobs.find(({ name }) => name === 'certificate-login: fetch revocation lists');
  const refresh = async (): Promise<void> => {
    harness.clock.advance(900);
    if (job === undefined) throw new Error('there is no job that fetches lists');
    await job.run(new AbortController().signal);
  };
  const fields = { 'trust-ca': 'elsewhere', names: ['one', 'two'], revocation: 'checked' };
  try {
    await harness.setRole('fetched', { ...fields, 'crl-urls': [url] });
    const tokens = [await loggedIn('fetched', good), await loggedIn('fetched', second)];
    await loggedIn('fetched', good);
    expect(asked).toBe(1);
    served = await listOf(root, [other], new Date(harness.clock.now().epochMilliseconds + day));
    await refresh();
    expect([(await info(good, tokens[0] ?? '')).status, (await info(second, tokens[1] ?? '')).status]).toEqual([200, 401]);
    expect((await harness.login('fetched', second)).status).toBe(401);
    // The server is away: the list counts until its end, and then nobody logs in.
    served = undefined;
    await refresh();
    const state = await harness.must('GET', '/v1/state/keystore/authentication/certificate/roles/fetched');
    expect(String(state.notices)).toContain(`${url} was not fetched: the answer has the status 503`);
    await loggedIn('fetched', good);
    harness.clock.advance(2 * 86_400);
    expect((await harness.login('fetched', good)).status).toBe(401);
    // One of another key or another name, and one whose time is over, counts for nothing.
    const now = harness.clock.now().epochMilliseconds;
    const twin = await makeIdentity({ subject: 'CN=Elsewhere', ca: true });
    const renamed = await makeIdentity({ subject: 'CN=Elsewhere else', ca: true, keys: root.keys });
    for (const [what, list] of Object.entries({
      'of another key': await listOf(twin, [], new Date(now + 3 * day)),
      'of another name': await listOf(renamed, [], new Date(now + 3 * day)),
      'that has ended': await listOf(root, [], new Date(now - day)),
      'that is no list': root.pem,
    })) {
      served = list;
      harness.clock.advance(61);
      expect([what, (await harness.login('fetched', good)).status]).toEqual([what, 401]);
    }
    served = await listOf(root, [], new Date(now + 3 * day));
    harness.clock.advance(61);
    expect((await harness.login('fetched', good)).status).toBe(200);
  } finally {
    server.close();
  }
  const refused = async (more: object): Promise<unknown> => {
    const answer = await harness.appliance.request('PUT', `${roles}/fetched`, { ...fields, ...more });
    return [answer.status, answer.body.errors?.[0]?.['error-info']];
  };
  expect(await refused({ 'crl-urls': ['ftp://crl.example.test/x'] })).toEqual([400, 'crl-urls/0']);
  expect(await refused({ 'crl-urls': ['https://a:b@crl.example.test/x'] })).toEqual([400, 'crl-urls']);
  expect(await refused({ 'crl-urls': [url], revocation: 'none' })).toEqual([400, 'crl-urls']);
  expect(await refused({ 'crl-urls': [url], 'trust-ca': 'devices' })).toEqual([400, 'crl-urls']);
});
