// Enrolment by ACME: accounts, orders, proofs by each challenge, certificates, revocation and renewal information.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import tls from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { Reader, tag } from '../../../core/der/der.ts';
import { extensionsOf } from '../../../plugins/acme/certificate-extensions.ts';
import {
  type AcmeClient,
  type AcmeReply,
  bindExternally,
  encode,
  makeAccountKeys,
  signJws,
  thumbprint,
} from '../../harness/acme/client.ts';
import { makeCsr, makeIdentity, makeKeys, x509, type Keys } from '../ca/pki.ts';
import { ask, holding, makeDevice, newTransaction } from '../scep/device.ts';
import { openScep } from '../scep/scep-appliance.ts';
import { type AcmeAppliance, openAcme, startAcmeAppliance } from './acme-appliance.ts';

let appliance: AcmeAppliance;
let ca: string;

beforeAll(async () => {
  appliance = await startAcmeAppliance();
  ca = await appliance.makeCa(openAcme);
});

const csrOf = async (keys: Keys, names: readonly string[], subject = ''): Promise<string> =>
  encode(await makeCsr({ keys, subject, names: names.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value })) }));
const csrFor = async (...names: readonly string[]): Promise<string> => csrOf(await makeKeys('P-256'), names);

type Challenge = { readonly type: string; readonly url: string; readonly token: string };

/** A client with an account. */
async function account(name = ca, payload: object = {}): Promise<AcmeClient> {
  const client = appliance.client(name);
  expect((await client.register(payload)).status).toBe(201);
  return client;
}

async function challengeOf(client: AcmeClient, url: string, type: string): Promise<Challenge> {
  const { body } = await client.post(url, '');
  return body.challenges.find((one: Challenge) => one.type === type);
}

/** Proves the names of an order by http-01, and returns its URL. */
async function prove(client: AcmeClient, { body: order, headers }: AcmeReply): Promise<string> {
  for (const url of order.authorizations) {
    const { token, url: at } = await challengeOf(client, url, 'http-01');
    appliance.pages.set(`/.well-known/acme-challenge/${token}`, `${client.keyAuthorization(token)}\n`);
    expect((await client.post(at, {})).status).toBe(200);
    expect((await client.until(url, 'pending')).body.status).toBe('valid');
  }
  return headers['location'] ?? '';
}

/** The end of a proof that was set up. */
async function attempt(
  client: AcmeClient,
  order: AcmeReply,
  type: string,
): Promise<{ status: string; error?: { type: string; detail: string } }> {
  const [url] = order.body.authorizations;
  const { url: at } = await challengeOf(client, url, type);
  await client.post(at, {});
  const { body } = await client.until(url, 'pending');
  return body.challenges[0];
}

/** A certificate for names, from order to download. */
async function enrol(
  client: AcmeClient,
  names: readonly string[],
  keys?: Keys,
  more: object = {},
): Promise<{ leaf: X509Certificate; pem: string; order: string; url: string }> {
  const made = await client.post(`${client.base}/new-order`, {
    identifiers: names.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value })),
    ...more,
  });
  expect({ status: made.status, body: made.body }).toMatchObject({ status: 201 });
  const order = await prove(client, made);
  const csr = await csrOf(keys ?? (await makeKeys('P-256')), names);
  expect((await client.post(made.body.finalize, { csr })).status).toBe(200);
  const { body } = await client.until(order, 'processing');
  expect(body).toMatchObject({ status: 'valid' });
  const { text } = await client.post(body.certificate, '');
  return { leaf: new X509Certificate(text), pem: text, order, url: body.certificate };
}

const certificatesOf = (pem: string): X509Certificate[] =>
  pem.split(/(?<=-----END CERTIFICATE-----\n)/).map((one) => new X509Certificate(one));
const typeOf = ({ body }: AcmeReply): string => String(body.type).replace('urn:ietf:params:acme:error:', '');

describe('a client', () => {
  test.each(['ES256', 'RS256', 'ES384', 'EdDSA'] as const)('with a key for %s gets a certificate by http-01', async (alg) => {
    const client = appliance.client(ca, makeAccountKeys(alg));
    expect((await client.register({ contact: ['mailto:a@example.test'], termsOfServiceAgreed: true })).status).toBe(201);
    const { leaf, pem } = await enrol(client, ['a.example.test', 'b.example.test']);
    const [, issuer] = certificatesOf(pem);
    expect([leaf.subject, leaf.subjectAltName]).toEqual([undefined, 'DNS:a.example.test, DNS:b.example.test']);
    expect(leaf.verify((issuer as X509Certificate).publicKey)).toBe(true);
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  });

  test('of a CA below another gets the chain without the root', async () => {
    const below = await appliance.makeCa({ ...openAcme, 'issuing-ca': ca });
    const { pem } = await enrol(await account(below), ['c.example.test']);
    const [leaf, issuer, ...more] = certificatesOf(pem);
    expect([more.length, issuer?.subject === issuer?.issuer, leaf?.verify((issuer as X509Certificate).publicKey)]).toEqual([
      0,
      false,
      true,
    ]);
  });

  test('gets usages by its profile, and a shorter life where it asks for one', async () => {
    const client = await account();
    const notAfter = appliance.clock.now().add({ hours: 48 }).round('second');
    const { leaf } = await enrol(client, ['p.example.test'], undefined, { profile: 'server-and-client', notAfter: notAfter.toString() });
    expect(leaf.keyUsage?.toSorted()).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    expect(Math.abs(leaf.validToDate.getTime() - notAfter.epochMilliseconds)).toBeLessThan(5_000);
    expect(
      typeOf(await client.post(`${client.base}/new-order`, { identifiers: [{ type: 'dns', value: 'p.example.test' }], profile: 'none' })),
    ).toBe('invalidProfile');
  });

  test('finalizes again and gets the same certificate; with another request it is refused', async () => {
    const client = await account();
    const made = await client.order('twice.example.test');
    const order = await prove(client, made);
    const csr = await csrFor('twice.example.test');
    const replies = await Promise.all([
      client.send(
        made.body.finalize,
        signJws(client.keys, { nonce: await client.nonce(), url: made.body.finalize, kid: client.kid }, { csr }),
      ),
      client.send(
        made.body.finalize,
        signJws(client.keys, { nonce: await client.nonce(), url: made.body.finalize, kid: client.kid }, { csr }),
      ),
    ]);
    expect(replies.map(({ status, headers }) => [status, headers['location']])).toEqual([
      [200, order],
      [200, order],
    ]);
    const { body } = await client.until(order, 'processing');
    const again = await client.post(made.body.finalize, { csr });
    expect(again.body).toMatchObject({ status: 'valid', certificate: body.certificate });
    expect(typeOf(await client.post(made.body.finalize, { csr: await csrFor('twice.example.test') }))).toBe('orderNotReady');
    const issued = (await appliance.list(ca, 'certificates')) as { names: string[]; via: string }[];
    expect(issued.filter(({ names }) => names.includes('DNS:twice.example.test')).map(({ via }) => via)).toEqual(['acme-account']);
    expect(
      appliance.records('acme').findLast(({ 'request-parameters': { operation } }) => operation === 'issue')?.['request-parameters'],
    ).toMatchObject({ names: ['DNS:twice.example.test'] });
  });

  test('that asks for an address proves it, and gets it', async () => {
    const client = await account();
    const { leaf } = await enrol(client, ['127.0.0.1']);
    expect(leaf.subjectAltName).toBe('IP Address:127.0.0.1');
  });
});

describe('a request of finalize', () => {
  test.each([
    ['without a name of the order', ['f.example.test'], '', 'without DNS:g.example.test'],
    ['with another name', ['f.example.test', 'g.example.test', 'h.example.test'], '', 'with DNS:h.example.test'],
    ['with another common name', ['f.example.test', 'g.example.test'], 'CN=i.example.test', 'with DNS:i.example.test'],
    ['with a group in its subject', ['f.example.test', 'g.example.test'], 'CN=f.example.test,O=system:masters', '"O=system:masters"'],
    ['with a unit and a mail address', ['f.example.test', 'g.example.test'], 'OU=admins,E=a@example.test', 'nobody has proved'],
  ])('%s is refused', async (_title, names, subject, text) => {
    const client = await account();
    const made = await client.order('f.example.test', 'g.example.test');
    await prove(client, made);
    const refused = await client.post(made.body.finalize, { csr: await csrOf(await makeKeys('P-256'), names, subject) });
    expect([typeOf(refused), refused.status]).toEqual(['badCSR', 400]);
    expect(refused.body.detail).toContain(text);
  });

  test('with the names as common names alone beside them is taken; after "notAfter" of the order nothing is issued', async () => {
    const client = await account();
    const soon = appliance.clock.now().add({ seconds: 30 }).toString();
    const [made, late] = [
      await client.order('f.example.test'),
      await client.post(`${client.base}/new-order`, { identifiers: [{ type: 'dns', value: 'f.example.test' }], notAfter: soon }),
    ];
    for (const order of [made, late]) await prove(client, order);
    appliance.clock.advance(31);
    const csr = await csrOf(await makeKeys('P-256'), ['f.example.test'], 'CN=F.example.test');
    const ends = [];
    for (const { body, headers } of [made, late]) {
      await client.post(body.finalize, { csr });
      ends.push((await client.until(headers['location'] ?? '', 'processing')).body);
    }
    expect(ends).toMatchObject([{ status: 'valid' }, { status: 'invalid', error: { detail: expect.stringContaining('has passed') } }]);
  });

  test('before the names are proved is refused', async () => {
    const client = await account();
    const made = await client.order('f.example.test');
    const refused = await client.post(made.body.finalize, { csr: await csrFor('f.example.test') });
    expect([typeOf(refused), refused.status]).toEqual(['orderNotReady', 403]);
  });

  test('with the key of the account is refused', async () => {
    const keys = await makeKeys('P-256');
    const own = makeAccountKeys();
    const privateKey = createPrivateKey(keys.pem);
    const { d: _d, ...jwk } = privateKey.export({ format: 'jwk' });
    const client = appliance.client(ca, { ...own, privateKey, jwk: jwk as Record<string, string> });
    await client.register();
    const made = await client.order('k.example.test');
    await prove(client, made);
    expect((await client.post(made.body.finalize, { csr: await csrOf(keys, ['k.example.test']) })).body.detail).toContain(
      'is that of the account',
    );
  });
});

describe('a proof', () => {
  test('by dns-01 is a TXT record with the digest', async () => {
    const client = await account();
    const made = await client.order('d.example.test');
    const { token } = await challengeOf(client, made.body.authorizations[0], 'dns-01');
    const { createHash } = await import('node:crypto');
    appliance.dns.texts.set('_acme-challenge.d.example.test', [
      'other',
      createHash('sha256').update(client.keyAuthorization(token)).digest('base64url'),
    ]);
    expect(await attempt(client, made, 'dns-01')).toMatchObject({ status: 'valid' });
  });

  test('by dns-01 with the digest of another account fails', async () => {
    const client = await account();
    const made = await client.order('e.example.test');
    const { token } = await challengeOf(client, made.body.authorizations[0], 'dns-01');
    const { createHash } = await import('node:crypto');
    appliance.dns.texts.set('_acme-challenge.e.example.test', [
      createHash('sha256')
        .update(`${token}.${thumbprint(makeAccountKeys())}`)
        .digest('base64url'),
    ]);
    expect(await attempt(client, made, 'dns-01')).toMatchObject({
      status: 'invalid',
      error: { detail: expect.stringContaining('No TXT record') },
    });
  });

  const shown = async (
    client: AcmeClient,
    name: string,
    token: string,
    names: readonly string[],
    isCritical = true,
  ): Promise<tls.Server> => {
    const { createHash } = await import('node:crypto');
    const digest = createHash('sha256').update(client.keyAuthorization(token)).digest();
    const identity = await makeIdentity({
      subject: `CN=${name}`,
      extensions: [
        new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value }) as const)),
        new x509.Extension('1.3.6.1.5.5.7.1.31', isCritical, Buffer.concat([Buffer.from([tag.octetString, 32]), digest])),
      ],
    });
    const server = tls.createServer({ key: identity.keys.pem, cert: identity.pem, ALPNProtocols: ['acme-tls/1'] });
    await new Promise<void>((resolve) => server.listen(appliance.tlsPort, '127.0.0.1', resolve));
    return server;
  };

  test.each([
    ['t.example.test', ['t.example.test'], true, 'valid'],
    ['127.0.0.1', ['127.0.0.1'], true, 'valid'],
    ['u.example.test', ['u.example.test', 'v.example.test'], true, 'invalid'],
    ['w.example.test', ['x.example.test'], true, 'invalid'],
    ['y.example.test', ['y.example.test'], false, 'invalid'],
  ])('by tls-alpn-01 of %s with a certificate for %s, critical %s, is %s', async (name, names, isCritical, status) => {
    const client = await account();
    const made = await client.order(name);
    const { token } = await challengeOf(client, made.body.authorizations[0], 'tls-alpn-01');
    const server = await shown(client, name, token, names, isCritical);
    try {
      expect(await attempt(client, made, 'tls-alpn-01')).toMatchObject({ status });
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe('a key of the administrator', () => {
  const closed = { ...openAcme, acme: { enabled: true } };
  const make = async (name: string, fields: object = {}): Promise<{ id: string; key: string }> => {
    const { status, body } = await appliance.act(name, 'make-eab-key', fields);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body;
  };
  const binding = (client: AcmeClient, key: { id: string; key: string }): object => ({
    externalAccountBinding: bindExternally(client.keys, { ...key, url: `${client.base}/new-account` }),
  });

  test('is needed unless the CA says otherwise, opens one account, and is shown once', async () => {
    const name = await appliance.makeCa(closed);
    const key = await make(name);
    const client = appliance.client(name);
    expect(typeOf(await client.register({}))).toBe('externalAccountRequired');
    client.kid = undefined;
    expect((await client.register(binding(client, key))).status).toBe(201);
    const admitted = appliance.admitted.length;
    const other = appliance.client(name);
    const refused = await other.register(binding(other, key));
    expect([typeOf(refused), refused.body.detail]).toEqual(['unauthorized', expect.stringContaining('used already')]);
    // It is no credential any longer: the tenant does not pay for it.
    expect(appliance.admitted).toHaveLength(admitted);
    expect(await appliance.list(name, 'eab-keys')).toMatchObject([{ id: key.id, names: [], uses: 1, 'uses-left': 0 }]);
    expect(JSON.stringify([await appliance.list(name, 'eab-keys'), appliance.records('acme')])).not.toContain(key.key);
  });

  test('with names asks for no proof, and gives no other names', async () => {
    const name = await appliance.makeCa(closed);
    const client = appliance.client(name);
    await client.register(binding(client, await make(name, { names: ['bound.example.test'] })));
    const made = await client.order('bound.example.test');
    expect(made.body.status).toBe('ready');
    await client.post(made.body.finalize, { csr: await csrFor('bound.example.test') });
    expect((await client.until(made.headers['location'] ?? '', 'processing')).body.status).toBe('valid');
    const refused = await client.order('bound.example.test', 'free.example.test');
    expect([typeOf(refused), refused.body.subproblems]).toMatchObject([
      'rejectedIdentifier',
      [{ identifier: { value: 'free.example.test' } }],
    ]);
  });

  test('that was revoked ends its accounts: they do nothing, and no host is asked for them', async () => {
    const name = await appliance.makeCa(closed);
    const [key, other] = [await make(name), await make(name)];
    const [client, owner] = [appliance.client(name), appliance.client(name)];
    await client.register(binding(client, key));
    await owner.register(binding(owner, other));
    await prove(client, await client.order('r.example.test'));
    const ready = await client.order('r.example.test');
    await prove(client, ready);
    const pending = await client.order('r.example.test');
    const challenge = await challengeOf(client, pending.body.authorizations[0], 'http-01');
    const { leaf } = await enrol(owner, ['r.example.test']);
    expect((await appliance.act(name, 'revoke-eab-key', { id: key.id })).status).toBe(200);
    const [visits, fresh, url] = [appliance.visits.length, makeAccountKeys(), `${client.base}/key-change`];
    const admitted = appliance.admitted.length;
    const replies = [
      await client.order('r.example.test'),
      await client.post(challenge.url, {}),
      await client.post(ready.body.finalize, { csr: await csrFor('r.example.test') }),
      await client.post(client.kid ?? '', { contact: ['mailto:new@example.test'] }),
      await client.post(url, signJws(fresh, { url, jwk: fresh.jwk }, { account: client.kid, oldKey: client.keys.jwk })),
      await client.post(`${client.base}/revoke-cert`, { certificate: leaf.raw.toString('base64url') }),
      await appliance.client(name, client.keys).register({}),
    ];
    expect(replies.map((one) => [typeOf(one), one.body.detail])).toEqual(
      replies.map(() => ['unauthorized', expect.stringContaining('was revoked')]),
    );
    expect([appliance.visits.length, appliance.admitted.length]).toEqual([visits, admitted]);
    expect((await appliance.list(name, 'certificates')) as unknown[]).toMatchObject([{ status: 'valid' }]);
  });

  test('is not guessed: after ten wrong ones in a minute from an address further wrong ones are not looked at, and a right one passes', async () => {
    const name = await appliance.makeCa(closed);
    const key = await make(name, { uses: 5 });
    const types: string[] = [];
    for (let round = 0; round < 12; round++) {
      const client = appliance.client(name);
      types.push(typeOf(await client.register(binding(client, { ...key, key: encode(Buffer.alloc(32, round)) }))));
    }
    expect(new Set(types.slice(0, 9))).toEqual(new Set(['unauthorized']));
    expect(types.at(-1)).toBe('rateLimited');
    const right = appliance.client(name);
    expect((await right.register(binding(right, key))).status).toBe(201);
  });

  test('for names outside the identity policy is not made', async () => {
    const name = await appliance.makeCa(closed);
    expect((await appliance.act(name, 'make-eab-key', { names: ['a.example.com'] })).body.code).toBe('invalid-value');
  });
});

describe('a certificate', () => {
  const revoke = (client: AcmeClient, leaf: X509Certificate, more: object = {}): Promise<AcmeReply> =>
    client.post(`${client.base}/revoke-cert`, { certificate: leaf.raw.toString('base64url'), ...more });

  test('is revoked by its account, once, with a reason that servers give', async () => {
    const client = await account();
    const { leaf } = await enrol(client, ['rev1.example.test']);
    expect(typeOf(await revoke(client, leaf, { reason: 6 }))).toBe('badRevocationReason');
    expect((await revoke(client, leaf, { reason: 4 })).status).toBe(200);
    expect(typeOf(await revoke(client, leaf))).toBe('alreadyRevoked');
    const [record] = ((await appliance.list(ca, 'certificates')) as { serial: string; revoked?: object }[]).filter(
      ({ serial }) => serial === leaf.serialNumber.toLowerCase(),
    );
    expect(record).toMatchObject({ status: 'revoked', 'revocation-reason': 'superseded' });
  });

  test('is revoked by an account that has proved its names, and by no other', async () => {
    const { leaf } = await enrol(await account(), ['rev2.example.test', 'rev3.example.test']);
    const other = await account();
    await prove(other, await other.order('rev2.example.test'));
    expect(typeOf(await revoke(other, leaf))).toBe('unauthorized');
    await prove(other, await other.order('rev3.example.test'));
    expect((await revoke(other, leaf)).status).toBe(200);
  });

  test('is revoked by its own key', async () => {
    const keys = await makeKeys('P-256');
    const { leaf } = await enrol(await account(), ['rev4.example.test'], keys);
    const privateKey = createPrivateKey(keys.pem);
    const { d: _d, ...jwk } = privateKey.export({ format: 'jwk' });
    expect(typeOf(await revoke(appliance.client(ca), leaf))).toBe('unauthorized');
    expect((await revoke(appliance.client(ca, { privateKey, jwk: jwk as Record<string, string>, alg: 'ES256' }), leaf)).status).toBe(200);
  });

  test('has renewal information, and an order replaces it once', async () => {
    const client = await account();
    const { leaf } = await enrol(client, ['ari.example.test']);
    const key = new Reader(extensionsOf(leaf.raw).get('2.5.29.35')?.value ?? new Uint8Array()).enter(tag.sequence).next().content;
    const id = `${encode(Buffer.from(key))}.${encode(Buffer.from(leaf.serialNumber, 'hex'))}`;
    const { body, headers } = await client.fetch(`${client.base}/renewal-info/${id}`);
    const [start, end] = [Date.parse(body.suggestedWindow.start), Date.parse(body.suggestedWindow.end)];
    expect([
      start > leaf.validFromDate.getTime(),
      end > start,
      end < leaf.validToDate.getTime(),
      Number(headers['retry-after']) > 0,
    ]).toEqual([true, true, true, true]);
    const other = await account();
    const replaces = { identifiers: [{ type: 'dns', value: 'ari.example.test' }], replaces: id };
    expect(typeOf(await other.post(`${other.base}/new-order`, replaces))).toBe('malformed');
    await enrol(client, ['ari.example.test'], undefined, { replaces: id });
    const again = await client.post(`${client.base}/new-order`, replaces);
    expect([again.status, typeOf(again)]).toEqual([409, 'alreadyReplaced']);
    await revoke(client, leaf);
    expect(Date.parse((await client.fetch(`${client.base}/renewal-info/${id}`)).body.suggestedWindow.end)).toBeLessThan(
      appliance.clock.now().epochMilliseconds,
    );
    expect((await client.fetch(`${client.base}/renewal-info/${encode('other')}.${id.split('.')[1]}`)).status).toBe(404);
  });

  test('is renewed by ACME alone: by SCEP its names would never be proved again', async () => {
    const name = await appliance.makeCa({ ...openAcme, scep: openScep.scep });
    const keys = await makeKeys('RSA-2048');
    const { leaf } = await enrol(await account(name), ['once.example.test'], keys, { profile: 'server-and-client' });
    const device = holding({ ...(await makeDevice()), keys, privateKey: createPrivateKey(keys.pem) }, leaf);
    const csr = await makeCsr({ keys, subject: '', names: [{ type: 'dns', value: 'once.example.test' }] });
    const renewed = await ask(appliance, name, device, csr, { messageType: '17', transactionId: newTransaction() });
    expect(renewed).toMatchObject({ pkiStatus: '2', failText: expect.stringContaining('renew the certificate by it') });
  });

  test('is not shown to another account', async () => {
    const { url, order } = await enrol(await account(), ['own.example.test']);
    const other = await account();
    expect([(await other.post(url, '')).status, (await other.post(order, '')).status]).toEqual([404, 403]);
  });
});

describe('an account', () => {
  test('is found by its key, changed, and deactivated; its orders end with it', async () => {
    const client = await account(ca, { contact: ['mailto:old@example.test'] });
    const again = appliance.client(ca, client.keys);
    const found = await again.register({ onlyReturnExisting: true });
    expect([found.status, again.kid]).toEqual([200, client.kid]);
    expect(typeOf(await appliance.client(ca).register({ onlyReturnExisting: true }))).toBe('accountDoesNotExist');
    expect((await client.post(client.kid ?? '', { contact: ['mailto:new@example.test'] })).body.contact).toEqual([
      'mailto:new@example.test',
    ]);
    const made = await client.order('dead.example.test');
    await prove(client, made);
    expect((await client.post(`${client.kid}/orders`, '')).body.orders).toEqual([made.headers['location']]);
    expect((await client.post(client.kid ?? '', { status: 'deactivated' })).body.status).toBe('deactivated');
    expect(typeOf(await client.post(made.body.finalize, { csr: await csrFor('dead.example.test') }))).toBe('unauthorized');
    again.kid = undefined;
    expect(typeOf(await again.register({}))).toBe('unauthorized');
  });

  test('changes its key, and the old one is nothing any longer', async () => {
    const client = await account();
    const [kid, old, fresh] = [client.kid ?? '', client.keys, makeAccountKeys('RS256')];
    const url = `${client.base}/key-change`;
    const inner = (keys = fresh, more: object = {}) => signJws(keys, { url, jwk: keys.jwk }, { account: kid, oldKey: old.jwk, ...more });
    const taken = await account();
    const conflict = await client.post(url, inner(taken.keys));
    expect([conflict.status, conflict.headers['location']]).toEqual([409, taken.kid]);
    expect(typeOf(await client.post(url, inner(fresh, { oldKey: taken.keys.jwk })))).toBe('malformed');
    expect(typeOf(await client.post(url, inner(fresh, { account: taken.kid })))).toBe('malformed');
    expect((await client.post(url, inner())).status).toBe(200);
    expect(typeOf(await client.order('k.example.test'))).toBe('badSignatureAlgorithm');
    client.keys = fresh;
    expect((await client.order('k.example.test')).status).toBe(201);
  });

  test('deactivates an authorization, with which the order ends', async () => {
    const client = await account();
    const made = await client.order('gone.example.test');
    await prove(client, made);
    expect((await client.post(made.body.authorizations[0], { status: 'deactivated' })).body.status).toBe('deactivated');
    expect((await client.post(made.headers['location'] ?? '', '')).body.status).toBe('invalid');
  });
});
