// Our own mistake: a field of a request named another entry, and nobody asked whether the caller may use that one. Here: CAs and primary keys.
import { generateKeyPairSync } from 'node:crypto';
import { readKey } from 'openpgp';
import { beforeAll, describe, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
let outsider: string;
const keys = '/v1/config/keystore/transit-keys';
const keyState = '/v1/state/keystore/transit-keys';
const cas = '/v1/config/keystore/tls/ca';
const caState = '/v1/state/keystore/tls/ca';
const all = { all: 'allow' } as const;
const none = { all: 'reject' } as const;

const refused = '403 policy-denied';
const send = (method: string, path: string, body?: unknown, token = outsider) => victim.verdict(method, path, body, { token });
const owner = async (method: string, path: string, body?: unknown): Promise<void> => {
  const { status, body: answer } = await victim.request(method, path, body);
  expect([path, status < 300 ? 'done' : answer]).toEqual([path, 'done']);
};

/** Everything but what is about one key and one CA. */
const outside = [
  { path: '/v1/**', operations: all },
  ...[`${keys}/release/**`, `${keyState}/release/**`, `${cas}/company-root/**`, `${caState}/company-root/**`].map((path) => ({
    path,
    operations: none,
  })),
];

beforeAll(async () => {
  victim = await startVictim();
  await victim.makePolicy('outside', outside);
  outsider = await victim.makeToken(['outside']);
  await owner('POST', cas, { name: 'company-root' });
  await owner('POST', cas, { name: 'below-the-root', 'issuing-ca': 'company-root' });
  await owner('POST', keys, { name: 'release', cipher: 'ed25519', 'openpgp-user-id': 'Release <release@example.com>' });
  await owner('POST', keys, subkey('build', { 'allow-plaintext-backup': true }));
});

function subkey(name: string, more: object = {}) {
  return { name, cipher: 'ed25519', 'openpgp-primary': 'release', 'openpgp-key-usage': ['sign'], ...more };
}

describe('a CA that the caller is refused', () => {
  test('certifies no CA of the caller, and none again', async () => {
    expect(await send('POST', cas, { name: 'own', 'issuing-ca': 'company-root' })).toBe(refused);
    expect(await send('POST', `${cas}?validate=true`, { name: 'own', 'issuing-ca': 'company-root' })).toBe(refused);
    expect(await send('PUT', `${cas}/own`, { 'issuing-ca': 'company-root' })).toBe(refused);
    expect(await send('POST', `${caState}/below-the-root/renew`)).toBe(refused);
    expect(await victim.verdict('GET', `${cas}/own`)).toBe('404 not-found');
  });

  test('cannot be trusted for first enrolments, and is not told from one that does not exist', async () => {
    const trusting = (name: string) => ({ est: { 'initial-enroll-trust-ca': name } });
    await owner('POST', cas, { name: 'devices' });
    expect(await send('POST', cas, { name: 'own-devices', ...trusting('company-root') })).toBe(refused);
    expect(await send('PATCH', `${cas}/devices`, trusting('company-root'))).toBe(refused);
    expect(await send('PUT', `${cas}/devices`, trusting('company-root'))).toBe(refused);
    await owner('PATCH', `${cas}/devices`, trusting('company-root'));
    // What somebody else has set stays, as policies of an approle do.
    expect(await send('PATCH', `${cas}/devices`, { est: { 'allow-ip-sans': true } })).toBe('204 done');
    for (const name of ['company-root', 'no-such-ca'])
      expect(await send('POST', cas, { name: 'guess', 'issuing-ca': name })).toBe(name === 'company-root' ? refused : '400 invalid-value');
  });

  test('lets nobody enrol by a certificate that somebody else puts into the CA that it trusts', async () => {
    const authority = async (name: string) => {
      await owner('POST', cas, { name });
      return (await victim.request('GET', `${caState}/${name}`)).body['ca-cert'] as string;
    };
    const [born, other] = [await authority('maker'), await authority('other-maker')];
    await owner('POST', cas, { name: 'birth', 'ca-cert': born });
    await owner('POST', cas, { name: 'enrolling', est: { 'initial-enroll-trust-ca': 'birth' } });
    const rules = (...actions: string[]) => [
      { path: `${cas}/birth`, operations: all },
      ...actions.map((action) => ({ path: `${caState}/enrolling/${action}`, operations: { execute: 'allow' } })),
    ];
    await victim.makePolicy('changes-birth', rules());
    await victim.makePolicy('changes-birth-and-signs', rules('sign-csr'));
    const [narrow, wide] = await Promise.all([['changes-birth'], ['changes-birth-and-signs']].map((names) => victim.makeToken(names)));
    expect(await send('PATCH', `${cas}/birth`, { 'ca-cert': other }, narrow)).toBe(refused);
    expect(await send('PUT', `${cas}/birth`, { 'ca-cert': other }, narrow)).toBe(refused);
    expect(await send('PATCH', `${cas}/birth`, { 'ca-cert': born, labels: { a: 'b' } }, narrow)).toBe('204 done');
    expect(await send('PATCH', `${cas}/birth`, { 'ca-cert': other }, wide)).toBe('204 done');
  });

  test('to sign requests is not to make CAs, and the other way round', async () => {
    const rules = (...actions: string[]) => [
      { path: `${cas}/**`, operations: all },
      ...actions.map((action) => ({ path: `${caState}/company-root/${action}`, operations: all })),
    ];
    await victim.makePolicy('signs', rules('sign-csr'));
    await victim.makePolicy('certifies', rules('certify-ca'));
    await victim.makePolicy('signs-and-certifies', rules('sign-csr', 'certify-ca'));
    const make = async (policy: string) =>
      send('POST', cas, { name: `by-${policy}`, 'issuing-ca': 'company-root' }, await victim.makeToken([policy]));
    expect(await make('signs')).toBe(refused);
    expect(await make('certifies')).toBe(refused);
    expect(await make('signs-and-certifies')).toBe('201 done');
  });
});

describe('a primary key that the caller is refused', () => {
  test('binds no new subkey: not by POST, batch, PUT or a dry run', async () => {
    expect(await send('POST', keys, subkey('mine'))).toBe(refused);
    expect(await send('POST', `${keys}?validate=true`, subkey('mine'))).toBe(refused);
    expect(await send('PUT', `${keys}/mine`, { ...subkey('mine'), name: undefined })).toBe(refused);
    const batch = await victim.request('POST', `${keys}-batch`, { 'batch-input': [subkey('mine')] }, { token: outsider });
    expect(batch.body['batch-results']).toMatchObject([{ code: 'policy-denied' }]);
    expect(await victim.verdict('GET', `${keys}/mine`)).toBe('404 not-found');
  });

  test('binds no new version of a subkey that exists: not by rotation, import, restore or a timer', async () => {
    const material = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
    const { body } = await victim.request('POST', `${keyState}/build/backup`);
    expect(await send('POST', `${keyState}/build/rotate`)).toBe(refused);
    expect(await send('POST', `${keyState}/build/import`, { data: material })).toBe(refused);
    expect(await send('POST', `${keyState}/build/restore`, { key: body.key })).toBe(refused);
    expect(await send('PATCH', `${keys}/build`, { 'auto-rotate': { 'rotate-after': '1d' } })).toBe(refused);
    await owner('POST', keys, { name: 'plain', cipher: 'ed25519' });
    expect(await send('POST', `${keyState}/plain/restore`, { key: body.key })).toBe(refused);
    // What makes no binding goes on, with timers that somebody set who may certify.
    await owner('PATCH', `${keys}/build`, { 'auto-rotate': { 'rotate-after': '30d' } });
    expect(await send('PATCH', `${keys}/build`, { labels: { team: 'builds' } })).toBe('204 done');
    expect(await send('PATCH', `${keys}/build`, { 'auto-rotate': { 'rotate-after': '1d' } })).toBe(refused);
    expect((await victim.request('GET', `${keyState}/build`)).body['latest-version']).toBe(1);
  });

  test('binds for a caller who may execute certify-subkey on its path, and nothing else there', async () => {
    await victim.makePolicy('certifies-subkeys', [
      ...outside,
      { path: `${keyState}/release/certify-subkey`, operations: { execute: 'allow' } },
    ]);
    const token = await victim.makeToken(['certifies-subkeys']);
    expect(await send('POST', keys, subkey('allowed'), token)).toBe('201 done');
    expect(await send('POST', `${keyState}/allowed/rotate`, undefined, token)).toBe('204 done');
    expect(await send('POST', `${keyState}/release/openpgp-sign`, { text: '' }, token)).toBe(refused);
  });
});

test('a primary key revokes no subkey for a caller who is refused it', async () => {
  const path = `${keyState}/build/export-openpgp-revocation`;
  expect(await send('POST', path, { reason: 'compromised', comment: 'said by somebody else' })).toBe(refused);
  await owner('POST', path, { reason: 'retired' });
});

test('the holder of a primary key gets rid of a subkey of somebody else, which then keeps it from nothing', async () => {
  await owner('POST', keys, { name: 'retired', cipher: 'ed25519', 'openpgp-user-id': 'Retired', 'deletion-allowed': true });
  await owner('POST', keys, subkey('foreign', { 'openpgp-primary': 'retired', 'allow-plaintext-backup': true }));
  const only = (key: string) => [
    { path: `${keys}/${key}/**`, operations: all },
    { path: `${keyState}/${key}/**`, operations: all },
  ];
  await victim.makePolicy('holds-retired', only('retired'));
  const holder = await victim.makeToken(['holds-retired']);
  const unbind = (key: string, name: string) =>
    victim.request('POST', `${keyState}/${key}/unbind-subkey`, { subkey: name, reason: 'compromised' }, { token: holder });
  expect(await send('DELETE', `${keys}/retired`, undefined, holder)).toBe('409 in-use');
  expect((await unbind('release', 'build')).body.code).toBe('policy-denied');
  for (const name of ['build', 'no-such-key', 'retired']) expect((await unbind('retired', name)).body.code).toBe('invalid-value');

  const { status, body } = await unbind('retired', 'foreign');
  expect([status, body.revocations.length]).toEqual([200, 1]);
  const block = await readKey({ armoredKey: String(body.revocations[0].revocation) });
  expect(block.getSubkeys().map(({ revocationSignatures }) => revocationSignatures.length)).toEqual([1]);
  expect((await victim.request('GET', `${keys}/foreign`)).body).not.toHaveProperty('openpgp-primary');
  expect(await send('DELETE', `${keys}/retired`, undefined, holder)).toBe('204 done');
  // The key is not lost to who has it, makes no OpenPGP signature in any way, and comes back from its backup as it is.
  expect(await victim.verdict('POST', `${keyState}/foreign/rotate`)).toBe('204 done');
  expect(await victim.verdict('POST', `${keyState}/foreign/openpgp-sign`, { text: '' })).toBe('400 operation-not-supported');
  const hash = Buffer.alloc(64).toString('base64');
  expect(await victim.verdict('POST', `${keyState}/foreign/sign`, { text: hash, 'key-version': 1 })).toBe('409 openpgp-sign-only');
  const backup = (await victim.request('POST', `${keyState}/foreign/backup`)).body.key;
  await owner('POST', keys, { name: 'foreign-again', cipher: 'ed25519' });
  expect(await victim.verdict('POST', `${keyState}/foreign-again/restore`, { key: backup })).toBe('204 done');
});

test('a key block is imported under no name that the caller may not create', async () => {
  const { body } = await victim.request('POST', `${keyState}/release/export-openpgp-public`);
  await victim.makePolicy('imports-blocks', [
    { path: '/v1/**', operations: all },
    { path: `${keys}/reserved/**`, operations: none },
  ]);
  const token = await victim.makeToken(['imports-blocks']);
  const bring = (name: string) => send('POST', '/v1/state/keystore/import-openpgp', { name, openpgp: body.keys[0].keyblock }, token);
  expect(await bring('reserved')).toBe(refused);
  expect(await bring('another')).toBe('201 done');
});

test('nor with settings that a creation may not have', async () => {
  const { body } = await victim.request('POST', `${keyState}/release/export-openpgp-public`);
  let tried = 0;
  const bring = async (allowed: Record<string, unknown>) => {
    const policy = `imports-${(tried += 1)}`;
    await victim.makePolicy(policy, [
      { path: '/v1/state/keystore/import-openpgp', operations: { execute: 'allow' } },
      { path: `${keys}/*`, operations: { create: 'allow' }, 'allowed-values': allowed },
    ]);
    const brought = { name: `brought-${tried}`, openpgp: body.keys[0].keyblock };
    return send('POST', '/v1/state/keystore/import-openpgp', brought, await victim.makeToken([policy]));
  };
  for (const [field, right, wrong] of [
    ['cipher', 'ed25519', 'rsa-4096'],
    ['exportable', false, true],
    ['custody', 'wrapped', 'token'],
    ['labels/team', null, 'a'],
    ['auto-rotate/rotate-after', null, '1d'],
  ] as const) {
    expect([field, await bring({ [field]: [wrong] })]).toEqual([field, refused]);
    expect([field, await bring({ [field]: [right] })]).toEqual([field, '201 done']);
  }
  expect(await bring({ 'public-key': [null] })).toBe(refused);
});

test('nor past a rule for the list of keys', async () => {
  const { body } = await victim.request('POST', `${keyState}/release/export-openpgp-public`);
  const bring = async (name: string, rule: object) => {
    await victim.makePolicy(`${name}-by-the-list`, [
      { path: '/v1/**', operations: all },
      { path: keys, ...rule },
    ]);
    const brought = { name, openpgp: body.keys[0].keyblock };
    return send('POST', '/v1/state/keystore/import-openpgp', brought, await victim.makeToken([`${name}-by-the-list`]));
  };
  expect(await bring('not-made', { operations: none })).toBe(refused);
  expect(await bring('not-this', { operations: all, 'allowed-values': { cipher: ['rsa-4096'] } })).toBe(refused);
  expect(await bring('this', { operations: all, 'allowed-values': { cipher: ['ed25519'] } })).toBe('201 done');
});

describe('a change of a key that does what an action does needs the right to that', () => {
  const rules = (...actions: string[]) => [
    { path: `${keys}/**`, operations: all },
    ...actions.map((action) => ({ path: `${keyState}/*/${action}`, operations: { execute: 'allow' } })),
  ];
  let timers: string;
  let bare: string;

  beforeAll(async () => {
    await victim.makePolicy('changes-keys', rules('restore', 'import'));
    await victim.makePolicy('changes-and-rotates', rules('restore', 'import', 'rotate'));
    [bare, timers] = [await victim.makeToken(['changes-keys']), await victim.makeToken(['changes-and-rotates'])];
  });

  test('auto-rotate: to set it, shorten it or restore it, that to rotate; to leave or end it, none', async () => {
    await owner('POST', keys, { name: 'timed', 'allow-plaintext-backup': true, 'deletion-allowed': true });
    const timer = (after: string) => ({ 'auto-rotate': { 'rotate-after': after } });
    const change = (body: object, token: string, method = 'PATCH', query = '') => send(method, `${keys}/timed${query}`, body, token);
    expect(await change(timer('30d'), bare)).toBe(refused);
    expect(await change(timer('30d'), bare, 'PATCH', '?validate=true')).toBe(refused);
    expect(await change({ ...timer('30d'), 'allow-plaintext-backup': true }, bare, 'PUT')).toBe(refused);
    expect(await change(timer('30d'), timers)).toBe('204 done');
    expect(await change({ labels: { team: 'a' } }, bare)).toBe('204 done');
    expect(await change(timer('30d'), bare)).toBe('204 done');
    expect(await change(timer('1h'), bare)).toBe(refused);
    const { body } = await victim.request('POST', `${keyState}/timed/backup`);
    expect(await change({ 'deletion-allowed': true }, bare, 'PUT')).toBe('204 done');
    expect(await send('POST', `${keyState}/timed/restore`, { key: body.key }, bare)).toBe(refused);
    expect(await send('POST', `${keyState}/timed/restore`, { key: body.key }, timers)).toBe('204 done');
    // A new key is the caller's own.
    expect(await send('POST', keys, { name: 'timed-from-the-start', ...timer('30d') }, bare)).toBe('201 done');
  });

  test('auto-rotate that is hidden is not guessed by which value is accepted', async () => {
    await victim.makePolicy('changes-blindly', [{ path: `${keys}/timed`, operations: all, 'hide-fields': ['auto-rotate'] }]);
    const token = await victim.makeToken(['changes-blindly']);
    for (const after of ['30d', '31d'])
      expect(await send('PATCH', `${keys}/timed`, { 'auto-rotate': { 'rotate-after': after } }, token)).toBe(refused);
  });

  test('openpgp-user-id: that to certify with the primary key, which signs the new certificate', async () => {
    await owner('POST', keys, { name: 'named', cipher: 'ed25519', 'openpgp-user-id': 'Named' });
    await owner('POST', keys, { name: 'unnamed', cipher: 'ed25519' });
    await victim.makePolicy('changes-and-certifies', rules('certify-subkey'));
    const certifies = await victim.makeToken(['changes-and-certifies']);
    for (const name of ['named', 'unnamed']) {
      const change = (userId: unknown, token: string) => send('PATCH', `${keys}/${name}`, { 'openpgp-user-id': userId }, token);
      expect(await change('Somebody else', bare)).toBe(refused);
      expect(await change('Somebody else', certifies)).toBe('204 done');
      expect(await change('Somebody else', bare)).toBe('204 done');
      expect(await change(null, bare)).toBe('204 done');
    }
    const { body } = await victim.request(
      'POST',
      '/v1/state/policy/check',
      { path: `${keys}/named`, operation: 'update' },
      { token: bare },
    );
    expect(body['also-needs']).toEqual(
      expect.arrayContaining([
        { field: 'auto-rotate', operation: 'execute', path: `${keyState}/named/rotate` },
        { field: 'openpgp-user-id', operation: 'execute', path: `${keyState}/named/certify-subkey` },
      ]),
    );
  });
});

describe('a change of a CA that lets devices have more needs the right to sign', () => {
  const est = {
    enabled: true,
    'initial-enroll-secret': 'a secret of devices',
    'allowed-domains': ['example.com'],
    'allow-reenroll-with-issued-cert': false,
    ttl: '10d',
  };
  let bare: string;
  let signs: string;
  let freely: string;
  const change = (body: object, token: string, query = '') => send('PATCH', `${cas}/sensors${query}`, { est: body }, token);

  beforeAll(async () => {
    await owner('POST', cas, { name: 'sensors', est: { ...est, enabled: false } });
    const make = async (policy: string, ...actions: string[]) => {
      const signing = actions.map((action) => ({ path: `${caState}/*/${action}`, operations: { execute: 'allow' } }));
      await victim.makePolicy(policy, [
        { path: `${cas}/**`, operations: all },
        { path: `${caState}/*`, operations: { read: 'allow' } },
        ...signing,
      ]);
      return victim.makeToken([policy]);
    };
    bare = await make('changes-cas');
    signs = await make('changes-cas-and-signs', 'sign-csr');
    freely = await make('changes-cas-and-signs-freely', 'sign-csr', 'sign-freely');
  });

  test('who may enrol: sign-csr', async () => {
    const wider = [
      { enabled: true },
      { 'initial-enroll-secret': 'a secret of mine' },
      { 'initial-enroll-trust-ca': 'below-the-root' },
      { 'allow-reenroll-with-issued-cert': true },
    ];
    for (const body of wider) {
      expect([body, await change(body, bare), await change(body, bare, '?validate=true')]).toEqual([body, refused, refused]);
      expect([body, await change(body, signs)]).toEqual([body, '204 done']);
    }
    // Neither value tells the present secret.
    for (const secret of ['a secret of mine', 'a secret of yours'])
      expect(await change({ 'initial-enroll-secret': secret }, bare)).toBe(refused);
    // Narrower, and what is no change.
    expect(await change({ 'initial-enroll-trust-ca': 'below-the-root', enabled: true }, bare)).toBe('204 done');
    expect(await change({ 'initial-enroll-trust-ca': null, 'allow-reenroll-with-issued-cert': false }, bare)).toBe('204 done');
    expect(await change({ 'initial-enroll-secret': null, enabled: false }, bare)).toBe('204 done');
    expect(await send('PATCH', `${cas}/sensors`, { 'deletion-allowed': true }, bare)).toBe('204 done');
    expect(await send('POST', cas, { name: 'sensors-of-the-caller', est }, bare)).toBe('201 done');
  });

  test('for which names and how long: sign-freely as well', async () => {
    const wider = [
      { 'allowed-domains': ['example.org'] },
      { 'allow-subdomains': true },
      { 'allow-bare-domains': true },
      { 'allow-ip-sans': true },
      { ttl: '11d' },
    ];
    for (const body of wider)
      expect([body, await change(body, bare), await change(body, signs), await change(body, freely)]).toEqual([
        body,
        refused,
        refused,
        '204 done',
      ]);
    expect(await change({ ttl: '1d', 'allow-subdomains': false }, bare)).toBe('204 done');
  });

  test('policy/check says so', async () => {
    const { body } = await victim.request(
      'POST',
      '/v1/state/policy/check',
      { path: `${cas}/sensors`, operation: 'update' },
      { token: bare },
    );
    const needs = (field: string, action: string) => ({ field, operation: 'execute', path: `${caState}/sensors/${action}` });
    expect(body['also-needs']).toEqual(expect.arrayContaining([needs('est/enabled', 'sign-csr'), needs('est/ttl', 'sign-freely')]));
  });
});

test('who is refused to revoke does not by serial numbers for import-revocations, nor by deleting a CA below', async () => {
  await victim.makePolicy('does-not-revoke', [
    { path: '/v1/**', operations: all },
    { path: `${caState}/*/revoke`, operations: none },
  ]);
  const token = await victim.makeToken(['does-not-revoke']);
  await owner('POST', cas, { name: 'revoker' });
  await owner('POST', cas, { name: 'below-the-revoker', 'issuing-ca': 'revoker' });
  expect(await send('POST', `${caState}/revoker/import-revocations`, { serials: ['0123'] }, token)).toBe(refused);
  expect(await send('POST', `${caState}/revoker/import-revocations`, { serials: [] }, token)).toBe('400 invalid-value');
  expect(await send('DELETE', `${cas}/below-the-revoker`, undefined, token)).toBe(refused);
  expect(await send('DELETE', `${cas}/revoker`, undefined, token)).toBe('409 in-use');
  await owner('DELETE', `${cas}/below-the-revoker`);
  expect(await send('DELETE', `${cas}/revoker`, undefined, token)).toBe('204 done');
});

describe('policy/check', () => {
  const check = async (body: object) => (await victim.request('POST', '/v1/state/policy/check', body, { token: outsider })).body;

  test('says what a request needs besides, and judges names that it is told', async () => {
    const creation = { path: cas, operation: 'create' };
    const needs = (field: string, operation: string, end: string) => ({ field, operation, path: `${caState}/{}${end}` });
    const all = [
      needs('issuing-ca', 'execute', '/sign-csr'),
      needs('issuing-ca', 'execute', '/certify-ca'),
      needs('est/initial-enroll-trust-ca', 'read', ''),
      needs('scep/next-ca', 'read', ''),
    ];
    expect(await check(creation)).toMatchObject({ allowed: true, 'also-needs': all });
    expect(await check({ ...creation, names: { 'issuing-ca': 'company-root' } })).toMatchObject({
      allowed: false,
      policy: 'outside',
      rule: `${caState}/company-root/**`,
      why: expect.stringMatching(/^"issuing-ca" names "company-root"\. The rule /) as string,
    });
    expect(await check({ ...creation, names: { 'issuing-ca': 'another' } })).toMatchObject({ allowed: true });
    expect(await check({ ...creation, names: { subject: 'another' } })).toMatchObject({ code: 'invalid-value' });
    expect(await check({ path: `${keyState}/build/rotate`, operation: 'execute' })).toMatchObject({
      'also-needs': [{ field: 'openpgp-primary', operation: 'execute', path: `${keyState}/{}/certify-subkey` }],
    });
  });

  test('knows the rights that no path of a request has, and rules about them are no misspellings', async () => {
    expect(await check({ path: `${keyState}/release/certify-subkey`, operation: 'execute' })).toMatchObject({
      allowed: false,
      exists: true,
    });
    const rules = [`${keyState}/*/certify-subkey`, `${caState}/company-root/certify-ca`].map((path) => ({
      path,
      operations: { execute: 'allow' },
    }));
    const { body } = await victim.request('POST', '/v1/config/policy/policies?validate=true', { name: 'x', 'rest-api': { rules } });
    expect(body).not.toHaveProperty('warnings');
  });
});
