// Keys of issuers: fetched once for all, dropped when they leave the set, used for a day without the issuer; one unfit key spoils no other.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { IssuerKeys } from '../../../../plugins/jwt/keys/issuer-keys.ts';
import { type CertificateOptions, makeIdentity, x509 } from '../../ca/pki.ts';
import { base, startIssuer, startJwtHarness, state, type IssuerServer, type JwtHarness } from '../harness.ts';
import { jwks, makeSigner, makeToken, type Json, type Signer } from '../tokens.ts';

const at = temporaryDirectory();
let harness: JwtHarness;
let issuer: IssuerServer;
let count = 0;
let name: string;

beforeAll(async () => {
  harness = await startJwtHarness(at('appliance'));
  mkdirSync(at('issuer'));
  issuer = await startIssuer(at('issuer'));
});
afterAll(async () => {
  await issuer.close();
  await harness.close();
});

/** An issuer and a role of its own for each test. */
beforeEach(async () => {
  issuer.signer = makeSigner('ES256', 'first');
  issuer.keys = undefined;
  issuer.respond = undefined;
  issuer.asked.length = 0;
  name = `issuer-${++count}`;
  await set();
  await harness.setRole(name, name, { bindings: [{ claim: 'sub', value: 'w' }], use: 'many' });
});

afterEach(() => harness.send('DELETE', `${base}/${name}`));

const set = (fields: Json = {}) =>
  harness.setIssuer(name, { issuer: issuer.origin, 'use-root-ca-certs': false, 'ca-certs': issuer.ca, ...fields });
const claims = () => ({ iss: issuer.origin, aud: 'keystore', sub: 'w', iat: harness.now(), exp: harness.now() + 600 });
const login = async (signer: Signer = issuer.signer) => (await harness.login(name, makeToken(signer, claims()))).status;
const fetches = () => issuer.asked.filter((path) => path === '/jwks').length;
const testIssuer = async () => (await harness.send('POST', `${state}/${name}/test`, {})).body;
const refresh = () => harness.runJob('jwt: fetch keys again');

test('they are found by the metadata, and fetched once for many logins', async () => {
  expect([await login(), await login(), await login()]).toEqual([200, 200, 200]);
  expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/jwks']);
});

test('twenty logins at once under an unknown key have them fetched once, and twenty a moment later not at all', async () => {
  expect(await login()).toBe(200);
  harness.clock.advance(301);
  expect(new Set(await Promise.all(Array.from({ length: 20 }, () => login(makeSigner('ES256', 'unknown')))))).toEqual(new Set([401]));
  expect(fetches()).toBe(2);
  await Promise.all(Array.from({ length: 20 }, () => login(makeSigner('ES256', `unknown-${Math.random()}`))));
  expect(fetches()).toBe(2);
});

test('a new key logs in at once, as long as nobody had unknown keys fetched within five minutes, and then after these', async () => {
  expect(await login()).toBe(200);
  harness.clock.advance(301);
  issuer.signer = makeSigner('ES256', 'second');
  expect(await login()).toBe(200);
  issuer.signer = makeSigner('RS256', 'third');
  expect(await login()).toBe(401);
  harness.clock.advance(301);
  expect(await login()).toBe(200);
});

test('a key that has left the set logs in until the next fetch in the background, and never after it', async () => {
  const { signer } = issuer;
  expect(await login(signer)).toBe(200);
  issuer.signer = makeSigner('ES256', 'second');
  harness.clock.advance(890);
  await refresh();
  expect([fetches(), await login(signer)]).toEqual([1, 200]);
  harness.clock.advance(20);
  await refresh();
  expect([fetches(), await login(signer)]).toEqual([2, 401]);
  expect(await login()).toBe(200);
});

test('while the issuer is away they are used for a day and not longer; when it is back, it goes on', async () => {
  expect(await login()).toBe(200);
  issuer.respond = (_, response) => {
    response.writeHead(500).end();
    return true;
  };
  for (let hours = 1; hours <= 23; hours++) {
    harness.clock.advance(3_600);
    await refresh();
  }
  expect(await login()).toBe(200);
  harness.clock.advance(3_601);
  const late = await harness.login(name, makeToken(issuer.signer, claims()));
  expect([late.status, late.body.code]).toEqual([503, 'issuer-unavailable']);
  harness.clock.advance(7 * 86_400);
  expect(await login()).toBe(503);
  const shown = (await harness.send('GET', `${state}/${name}`)).body as Json;
  expect(JSON.stringify(shown['notices'])).toContain('answered 500');
  issuer.respond = undefined;
  harness.clock.advance(31);
  expect(await login()).toBe(200);
});

test('another source of keys drops those of before at once, with the tokens of their logins', async () => {
  const { body } = await harness.login(name, makeToken(issuer.signer, claims()));
  const works = async () => (await harness.send('POST', '/v1/state/keystore/token/info', {}, body.token)).status;
  expect(await works()).toBe(200);
  const another = makeSigner('ES256', 'first');
  await set({ 'static-keys': jwks(another) });
  expect([await works(), await login(), await login(another)]).toEqual([401, 401, 200]);
});

test('the address of a key set and the keys themselves are sources, too, and exactly one is named', async () => {
  await set({ 'jwks-url': `${issuer.origin}/jwks` });
  expect([await login(), issuer.asked]).toEqual([200, ['/jwks']]);
  const pem = issuer.signer.publicKey.export({ format: 'pem', type: 'spki' });
  await set({ 'static-keys': pem });
  expect(await login({ ...issuer.signer, kid: 'any-kid' })).toBe(200);
  const both = { issuer: issuer.origin, 'jwks-url': `${issuer.origin}/jwks`, 'static-keys': pem };
  expect((await harness.send('PUT', `${base}/${name}`, both)).status).toBe(400);
  const none = { kind: 'kubernetes', issuer: issuer.origin };
  expect(JSON.stringify((await harness.send('POST', base, { name: 'none', ...none })).body)).toContain('kubectl get --raw');
});

describe('unfit keys are left out, named by test, and the right one beside them logs in', () => {
  const weak = makeSigner('RS256', 'weak', { bits: 1_024 });
  const ed = makeSigner('EdDSA', 'ed');
  const unfit: Readonly<Record<string, unknown>> = {
    null: null,
    list: [],
    text: 'key',
    'a key of a kind to come': { kty: 'AKP', alg: 'ML-DSA-65', kid: 'x', pub: 'AAAA' },
    secp256k1: { kty: 'EC', crv: 'secp256k1', kid: 'x', x: 'AAAA', y: 'AAAA' },
    'a point off its curve': { kty: 'EC', crv: 'P-256', kid: 'x', x: 'A'.repeat(43), y: 'A'.repeat(43) },
    secret: { kty: 'oct', kid: 'x', k: 'AAAA' },
    '1,024 bits': weak.jwk,
    '16,384 bits': {
      kty: 'RSA',
      kid: 'x',
      e: 'AQAB',
      n: Buffer.concat([Buffer.of(0xc1), randomBytes(2_046), Buffer.of(1)]).toString('base64url'),
    },
    'a certificate without the key itself': {
      kty: 'RSA',
      kid: 'x',
      alg: 'RS256',
      x5c: ['MIIB'],
      x5t: 'AAAA',
      x5u: 'http://169.254.169.254/',
    },
    'an exponent of 1': { ...makeSigner('RS256', 'one').jwk, e: 'AQ' },
    'for encryption': { ...makeSigner('RS256', 'enc').jwk, use: 'enc' },
    'for other operations': { ...makeSigner('ES256', 'ops').jwk, key_ops: ['sign'] },
    'a private key': { ...ed.privateKey.export({ format: 'jwk' }), kid: 'ed', alg: 'EdDSA' },
    'an empty kid': { ...makeSigner('ES256', 'x').jwk, kid: '' },
    'a number as kid': { ...makeSigner('ES256', 'x').jwk, kid: 7 },
  };
  test.each(Object.entries(unfit))('%s', async (_, key) => {
    issuer.keys = JSON.stringify({ keys: [key, issuer.signer.jwk, key] });
    expect(await login()).toBe(200);
    const report = await testIssuer();
    expect(report).toMatchObject({ usable: true, keys: [{ kid: 'first' }] });
    expect(report.skipped).toHaveLength(2);
  });
});

test.each([
  ['is empty', [], 'The key set is empty'],
  ['has unfit keys alone', [null], 'Every key of the set is skipped'],
  ['has keys for other algorithms', [makeSigner('EdDSA', 'ed').jwk], 'add the one that its tokens name to "algorithms"'],
])('the test of an issuer tells of a set that %s', async (_, keys, said) => {
  issuer.keys = JSON.stringify({ keys });
  const { usable, findings } = await testIssuer();
  expect([usable, findings[0]]).toEqual([false, { level: 'error', message: expect.stringContaining(said) }]);
});

test('whatever type the answer says that it has, the key set in it counts', async () => {
  issuer.respond = (path, response) => {
    if (path !== '/jwks') return false;
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-16' }).end(jwks(issuer.signer));
    return true;
  };
  expect(await login()).toBe(200);
});

test('keys of one kid are all tried, and each under its own algorithm alone', async () => {
  const [one, two, rsa, third] = [
    makeSigner('ES256', 'twin'),
    makeSigner('ES256', 'twin'),
    makeSigner('RS256', 'twin'),
    makeSigner('ES256', 'twin'),
  ];
  await set({ algorithms: ['ES256', 'RS256', 'PS256'] });
  issuer.keys = jwks(one, rsa, two);
  expect([await login(one), await login(two), await login(rsa), await login(third)]).toEqual([200, 200, 200, 401]);
  // The key is right, and its set has it for another algorithm.
  expect(await login({ ...rsa, alg: 'PS256' })).toBe(401);
  expect(await login({ ...rsa, kid: 'another' })).toBe(401);
});

describe('an issuer whose certificate', () => {
  const day = 86_400_000;
  const localhost = new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }]);
  const elsewhere = new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'elsewhere.example' }]);
  type Options = CertificateOptions & { readonly isForeign?: boolean };
  test.each<[what: string, options: Options, code: string | undefined]>([
    [
      'has ended',
      { notBefore: new Date(Date.now() - 9 * day), notAfter: new Date(Date.now() - day), extensions: [localhost] },
      'CERT_HAS_EXPIRED',
    ],
    ['is for another name', { extensions: [elsewhere] }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['is of another CA', { extensions: [localhost], isForeign: true }, 'CERT_SIGNATURE_FAILURE'],
    ['is right', { extensions: [localhost] }, undefined],
  ])('%s', async (_, { isForeign, ...options }, code) => {
    const [root, twin] = [await makeIdentity({ subject: 'CN=Root', ca: true }), await makeIdentity({ subject: 'CN=Root', ca: true })];
    const { keys, pem } = await makeIdentity({ subject: 'CN=localhost', issuer: isForeign === true ? twin : root, ...options });
    const other = await startIssuer(at('issuer'), { key: keys.pem, cert: pem, ca: root.pem });
    try {
      await set({ issuer: other.origin, 'ca-certs': other.ca });
      const { status } = await harness.login(name, makeToken(other.signer, { ...claims(), iss: other.origin }));
      const { usable, findings } = await testIssuer();
      // Its clock is that of the machine, and not that of the harness, of which a warning speaks.
      const errors = (findings as { level: string; message: string }[]).filter(({ level }) => level === 'error');
      const said = errors.map(({ message }) => /\(tls, (\w+)\)/.exec(message)?.[1]);
      const isRight = code === undefined;
      expect([status, usable, said, other.asked.length > 0]).toEqual([isRight ? 200 : 503, isRight, isRight ? [] : [code], isRight]);
    } finally {
      await other.close();
    }
  });
});

describe('an answer that is no key set is told, and nothing is taken from it', () => {
  const answers: Readonly<Record<string, (response: ServerResponse, set: string) => void>> = {
    html: (response) => void response.end('<html>'),
    'a byte order mark': (response, set) => void response.end(`\u{feff}${set}`),
    'keys twice': (response, set) => void response.end(`{"keys":[],${set.slice(1)}`),
    'a list': (response) => void response.end('[]'),
    'no keys': (response) => void response.end('{}'),
    '101 keys': (response) => void response.end(JSON.stringify({ keys: Array.from({ length: 101 }, () => null) })),
    '2 MiB': (response, set) => void response.end(set + ' '.repeat(2 << 20)),
    '5,000 levels': (response) => void response.end(`{"keys":${'['.repeat(5_000)}${']'.repeat(5_000)}}`),
    'a redirect': (response) => void response.writeHead(302, { location: `${issuer.origin}/other` }).end(),
    'a redirect to plain HTTP': (response) =>
      void response.writeHead(307, { location: `${issuer.origin.replace('https', 'http')}/other` }).end(),
    'a redirect to the metadata of a cloud': (response, set) =>
      void response.writeHead(301, { location: 'http://169.254.169.254/latest/meta-data/' }).end(set),
    'a set that is packed, though nobody asked for that': (response, set) =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(set)),
    '64 MiB in 64 KiB': (response, set) =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(set + ' '.repeat(64 << 20))),
    'a fault': (response) => void response.writeHead(503).end(),
    'an end without an answer': (response) => void response.destroy(),
  };
  test.each(Object.entries(answers))('%s', async (what, answer) => {
    issuer.respond = (path, response) => {
      if (path !== '/jwks') return false;
      answer(response, jwks(issuer.signer));
      return true;
    };
    expect(await login()).toBe(503);
    const report = await testIssuer();
    expect(report).toMatchObject({ usable: false, findings: [{ level: 'error', message: expect.stringMatching(/\w.*\.$/) }], keys: [] });
    expect(issuer.asked).not.toContain('/other');
    expect(report.findings[0].message.includes('redirects are not followed')).toBe(what.startsWith('a redirect'));
  });

  test('octets that come one by one, until the time of a call is over', async () => {
    const began = performance.now();
    issuer.respond = (path, response) => {
      if (path !== '/jwks') return false;
      const set = jwks(issuer.signer);
      let sent = 0;
      const drip = setInterval(() => void response.write(set[sent++ % set.length] ?? ''), 50);
      response.writeHead(200).on('close', () => clearInterval(drip));
      return true;
    };
    expect(await login()).toBe(503);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect((await testIssuer()).findings).toEqual([{ level: 'error', message: expect.stringContaining('(timeout)') }]);
    issuer.respond = undefined;
    harness.clock.advance(31);
    expect(await login()).toBe(200);
  });

  test.each([
    ['another issuer', (origin: string) => ({ issuer: `${origin}/other`, jwks_uri: `${origin}/jwks` })],
    ['keys at another host', (origin: string) => ({ issuer: origin, jwks_uri: 'https://elsewhere.example/jwks' })],
    ['keys without TLS', (origin: string) => ({ issuer: origin, jwks_uri: origin.replace('https', 'http') })],
  ])('metadata with %s', async (_, metadata) => {
    issuer.respond = (path, response) => {
      if (!path.startsWith('/.well-known')) return false;
      response.end(JSON.stringify(metadata(issuer.origin)));
      return true;
    };
    expect(await login()).toBe(503);
    expect(await testIssuer()).toMatchObject({ usable: false });
    expect(fetches()).toBe(0);
  });
});

test('places that the configuration forbids are not asked', async () => {
  const strict = await startJwtHarness(at('strict'), { providerHosts: { deny: ['127.0.0.0/8', '::1'] } });
  await strict.setIssuer('denied', { issuer: issuer.origin, 'use-root-ca-certs': false, 'ca-certs': issuer.ca });
  await strict.setRole('denied', 'denied', { bindings: [{ claim: 'sub', value: 'w' }] });
  issuer.asked.length = 0;
  expect((await strict.login('denied', makeToken(issuer.signer, claims()))).status).toBe(503);
  expect(issuer.asked).toEqual([]);
  await strict.close();
});

test('a role that is deleted while the keys are fetched logs nobody in, and one that is changed is judged as it is then', async () => {
  const held = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  issuer.respond = (path, response) => {
    if (path !== '/jwks') return false;
    asked.resolve();
    void held.promise.then(() => response.end(jwks(issuer.signer)));
    return true;
  };
  await harness.setRole(name, `${name}-changed`, { bindings: [{ claim: 'sub', value: 'w' }], use: 'many' });
  const token = makeToken(issuer.signer, claims());
  const logins = [harness.login(name, token), harness.login(`${name}-changed`, token)];
  await asked.promise;
  await harness.send('DELETE', `${base}/${name}/roles/${name}`);
  await harness.setRole(name, `${name}-changed`, { bindings: [{ claim: 'sub', value: 'other' }], use: 'many' });
  held.resolve();
  expect((await Promise.all(logins)).map(({ status }) => status)).toEqual([401, 401]);
});

test('two processes that need the keys at the same time ask for them once, and both have them', async () => {
  const { appliance, clock } = harness;
  const store = appliance.store.prefixed('jwt');
  let [calls, release] = [0, (): void => undefined];
  const held = new Promise<void>((resolve) => (release = resolve));
  const fetch = async () => {
    calls++;
    await held;
    return { keys: [{ kty: 'EC', ...issuer.signer.jwk }] as never, skipped: [] };
  };
  const located = {
    tenantId: String((await harness.send('GET', '/v1/state/tenants/system')).body.uuid),
    tenantName: 'system',
    issuer: 'shared',
    record: { keySource: 'a', algorithms: ['ES256'] } as never,
  };
  const [one, other] = [0, 0].map(() => new IssuerKeys({ store, clock, table: store.table('keys'), fetch })) as [IssuerKeys, IssuerKeys];
  const first = one.keysFor(located, 'first');
  await expect.poll(() => calls).toBe(1);
  const second = other.keysFor(located, 'first');
  await new Promise((resolve) => setImmediate(resolve));
  release();
  expect((await Promise.all([first, second])).map((keys) => keys.map(({ kid }) => kid))).toEqual([['first'], ['first']]);
  expect(calls).toBe(1);
  await store.write((transaction) => transaction.delete(store.table('keys'), [located.tenantId, located.issuer]));
});

describe('with a second issuer of the same iss', () => {
  const signer = makeSigner('ES256', 'local');
  const away = (): void => {
    issuer.respond = (_, response) => {
      response.writeHead(500).end();
      return true;
    };
  };
  beforeEach(async () => {
    // The first by its name is the one that may be away.
    await harness.setIssuer('issuer-z', { issuer: issuer.origin, 'static-keys': jwks(signer) });
    await harness.setRole('issuer-z', name, { bindings: [{ claim: 'sub', value: 'w' }], use: 'many' });
  });
  afterEach(() => harness.send('DELETE', `${base}/issuer-z`));

  test('one that is away keeps no workload of the other out', async () => {
    away();
    expect([await login(signer), issuer.asked]).toEqual([200, []]);
    expect([await login(), await login(signer)]).toEqual([503, 200]);
  });

  test('a refusal of a signed token is told, and kept for explain, while another issuer without the role is away', async () => {
    away();
    await harness.setRole('issuer-z', 'alone', { bindings: [{ claim: 'sub', value: 'other' }] });
    const { status, body } = await harness.login('alone', makeToken(signer, claims()));
    expect(status).toBe(401);
    expect(await harness.explain('issuer-z', { login: body['request-id'] })).toMatchObject({ check: 'bindings' });
  });
});

describe('callers without a token of the issuer do not tell roles', () => {
  const asUnknown = async (role: string, kid: string, more: Json = {}) => {
    const before = fetches();
    const { status } = await harness.login(role, makeToken(makeSigner('ES256', kid), claims()), more);
    return [status, fetches() - before];
  };

  test('by the time of a fetch: an unknown key has them fetched whatever the role is', async () => {
    expect(await login()).toBe(200);
    for (const role of [name, 'no-such-role', name, 'another']) {
      harness.clock.advance(301);
      expect([role, await asUnknown(role, 'unknown')]).toEqual([role, [401, 1]]);
      expect([role, await asUnknown(role, 'unknown')]).toEqual([role, [401, 0]]);
    }
    harness.clock.advance(301);
    expect(await asUnknown('no-such-role', 'unknown', { tenant: 'nobody' })).toEqual([401, 0]);
  });

  test('by the refusal for an issuer that is away', async () => {
    issuer.respond = (_, response) => {
      response.writeHead(500).end();
      return true;
    };
    expect(await asUnknown(name, 'first')).toEqual([503, 0]);
    expect(await asUnknown('no-such-role', 'first')).toEqual([503, 0]);
  });
});

test('the age of the keys is a gauge', async () => {
  expect(await login()).toBe(200);
  harness.clock.advance(60);
  const { body } = await harness.send('GET', '/v1/state/system/metrics');
  expect(String(body)).toMatch(new RegExp(`keystored_jwt_key_age_seconds\\{[^}]*issuer="${name}"[^}]*\\} 60\\b`));
});
