// Messages of ACME that are refused, each with a type and a text that says what is wrong, and with a nonce for the next one.
import { beforeAll, describe, expect, test } from 'vitest';
import { type AcmeClient, makeAccountKeys, signJws } from '../../harness/acme/client.ts';
import { accountProbes, lineOf, messageProbes, orderProbes } from '../../harness/acme/probes.ts';
import { type AcmeAppliance, openAcme, startAcmeAppliance } from './acme-appliance.ts';

let appliance: AcmeAppliance;
let ca: string;
let client: AcmeClient;

beforeAll(async () => {
  appliance = await startAcmeAppliance();
  ca = await appliance.makeCa(openAcme);
  client = appliance.client(ca);
  await client.register();
});

const expected: Readonly<Record<string, string>> = {
  'url absent': '400 malformed',
  'url of another resource': '400 malformed',
  'kid and jwk together': '400 malformed',
  'neither kid nor jwk': '400 malformed',
  'jwk where kid is due': '400 malformed',
  crit: '400 malformed',
  'alg none': '400 badSignatureAlgorithm',
  'alg HS256': '400 badSignatureAlgorithm',
  'alg of another key': '400 badSignatureAlgorithm',
  'unknown kid': '400 accountDoesNotExist',
  'no nonce': '400 badNonce',
  'nonce of somebody else': '400 badNonce',
  'nonce that is no base64url': '400 badNonce',
  'unprotected header': '400 malformed',
  signatures: '400 malformed',
  'padded base64': '400 malformed',
  'another payload': '400 malformed',
  'no JSON': '400 malformed',
  'a list': '400 malformed',
  'another Content-Type': '415 malformed',
  'nonce used twice': '400 badNonce',
  'GET of newOrder': '405 malformed',
  'key of the account as the secret of HS256': '400 badSignatureAlgorithm',
  'empty name': '400 malformed',
  'trailing dot': '400 malformed',
  underscore: '400 malformed',
  'IP as dns': '400 malformed',
  'octal IP': '400 malformed',
  'wildcard inside': '400 malformed',
  'two wildcards': '400 malformed',
  wildcard: '400 rejectedIdentifier',
  'U-label': '400 malformed',
  'name with a port': '400 malformed',
  'name with NUL': '400 malformed',
  'single label': '400 rejectedIdentifier',
  'upper case': '201',
  'number as value': '400 malformed',
  'type email': '400 unsupportedIdentifier',
  'no identifiers': '400 malformed',
  '101 names': '400 malformed',
  'a name twice': '201',
  'unknown profile': '400 invalidProfile',
  'garbage as replaces': '400 malformed',
  'unknown members': '201',
  'notAfter in the past': '400 malformed',
  notBefore: '400 malformed',
  'contact tel:': '400 unsupportedContact',
  'contact that is no address': '400 invalidContact',
  'contact with header fields': '400 invalidContact',
  'two addresses in a contact': '400 invalidContact',
  'without terms': '201',
  'RSA key of 1024 bits': '400 badPublicKey',
  'key on secp256k1': '400 badPublicKey',
  'private key in jwk': '400 badPublicKey',
};

test.each([...messageProbes, ...orderProbes, ...accountProbes])('%s', async (title, ask) => {
  const reply = await ask(client);
  expect(lineOf(reply)).toBe(expected[title]);
  // A client that gets a refusal needs the nonce of that answer.
  expect(reply.headers['replay-nonce']).toMatch(/^[\w-]{43}$/);
  const said =
    reply.status >= 400
      ? { detail: reply.body.detail, status: reply.body.status }
      : { detail: 'Nothing is refused.', status: reply.status };
  expect(said).toEqual({ detail: expect.stringMatching(/^["A-Z].{15,}\.$/s), status: reply.status });
});

describe('a nonce', () => {
  test('is good for an hour, and makes no record before its use', async () => {
    const [before, nonce] = [await client.nonce(), await client.nonce()];
    expect(before).not.toBe(nonce);
    appliance.clock.advance(59 * 60);
    const url = `${client.base}/new-order`;
    const header = { url, kid: client.kid };
    const payload = { identifiers: [{ type: 'dns', value: 'n.example.test' }] };
    expect((await client.send(url, signJws(client.keys, { ...header, nonce }, payload))).status).toBe(201);
    appliance.clock.advance(120);
    expect((await client.send(url, signJws(client.keys, { ...header, nonce: before }, payload))).body.detail).toContain('too old');
  });

  test('of a badly signed message is not used up', async () => {
    const nonce = await client.nonce();
    const url = `${client.base}/new-order`;
    const payload = { identifiers: [{ type: 'dns', value: 'n.example.test' }] };
    const other = makeAccountKeys();
    expect((await client.send(url, signJws(other, { url, kid: client.kid, nonce }, payload))).body.detail).toContain('does not verify');
    expect((await client.send(url, signJws(client.keys, { url, kid: client.kid, nonce }, payload))).status).toBe(201);
  });
});

describe('what is not there', () => {
  test('is one answer: a CA without ACME, an unknown one, another tenant, an unknown path', async () => {
    const off = await appliance.makeCa({ est: openAcme.est });
    const urls = [off, 'unknown'].map((name) => appliance.directoryOf(name));
    urls.push(client.directory.replace(appliance.tenantId, '00000000-0000-4000-8000-000000000000'), `${client.base}/unknown`);
    for (const url of urls) expect(lineOf(await client.fetch(url))).toBe('404 malformed');
    expect((await appliance.state(off)).acme).toMatchObject({ 'directory-url': [], enabled: false });
    expect((await appliance.state(ca)).acme['directory-url']).toContain(client.directory.replace('127.0.0.1', 'localhost'));
  });

  test('is nothing over plain HTTP, or for another host', async () => {
    const plain = await fetch(client.directory.replace(appliance.secure, appliance.plain));
    expect([plain.status, await plain.text()]).toEqual([400, expect.stringContaining('HTTPS alone')]);
    expect((await client.fetch(client.directory, { headers: { host: 'other.example' } })).status).toBe(404);
    expect((await client.fetch(client.directory, { headers: { host: 'localhost:443' } })).body.newNonce).toMatch(
      /^https:\/\/localhost:443\/acme\//,
    );
  });

  test('of another account is refused', async () => {
    const made = await client.order('mine.example.test');
    const other = appliance.client(ca);
    await other.register();
    for (const url of [made.headers['location'] ?? '', made.body.authorizations[0], made.body.finalize])
      expect(lineOf(await other.post(url, url === made.body.finalize ? { csr: 'AAAA' } : ''))).toBe('403 unauthorized');
    expect(lineOf(await client.post(made.headers['location'] ?? '', {}))).toBe('400 malformed');
  });
});

test('accounts that have proved nothing are limited by address, and end after a week', async () => {
  const own = await appliance.makeCa(openAcme);
  const clients = Array.from({ length: 52 }, () => appliance.client(own));
  const replies = await Promise.all(clients.map((each) => each.register()));
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(50);
  const refused = replies.find(({ status }) => status !== 201);
  expect([refused?.status, Number(refused?.headers['retry-after'])]).toEqual([429, 3_600]);
  const [first] = replies;
  const one = appliance.client(own);
  expect(first?.body.status).toBe('valid');
  expect((await one.register()).status).toBe(429);
  // An order makes the week no longer.
  appliance.clock.advance(6 * 86_400);
  const used = clients.find(({ kid }) => kid !== undefined && kid !== 'undefined');
  await used?.nonce();
  expect((await used?.order('u.example.test'))?.status).toBe(201);
  appliance.clock.advance(2 * 86_400);
  for (const job of appliance.jobs) if (job.name.startsWith('acme')) await job.run(new AbortController().signal);
  await used?.nonce();
  expect((await used?.order('u.example.test'))?.body.type).toContain('accountDoesNotExist');
  expect((await appliance.client(own).register()).status).toBe(201);
});
