// Our own mistakes: allowed-values judged what a request said, and defaults that hang on other fields got past them, and so did other spellings of
// the same octets. Here: leaving fields out, and spelling them otherwise.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeCsr, makeKeys } from '../../plugins/ca/pki.ts';
import { formatPem } from '../../../core/base/texts/pem.ts';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;

beforeAll(async () => {
  victim = await startVictim();
});

test.each([
  ['/v1/config/keystore/transit-keys', 'custody', ['token'], { custody: 'token' }],
  ['/v1/config/keystore/tls/ca', 'cert-key-type', ['ed25519'], { 'cert-key-type': 'ed25519' }],
  ['/v1/config/tenants', 'policies', ['default'], { kind: 'application-owner', policies: ['default'] }],
])('%s: a field that is left out counts with its default', async (path, field, allowed, good) => {
  const name = `narrow-${field}`;
  await victim.makePolicy(name, [{ path: `${path}/**`, operations: { all: 'allow' }, 'allowed-values': { [field]: allowed } }]);
  const token = await victim.makeToken([name, 'default']);
  const { [field]: _left, ...without } = good as Record<string, unknown>;
  expect(await victim.verdict('POST', path, { name: 'silent', ...without }, { token })).toBe('403 policy-denied');
  expect(await victim.verdict('PUT', `${path}/silent`, without, { token })).toBe('403 policy-denied');
  expect(await victim.verdict('GET', `${path}/silent`)).toBe('404 not-found');
  expect(await victim.verdict('POST', path, { name: 'said', ...good }, { token })).toBe('201 done');
});

test('a PUT that creates is judged by the values that a creation may have, not by those of an update alone', async () => {
  const path = '/v1/config/keystore/transit-keys/**';
  await victim.makePolicy('creates-plain', [
    { path, operations: { create: 'allow' }, 'allowed-values': { exportable: [false], cipher: ['aes256-gcm96'] } },
  ]);
  await victim.makePolicy('updates', [{ path, operations: { update: 'allow' } }]);
  const token = await victim.makeToken(['creates-plain', 'updates']);
  const put = (body: object) => victim.verdict('PUT', '/v1/config/keystore/transit-keys/by-replacing', body, { token });
  expect(await put({ exportable: true })).toBe('403 policy-denied');
  expect(await put({ cipher: 'rsa-2048' })).toBe('403 policy-denied');
  expect(await put({})).toBe('201 done');
  expect(await put({ exportable: true })).toBe('204 done');
});

const keys = '/v1/state/keystore/transit-keys';
const approles = 'keystore/authentication/approles';
const create = '/v1/state/keystore/token/create';
let made = 0;

/** A token that may do this at a path, with these values alone. */
async function narrow(path: string, allowed: Record<string, unknown>, ...others: readonly string[]): Promise<string> {
  const name = `values-${(made += 1)}`;
  const besides = others.map((other) => ({ path: other, operations: { all: 'allow' } }));
  await victim.makePolicy(name, [{ path, operations: { all: 'allow' }, 'allowed-values': allowed }, ...besides]);
  return victim.makeToken([name, 'default']);
}

describe('an action', () => {
  beforeAll(async () => {
    const config = '/v1/config/keystore/transit-keys';
    await victim.request('POST', config, { name: 'open', exportable: true });
    await victim.request('POST', config, { name: 'rsa', cipher: 'rsa-2048' });
    await victim.request('POST', `/v1/config/${approles}`, { name: 'job', 'secret-id-ttl': '10d', 'secret-id-num-uses': 5 });
    await victim.request('POST', '/v1/config/keystore/tls/ca', { name: 'issuer', est: { ttl: '20d' } });
  });

  test.each([
    [`${keys}/open/export`, 'format', ['wrapped'], {}, undefined],
    [`${keys}/open/export`, 'version', [1], {}, { version: 1 }],
    [`${keys}/rsa/sign`, 'signature-algorithm', ['pss'], { text: '' }, { 'signature-algorithm': 'pss' }],
    [`${keys}/rsa/sign`, 'hash-algorithm', ['sha512'], { text: '' }, { 'hash-algorithm': 'sha512' }],
    [`${keys}/rsa/sign`, 'prehashed', [true], { text: '' }, undefined],
    [`${keys}/rsa/sign`, 'key-version', [1], { text: '' }, { 'key-version': 1 }],
    [`/v1/state/${approles}/job/generate-secret-id`, 'ttl', ['1h'], {}, { ttl: '1h' }],
    [`/v1/state/${approles}/job/generate-secret-id`, 'num-uses', [1], {}, { 'num-uses': 1 }],
    [`/v1/state/${approles}/job/generate-secret-id`, 'bound-cidrs', ['10.0.0.0/8'], {}, { 'bound-cidrs': ['10.0.0.0/8'] }],
    [create, 'ttl', ['1h'], {}, { ttl: '1h' }],
    [create, 'max-ttl', ['2h'], { ttl: '1h' }, { 'max-ttl': '2h' }],
    [create, 'policies', ['default'], {}, { policies: ['default'] }],
    [create, 'bound-cidrs', ['10.0.0.0/8'], {}, { 'bound-cidrs': ['10.0.0.0/8'] }],
  ] as const)('%s: leaving %s out is a value of it', async (path, field, allowed, body, good) => {
    const token = await narrow(path, { [field]: allowed });
    expect(await victim.verdict('POST', path, body, { token })).toBe('403 policy-denied');
    // Where no value would do, there is nothing more to try.
    const sent = good === undefined ? '200 done' : await victim.verdict('POST', path, { ...body, ...good }, { token });
    expect(sent).toBe('200 done');
  });

  test.each([
    [`${keys}/open/export`, 'format', ['clear'], {}],
    [`${keys}/open/export`, 'version', [null], {}],
    [`${keys}/rsa/sign`, 'prehashed', [false], { text: '' }],
    [`${keys}/rsa/sign`, 'signature-algorithm', ['pkcs1v15', 'pss'], { text: '' }],
    [`/v1/state/${approles}/job/generate-secret-id`, 'ttl', ['10d'], {}],
    [`/v1/state/${approles}/job/generate-secret-id`, 'num-uses', [5], {}],
    [create, 'ttl', ['1d'], {}],
    [create, 'max-ttl', ['32d'], {}],
    [create, 'bound-cidrs', ['0.0.0.0/0', '::/0'], {}],
    [create, 'bound-cidrs', ['0.0.0.0/0', '::/0'], { 'bound-cidrs': [] }],
  ] as const)('%s: what it means that %s is left out can be allowed: %j', async (path, field, allowed, body) => {
    const token = await narrow(path, { [field]: allowed });
    expect(await victim.verdict('POST', path, body, { token })).toBe('200 done');
  });

  test('sign and verify: what is left out is what it means for the version, as of a key for RSASSA-PSS', async () => {
    const parameters = { modulusLength: 2048, hashAlgorithm: 'sha512', mgf1HashAlgorithm: 'sha512', saltLength: 64 };
    const { privateKey } = generateKeyPairSync('rsa-pss', parameters as never) as unknown as { readonly privateKey: KeyObject };
    await victim.request('POST', '/v1/config/keystore/transit-keys', { name: 'pss', cipher: 'rsa-2048' });
    await victim.request('POST', `${keys}/pss/import`, { data: privateKey.export({ format: 'pem', type: 'pkcs8' }) });
    const { signature } = (await victim.request('POST', `${keys}/pss/sign`, { text: '' })).body;
    const bodies = { sign: { text: '' }, verify: { text: '', signature } };
    for (const [action, item] of Object.entries(bodies)) {
      const usual = await narrow(`${keys}/pss/${action}`, { 'signature-algorithm': ['pkcs1v15'], 'hash-algorithm': ['sha256'] });
      const own = await narrow(`${keys}/pss/${action}`, { 'signature-algorithm': ['pss'], 'hash-algorithm': ['sha512'] });
      for (const body of [item, { 'batch-input': [item] }]) {
        expect(await victim.verdict('POST', `${keys}/pss/${action}`, body, { token: usual })).toBe('403 policy-denied');
        expect(await victim.verdict('POST', `${keys}/pss/${action}`, body, { token: own })).toBe('200 done');
      }
    }
    const first = await narrow(`${keys}/pss/sign`, { 'signature-algorithm': ['pss'] });
    expect(await victim.verdict('POST', `${keys}/pss/sign`, { text: '', 'key-version': 1 }, { token: first })).toBe('403 policy-denied');
  });

  test('in a batch, and under another name of the action', async () => {
    const signs = await narrow(`${keys}/rsa/sign`, { 'signature-algorithm': ['pss'] });
    const items = [{ text: '', 'signature-algorithm': 'pss' }, { text: '' }];
    for (const action of ['sign', 'sign-batch']) {
      expect(await victim.verdict('POST', `${keys}/rsa/${action}`, { 'batch-input': items }, { token: signs })).toBe('403 policy-denied');
      expect(await victim.verdict('POST', `${keys}/rsa/${action}`, { 'batch-input': items.slice(0, 1) }, { token: signs })).toBe(
        '200 done',
      );
    }
    await victim.request('POST', '/v1/config/keystore/transit-keys', {
      name: 'pgp',
      cipher: 'ed25519',
      exportable: true,
      'openpgp-user-id': 'A',
    });
    const exports = await narrow(`${keys}/pgp/export`, { 'wrapping-key': ['none of these'] });
    expect(await victim.verdict('POST', `${keys}/pgp/export-openpgp`, {}, { token: exports })).toBe('403 policy-denied');
  });

  test('sign-csr: the life of a certificate', async () => {
    const path = '/v1/state/keystore/tls/ca/issuer/sign-csr';
    const rule = (ttl: string) => [
      { path, operations: { all: 'allow' }, 'allowed-values': { ttl: [ttl] } },
      { path: '/v1/state/keystore/tls/ca/issuer/sign-freely', operations: { all: 'allow' } },
    ];
    await victim.makePolicy('one-day', rule('1d'));
    await victim.makePolicy('as-the-ca-says', rule('20d'));
    const csr = formatPem('CERTIFICATE REQUEST', await makeCsr({ keys: await makeKeys('P-256'), subject: 'CN=a' }));
    const sign = async (policy: string, body: object) =>
      victim.verdict('POST', path, { csr, ...body }, { token: await victim.makeToken([policy]) });
    expect(await sign('one-day', {})).toBe('403 policy-denied');
    expect(await sign('one-day', { ttl: '1d' })).toBe('200 done');
    expect(await sign('as-the-ca-says', {})).toBe('200 done');
  });
});

describe('a value that has two spellings', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  beforeAll(async () => {
    const config = '/v1/config/keystore/transit-keys';
    await victim.request('POST', config, { name: 'spelt', derived: true });
    await victim.request('POST', config, { name: 'signer', cipher: 'ed25519' });
  });

  test.each([{ context: ['shop'] }, { 'context-base64': [base64('shop')] }, { context: ['shop', null] }])(
    'the context of a derived key is judged by its octets: %j',
    async (allowed) => {
      for (const action of ['encrypt', 'generate-data-key']) {
        const path = `${keys}/spelt/${action}`;
        const token = await narrow(path, allowed);
        const subject = action === 'encrypt' ? { plaintext: '' } : {};
        const verdict = (body: object, at = path) => victim.verdict('POST', at, body, { token });
        for (const good of [{ context: 'shop' }, { 'context-base64': base64('shop') }])
          expect(await verdict({ ...subject, ...good })).toBe('200 done');
        for (const bad of [
          { context: 'other' },
          { context: base64('shop') },
          { 'context-base64': base64('other') },
          { 'context-base64': '/w==' },
        ]) {
          expect(await verdict({ ...subject, ...bad })).toBe('403 policy-denied');
          if (action !== 'encrypt') continue;
          const batch = {
            'batch-input': [
              { ...subject, context: 'shop' },
              { ...subject, ...bad },
            ],
          };
          for (const one of [path, `${path}-batch`]) expect(await verdict(batch, one)).toBe('403 policy-denied');
        }
      }
    },
  );

  test('a limit on the octets of a context may name what is no text', async () => {
    const token = await narrow(`${keys}/spelt/encrypt`, { 'context-base64': ['/w=='] });
    const encrypt = (context: object) => victim.verdict('POST', `${keys}/spelt/encrypt`, { plaintext: '', ...context }, { token });
    expect(await encrypt({ 'context-base64': '/w==' })).toBe('200 done');
    expect(await encrypt({ context: '\ufffd' })).toBe('403 policy-denied');
  });

  test('text and context of a signature are judged by their octets, which rules have in base64', async () => {
    const { signature } = (await victim.request('POST', `${keys}/signer/sign`, { text: '' })).body;
    // Base64 of 3 octets, and the 4 octets of that text.
    const limited = await narrow(`${keys}/signer/verify`, { context: ['YWJj', null], text: ['YWJj', ''] });
    const verify = (body: object, at = 'verify') => victim.verdict('POST', `${keys}/signer/${at}`, body, { token: limited });
    for (const [body, verdict] of [
      [{ text: 'YWJj', context: 'YWJj' }, '200 done'],
      [{ text: 'abc', context: 'abc', 'base64-encoded': false }, '200 done'],
      [{ text: '', context: 'YWJj', 'base64-encoded': false }, '403 policy-denied'],
      [{ text: 'YWJj', 'base64-encoded': false }, '403 policy-denied'],
    ] as const) {
      expect([body, await verify({ ...body, signature })]).toEqual([body, verdict]);
      for (const at of ['verify', 'verify-batch'])
        expect([body, await verify({ 'batch-input': [{ ...body, signature }] }, at)]).toEqual([body, verdict]);
    }
  });

  test('what OpenPGP signs and verifies counts by its octets, as base64 or as text', async () => {
    const user = 'Release <release@example.org>';
    await victim.request('POST', '/v1/config/keystore/transit-keys', { name: 'releases', cipher: 'ed25519', 'openpgp-user-id': user });
    const { signature } = (await victim.request('POST', `${keys}/releases/openpgp-sign`, { text: 'YWJj' })).body;
    for (const [action, more] of [
      ['openpgp-sign', {}],
      ['openpgp-verify', { signature }],
    ] as const) {
      const limited = await narrow(`${keys}/releases/${action}`, { text: ['YWJj'] });
      const act = (body: object) => victim.verdict('POST', `${keys}/releases/${action}`, { ...body, ...more }, { token: limited });
      expect(await act({ text: 'YWJj' })).toBe('200 done');
      expect(await act({ text: 'abc', 'base64-encoded': false })).toBe('200 done');
      expect(await act({ text: 'YWJj', 'base64-encoded': false })).toBe('403 policy-denied');
    }
  });
});

test('a document: what is left out or empty, and means more than nothing', async () => {
  const path = `/v1/config/${approles}`;
  const make = async (field: string, allowed: unknown[], body: object) =>
    victim.verdict('POST', path, { name: `role-${(made += 1)}`, ...body }, { token: await narrow(path, { [field]: allowed }) });
  for (const [field, allowed, bad, good] of [
    ['secret-id-ttl', ['1d'], {}, { 'secret-id-ttl': '1d' }],
    ['secret-id-num-uses', [1], {}, { 'secret-id-num-uses': 1 }],
    ['token-bound-cidrs', ['10.0.0.0/8'], { 'token-bound-cidrs': [] }, { 'token-bound-cidrs': ['10.0.0.0/8'] }],
    ['secret-id-bound-cidrs', ['10.0.0.0/8'], {}, { 'secret-id-bound-cidrs': ['10.0.0.0/8'] }],
  ] as const) {
    expect([field, await make(field, [...allowed], bad)]).toEqual([field, '403 policy-denied']);
    expect([field, await make(field, [...allowed], good)]).toEqual([field, '201 done']);
  }
  expect(await make('secret-id-ttl', [null, '1d'], {})).toBe('201 done');
  expect(await make('token-policies', ['default'], { 'token-policies': [] })).toBe('201 done');
  const roles = '/v1/config/keystore/authentication/oidc/idp/roles';
  const provider = { 'discovery-url': 'https://idp.example/.well-known/openid-configuration', 'client-id': 'c', 'client-secret': 's' };
  const rest = { 'role-select': { 'role-claim': 'groups' }, 'allowed-redirect-uris': ['https://keystore.example/oidc-callback'] };
  await victim.request('POST', '/v1/config/keystore/authentication/oidc', { name: 'idp', ...provider, ...rest });
  const token = await narrow(roles, { 'required-claims': ['mfa'] });
  expect(await victim.verdict('POST', roles, { name: 'all', 'required-claims': [] }, { token })).toBe('403 policy-denied');
  expect(await victim.verdict('POST', roles, { name: 'some', 'required-claims': ['mfa'] }, { token })).toBe('201 done');
});

test('a secret is one of the values that a rule lists, or stated not at all where the rule lists null or the change concerns other fields', async () => {
  const path = '/v1/config/keystore/tls/ca';
  const field = 'est/initial-enroll-secret';
  const right = 'the right secret of this CA';
  const est = (secret: string) => ({ est: { 'initial-enroll-secret': secret } });
  await victim.request('POST', path, { name: 'with-secret', ...est('another secret of this CA') });
  for (const [allowed, verdicts] of [
    [[right], ['403 policy-denied', '403 policy-denied', '204 done', '403 policy-denied', '201 done', '204 done', '403 policy-denied']],
    [
      [right, null],
      ['201 done', '201 done', '204 done', '403 policy-denied', '201 done', '204 done', '204 done'],
    ],
  ] as const) {
    const token = await narrow(`${path}/**`, { [field]: [...allowed] }, '/v1/state/keystore/tls/ca/*/sign-csr');
    const send = (method: string, name: string, body: object) =>
      victim.verdict(method, name === '' ? path : `${path}/${name}`, body, { token });
    const kind = `n${(made += 1)}`;
    expect([
      await send('POST', '', { name: `${kind}-a` }),
      await send('POST', '', { name: `${kind}-b`, est: {} }),
      await send('PATCH', 'with-secret', { ttl: '20d' }),
      await send('PATCH', 'with-secret', est('a wrong secret of this CA')),
      await send('POST', '', { name: `${kind}-c`, ...est(right) }),
      await send('PATCH', 'with-secret', est(right)),
      await send('PUT', 'with-secret', {}),
    ]).toEqual(verdicts);
  }
});
