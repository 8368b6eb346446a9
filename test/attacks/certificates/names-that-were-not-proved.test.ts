// Names that others own, by ACME: Dogtag 5407 (addresses as host names), Boulder (one proof taken for others), step-ca (messages that nobody has signed).
import { createHash, createPrivateKey } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { type AcmeClient, type AcmeReply, encode, makeAccountKeys, signJws } from '../../harness/acme/client.ts';
import { makeCsr, makeKeys } from '../../plugins/ca/pki.ts';
import { type AcmeAppliance, openAcme, startAcmeAppliance } from '../../plugins/acme/acme-appliance.ts';

let appliance: AcmeAppliance;
let ca: string;

beforeAll(async () => {
  appliance = await startAcmeAppliance();
  ca = await appliance.makeCa(openAcme);
});

async function account(name = ca): Promise<AcmeClient> {
  const client = appliance.client(name);
  await client.register();
  return client;
}

const typeOf = ({ body }: AcmeReply): string => String(body?.type).replace('urn:ietf:params:acme:error:', '');
const csrFor = async (...names: readonly string[]): Promise<string> =>
  encode(await makeCsr({ keys: await makeKeys('P-256'), names: names.map((value) => ({ type: 'dns', value })) }));
const issued = async (): Promise<number> => ((await appliance.list(ca, 'certificates')) as unknown[]).length;

type Challenge = { readonly type: string; readonly url: string; readonly token: string };
async function challengeOf(client: AcmeClient, order: AcmeReply, index = 0): Promise<Challenge> {
  const { body } = await client.post(order.body.authorizations[index], '');
  return body.challenges.find(({ type }: Challenge) => type === 'http-01');
}

async function prove(client: AcmeClient, order: AcmeReply, index = 0, by = client): Promise<string> {
  const { url, token } = await challengeOf(client, order, index);
  appliance.pages.set(`/.well-known/acme-challenge/${token}`, by.keyAuthorization(token));
  await client.post(url, {});
  return (await client.until(order.body.authorizations[index], 'pending')).body.status;
}

test('the proof of one account is none for another, whatever the page says', async () => {
  const [owner, thief] = [await account(), await account()];
  const order = await thief.order('a.example.test');
  expect(await prove(thief, order, 0, owner)).toBe('invalid');
  expect(typeOf(await thief.post(order.body.finalize, { csr: await csrFor('a.example.test') }))).toBe('orderNotReady');
});

test('the proof of one name of an order is none for the others', async () => {
  const client = await account();
  const order = await client.order('a.example.test', 'b.example.test');
  expect(await prove(client, order)).toBe('valid');
  expect(typeOf(await client.post(order.body.finalize, { csr: await csrFor('a.example.test', 'b.example.test') }))).toBe('orderNotReady');
  expect(typeOf(await client.post(order.body.finalize, { csr: await csrFor('a.example.test') }))).toBe('badCSR');
});

test('a proved order gives no other names: in the request, its common name, or after an authorization was taken back', async () => {
  const client = await account();
  const order = await client.order('a.example.test');
  await prove(client, order);
  const before = await issued();
  expect(typeOf(await client.post(order.body.finalize, { csr: await csrFor('a.example.test', 'victim.example.test') }))).toBe('badCSR');
  expect(typeOf(await client.post(order.body.finalize, { csr: await csrFor('victim.example.test') }))).toBe('badCSR');
  const keys = await makeKeys('P-256');
  const behind = await makeCsr({ keys, subject: 'CN=victim.example.test', names: [{ type: 'dns', value: 'a.example.test' }] });
  expect(typeOf(await client.post(order.body.finalize, { csr: encode(behind) }))).toBe('badCSR');
  const mail = await makeCsr({
    keys,
    names: [
      { type: 'dns', value: 'a.example.test' },
      { type: 'email', value: 'admin@example.test' },
    ],
  });
  expect(typeOf(await client.post(order.body.finalize, { csr: encode(mail) }))).toBe('badCSR');
  expect((await client.post(order.body.authorizations[0], { status: 'deactivated' })).status).toBe(200);
  expect(typeOf(await client.post(order.body.finalize, { csr: await csrFor('a.example.test') }))).toBe('orderNotReady');
  expect(await issued()).toBe(before);
});

test('an order that was finalized twice at once, with two keys, gives one certificate', async () => {
  const client = await account();
  const order = await client.order('once.example.test');
  await prove(client, order);
  const before = await issued();
  const asks = await Promise.all([1, 2, 3, 4].map(async () => ({ nonce: await client.nonce(), csr: await csrFor('once.example.test') })));
  const url = order.body.finalize;
  const replies = await Promise.all(
    asks.map(({ nonce, csr }) => client.send(url, signJws(client.keys, { nonce, url, kid: client.kid }, { csr }))),
  );
  expect(replies.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([200, 403, 403, 403]);
  await client.until(order.headers['location'] ?? '', 'processing');
  expect(await issued()).toBe(before + 1);
});

test('a recorded message is nothing the second time, at this resource or at another', async () => {
  const client = await account();
  const url = `${client.base}/new-order`;
  const jws = signJws(
    client.keys,
    { nonce: await client.nonce(), url, kid: client.kid },
    { identifiers: [{ type: 'dns', value: 'r.example.test' }] },
  );
  expect((await client.send(`${client.base}/key-change`, jws)).body.detail).toContain('"url"');
  expect((await client.send(url, jws)).status).toBe(201);
  expect(typeOf(await client.send(url, jws))).toBe('badNonce');
});

test('a message for one CA is nothing at another', async () => {
  const other = await appliance.makeCa(openAcme);
  const [client, there] = [await account(), appliance.client(other)];
  const url = `${there.base}/new-order`;
  const payload = { identifiers: [{ type: 'dns', value: 'x.example.test' }] };
  const kid = (client.kid ?? '').replace(client.base, there.base);
  expect(typeOf(await client.post(url, payload, { kid }))).toBe('accountDoesNotExist');
  expect(typeOf(await client.post(url, payload, { url: `${client.base}/new-order` }))).toBe('malformed');
});

test('a message that nobody has signed, or whose algorithm is not that of the key, is nothing', async () => {
  const client = await account();
  const url = `${client.base}/new-order`;
  const payload = { identifiers: [{ type: 'dns', value: 's.example.test' }] };
  for (const [change, alg] of [
    ['', 'ES256'],
    ['AAAA', 'ES256'],
    [encode(Buffer.alloc(64)), 'ES256'],
    ['', 'none'],
    [encode(Buffer.alloc(64)), 'ES384'],
  ] as const) {
    const signed = signJws(client.keys, { nonce: await client.nonce(), url, kid: client.kid, alg }, payload);
    const reply = await client.send(url, { ...signed, signature: change });
    expect([change, alg, reply.status]).toEqual([change, alg, 400]);
  }
});

test('a key of the administrator for one name buys no other, and is bound to the account that signs', async () => {
  const closed = await appliance.makeCa({ ...openAcme, acme: { enabled: true } });
  const { body: key } = await appliance.act(closed, 'make-eab-key', { names: ['own.example.test'], uses: 2 });
  const { bindExternally } = await import('../../harness/acme/client.ts');
  const [client, thief] = [appliance.client(closed), appliance.client(closed)];
  const url = `${client.base}/new-account`;
  const externalAccountBinding = bindExternally(client.keys, { ...key, url });
  // The binding of another account, as it was seen on its way.
  expect(typeOf(await thief.register({ externalAccountBinding }))).toBe('malformed');
  thief.kid = undefined;
  const forged = { ...(externalAccountBinding as Record<string, string>), payload: encode(thief.keys.jwk) };
  expect(typeOf(await thief.register({ externalAccountBinding: forged }))).toBe('unauthorized');
  expect((await client.register({ externalAccountBinding })).status).toBe(201);
  for (const name of ['victim.example.test', 'own.example.test.example.test', 'xown.example.test'])
    expect(typeOf(await client.order(name))).toBe('rejectedIdentifier');
  const order = await client.order('own.example.test');
  expect(typeOf(await client.post(order.body.finalize, { csr: await csrFor('victim.example.test') }))).toBe('badCSR');
});

test('a certificate is not revoked by an account that could have proved its names, nor by a key that could be its own', async () => {
  const [owner, other] = [await account(), await account()];
  const order = await owner.order('rev.example.test');
  await prove(owner, order);
  const keys = await makeKeys('P-256');
  await owner.post(order.body.finalize, { csr: encode(await makeCsr({ keys, names: [{ type: 'dns', value: 'rev.example.test' }] })) });
  const done = await owner.until(order.headers['location'] ?? '', 'processing');
  const { text } = await owner.post(done.body.certificate, '');
  const certificate = Buffer.from(text.split('-----')[2]?.replaceAll('\n', '') ?? '', 'base64').toString('base64url');
  const url = `${owner.base}/revoke-cert`;
  expect(typeOf(await other.post(url, { certificate }))).toBe('unauthorized');
  expect(typeOf(await other.post(url, { certificate }, { kid: undefined, jwk: other.keys.jwk }))).toBe('unauthorized');
  // The public key of the certificate, signed by another one.
  const { d: _d, ...jwk } = createPrivateKey(keys.pem).export({ format: 'jwk' });
  expect(typeOf(await other.post(url, { certificate }, { kid: undefined, jwk }))).toBe('malformed');
  const own = Buffer.from((await appliance.state(ca))['ca-cert'].split('-----')[2].replaceAll('\n', ''), 'base64').toString('base64url');
  expect(typeOf(await owner.post(url, { certificate: own }))).toBe('malformed');
});

test('the names of Dogtag and of wildcards are refused before anything is asked', async () => {
  const client = await account();
  const before = [appliance.visits.length, appliance.dns.asked.length];
  for (const value of [
    '127.0.0.1',
    '*.example.test',
    '2130706433',
    '0x7f.1',
    'a.example.test.',
    'localhost',
    'a.example.test#',
    'user@a.example.test',
  ])
    expect((await client.post(`${client.base}/new-order`, { identifiers: [{ type: 'dns', value }] })).status).toBe(400);
  expect([appliance.visits.length, appliance.dns.asked.length]).toEqual(before);
});

test('keys of accounts that anybody could have are not taken', async () => {
  const { privateKey } = makeAccountKeys();
  const digest = createHash('sha256').update('x').digest('base64url');
  for (const jwk of [
    { kty: 'EC', crv: 'P-256', x: digest, y: digest },
    { kty: 'oct', k: digest },
    { kty: 'RSA', n: 'AQAB', e: 'AQAB' },
    {},
  ]) {
    const client = appliance.client(ca, { privateKey, jwk, alg: 'ES256' });
    expect(typeOf(await client.register())).toBe('badPublicKey');
  }
});
