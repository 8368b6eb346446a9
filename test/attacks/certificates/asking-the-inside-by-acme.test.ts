// Dogtag PKI 5407: http-01 asked what a caller named, followed redirects to other ports, and gave the fetched page in the error. Rebinding, too.
import { beforeAll, expect, test, vi } from 'vitest';
import { type AcmeClient, signJws } from '../../harness/acme/client.ts';
import { type AcmeAppliance, openAcme, startAcmeAppliance } from '../../plugins/acme/acme-appliance.ts';

let appliance: AcmeAppliance;
let client: AcmeClient;

beforeAll(async () => {
  appliance = await startAcmeAppliance();
  client = appliance.client(await appliance.makeCa(openAcme));
  await client.register();
});

/** The error of a challenge for a name, and the requests that the web server got meanwhile. */
async function tell(name: string, prepare: (path: string) => void = () => undefined, type = 'http-01') {
  appliance.clock.advance(61);
  const visits = appliance.visits.length;
  const order = await client.order(name);
  const { body } = await client.post(order.body.authorizations[0], '');
  const challenge = body.challenges.find((one: { type: string }) => one.type === type);
  prepare(`/.well-known/acme-challenge/${challenge.token}`);
  await client.post(challenge.url, {});
  const decided = await client.until(order.body.authorizations[0], 'pending');
  return { status: decided.body.status, error: decided.body.challenges[0].error, visits: appliance.visits.slice(visits) };
}

test('the page of a host is in no error', async () => {
  const { status, error, visits } = await tell('a.example.test');
  expect([status, visits.length]).toEqual(['invalid', 1]);
  expect(error.detail).toBe('The host answers with the status 404 at the path of the challenge.');
  const other = await tell('a.example.test', (path) => appliance.pages.set(path, 'secret of the intranet'));
  expect([other.status, JSON.stringify(other.error)]).toEqual(['invalid', expect.not.stringContaining('secret')]);
});

test.each([
  ['denied', '127.0.0.66'],
  ['link-local', '169.254.169.254'],
  ['private', '10.0.0.1'],
  ['unspecified', '0.0.0.0'],
  ['of a metadata service', '100.100.100.200'],
])('a name that leads to an address that is %s is not asked, by any challenge', async (_kind, address) => {
  appliance.dns.addresses.set('in.example.test', [address]);
  for (const type of ['http-01', 'tls-alpn-01']) {
    const { status, error, visits } = await tell('in.example.test', undefined, type);
    expect([status, visits]).toEqual(['invalid', []]);
    expect(error.detail).toContain('validation-hosts');
  }
});

test('of a name with an allowed and a forbidden address the allowed one alone is asked', async () => {
  appliance.dns.addresses.set('both.example.test', ['169.254.169.254', '127.0.0.1']);
  expect(await tell('both.example.test')).toMatchObject({ status: 'invalid', visits: [expect.stringMatching(/^both\.example\.test/)] });
});

test('a redirect goes to host names on the ports of the web, within the rules for addresses', async () => {
  appliance.dns.addresses.set('inside.example.test', ['10.0.0.1']);
  const targets = [
    ['http://a.example.test:22/', 'something else than http'],
    [`http://a.example.test:${Number(new URL(appliance.secure).port)}/`, 'something else than http'],
    ['ftp://a.example.test/', 'something else than http'],
    ['file:///etc/passwd', 'something else than http'],
    ['http://user:pw@a.example.test/', 'something else than http'],
    [`http://127.0.0.66:${appliance.httpPort}/`, 'redirects to an address'],
    [`http://[::1]:${appliance.httpPort}/`, 'redirects to an address'],
    [`http://inside.example.test:${appliance.httpPort}/`, 'validation-hosts'],
  ] as const;
  for (const [target, text] of targets) {
    const { status, error, visits } = await tell('a.example.test', (path) => appliance.pages.set(path, `>${target}`));
    expect([target, status, visits.length, error.detail]).toEqual([target, 'invalid', 1, expect.stringContaining(text)]);
  }
  const circle = await tell('a.example.test', (path) => appliance.pages.set(path, `>${path}`));
  expect([circle.status, circle.visits.length, circle.error.detail]).toEqual([
    'invalid',
    11,
    expect.stringContaining('more than 10 times'),
  ]);
});

test('a large answer is not read to its end, and a redirect to the right place is followed', async () => {
  const { status, error } = await tell('a.example.test', (path) => appliance.pages.set(path, 'x'.repeat(200_000)));
  expect([status, error.detail]).toEqual(['invalid', expect.stringContaining('larger than 64 kB')]);
  appliance.pages.set('/elsewhere', 'set below');
  const followed = await tell('a.example.test', (path) => {
    const token = path.split('/').at(-1) ?? '';
    appliance.pages.set(path, `>http://b.example.test:${appliance.httpPort}/elsewhere`);
    appliance.pages.set('/elsewhere', client.keyAuthorization(token));
  });
  expect(followed.status).toBe('valid');
});

test('hosts that never answer hold the part of their address alone, by however many accounts', async () => {
  appliance.clock.advance(61);
  const challenges: { from: AcmeClient; url: string }[] = [];
  const name = await appliance.makeCa(openAcme);
  for (let account = 0; account < 3; account++) {
    const from = appliance.client(name);
    await from.register();
    for (let count = 0; count < 5; count++) {
      const order = await from.order('f.example.test');
      const { body } = await from.post(order.body.authorizations[0], '');
      const { token, url } = body.challenges.find((one: { type: string }) => one.type === 'http-01');
      appliance.pages.set(`/.well-known/acme-challenge/${token}`, '');
      challenges.push({ from, url });
    }
  }
  // At once: what has begun counts before it is recorded.
  const replies = await Promise.all(
    challenges.map(async ({ from, url }) => {
      const nonce = await from.nonce();
      return from.send(url, signJws(from.keys, { nonce, url, kid: from.kid }, {}));
    }),
  );
  expect(replies.map(({ status }) => status).toSorted((one, two) => one - two)).toEqual([
    ...Array.from({ length: 10 }, () => 200),
    ...Array.from({ length: 5 }, () => 429),
  ]);
  appliance.hangUp();
});

test('of an authorization that was deactivated while its host was asked nothing is asked again', async () => {
  appliance.clock.advance(61);
  const { body } = await client.order('f.example.test');
  const [url] = body.authorizations;
  const [{ token, url: challenge }] = (await client.post(url, '')).body.challenges;
  appliance.pages.set(`/.well-known/acme-challenge/${token}`, '');
  const visits = appliance.visits.length;
  await client.post(challenge, {});
  await vi.waitFor(() => expect(appliance.visits.length).toBe(visits + 1));
  expect((await client.post(url, { status: 'deactivated' })).body.status).toBe('deactivated');
  appliance.hangUp();
  appliance.clock.advance(61);
  for (let count = 0; count < 3; count++) {
    const asked = await client.post(challenge, '');
    expect([asked.status, asked.body.status]).toEqual([200, 'invalid']);
  }
  expect(appliance.visits.length).toBe(visits + 1);
});

test('ten proofs that fail in a minute, and the address is no longer a way to ask hosts', async () => {
  appliance.clock.advance(61);
  const statuses: number[] = [];
  for (let round = 0; round < 12; round++) {
    const order = await client.order('f.example.test');
    const { body } = await client.post(order.body.authorizations[0], '');
    const begun = await client.post(body.challenges[0].url, {});
    statuses.push(begun.status);
    if (begun.status === 200) await client.until(order.body.authorizations[0], 'pending');
  }
  expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 200));
  expect(statuses.at(-1)).toBe(429);
});
