// A batch is the single action for policies: its own path opens nothing that the action is refused, and hides nothing that it shows.
import { beforeAll, describe, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
const keys = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';
const actions = ['encrypt', 'decrypt', 'rewrap', 'sign', 'verify', 'hmac'];

beforeAll(async () => {
  victim = await startVictim();
  await victim.request('POST', keys, { name: 'a', exportable: true });
  await victim.request('POST', keys, { name: 'signer', cipher: 'ed25519', exportable: true, 'openpgp-user-id': 'S <s@example.com>' });
});

const item = { encrypt: { plaintext: 'aGVsbG8=' }, hmac: { plaintext: 'aGVsbG8=' }, sign: { text: 'aGVsbG8=' } };
const batch = (one: unknown = {}) => ({ 'batch-input': [one] });

describe('a refusal of the action', () => {
  test('is one of its batch, however the path is spelled', async () => {
    await victim.makePolicy('all-but-these', [
      { path: '/v1/**', operations: { all: 'allow' } },
      ...actions.map((action) => ({ path: `${state}/*/${action}`, operations: { all: 'reject' } })),
      { path: `${state}/*/export`, operations: { all: 'reject' } },
    ]);
    const token = await victim.makeToken(['all-but-these']);
    for (const action of [...actions.map((one) => `${one}-batch`), 'export-openpgp']) {
      const [first = '', ...rest] = action;
      const encoded = `%${first.charCodeAt(0).toString(16)}${rest.join('')}`;
      for (const path of [action, `${action}/`, encoded, action.replace('-', '%2d'), action.replace('-', '%2D'), `${action}?x=1`])
        expect([path, (await victim.raw('POST', `${state}/a/${path}`, { token })).status]).toEqual([path, 403]);
      expect(await victim.verdict('POST', `${state}/a/${action}`, batch(), { token })).toBe('403 policy-denied');
      expect(await victim.verdict('POST', `${state}/absent/${action}`, batch(), { token })).toBe('403 policy-denied');
    }
    for (const path of [
      'encrypt-batch#f',
      'encrypt-batch//',
      './encrypt-batch',
      '../a/encrypt-batch',
      'encrypt-batch/.',
      'encrypt-batch%2F',
      'Encrypt-Batch',
      'encrypt-batch%00',
      'encrypt-batch;x',
      'encrypt%2Dbatch%20',
      'encrypt-batch/x',
    ])
      expect([path, (await victim.raw('POST', `${state}/a/${path}`, { token })).status]).toEqual([path, 404]);
  });

  test('holds where only the path of the batch is allowed, and a rule for the action covers both', async () => {
    const rule = (path: string) => ({ path: `${state}/*/${path}`, operations: { execute: 'allow' } });
    const vain = { 'rest-api': { rules: [rule('encrypt-batch'), rule('export-openpgp')] } };
    const made = await victim.request('POST', '/v1/config/policy/policies', { name: 'batch-only', ...vain });
    expect(made.body.warnings).toEqual([
      expect.stringContaining('policies judge this action as "encrypt"'),
      expect.stringContaining('policies judge this action as "export"'),
    ]);
    const vainly = await victim.makeToken(['batch-only']);
    expect(await victim.verdict('POST', `${state}/a/encrypt-batch`, batch(item.encrypt), { token: vainly })).toBe('403 policy-denied');
    expect(await victim.verdict('POST', `${state}/signer/export-openpgp`, {}, { token: vainly })).toBe('403 policy-denied');

    await victim.makePolicy('single', [rule('encrypt'), rule('export')]);
    const token = await victim.makeToken(['single']);
    expect(await victim.verdict('POST', `${state}/a/encrypt-batch`, batch(item.encrypt), { token })).toBe('200 done');
    expect(await victim.verdict('POST', `${state}/signer/export-openpgp`, {}, { token })).toBe('200 done');
    expect(await victim.verdict('POST', `${state}/a/hmac-batch`, batch(item.hmac), { token })).toBe('403 policy-denied');
  });

  test('is what policy check says of both paths', async () => {
    const check = async (path: string, policies: readonly string[]) =>
      (await victim.request('POST', '/v1/state/policy/check', { path: `${state}/a/${path}`, operation: 'execute', policies })).body;
    for (const policies of [['rewrap-only'], ['user'], ['batch-only'], ['single'], ['all-but-these']])
      for (const action of actions) {
        const [single, many] = [await check(action, policies), await check(`${action}-batch`, policies)];
        expect([action, policies, many]).toEqual([action, policies, single]);
      }
    expect(await check('export-openpgp', ['single'])).toMatchObject({ allowed: true, rule: `${state}/*/export` });
    expect(await check('rewrap-batch', ['rewrap-only'])).toMatchObject({ allowed: true });
  });
});

describe('restrictions of the action', () => {
  test('hold for each item of its batch', async () => {
    await victim.makePolicy('sha256-alone', [
      { path: `${state}/*/hmac`, operations: { execute: 'allow' }, 'allowed-values': { 'hash-algorithm': ['sha256'] } },
    ]);
    const token = await victim.makeToken(['sha256-alone']);
    const hmac = (...items: unknown[]) => victim.verdict('POST', `${state}/a/hmac-batch`, { 'batch-input': items }, { token });
    expect(await hmac(item.hmac, { ...item.hmac, 'hash-algorithm': 'sha256' })).toBe('200 done');
    expect(await hmac(item.hmac, { ...item.hmac, 'hash-algorithm': 'sha512' })).toBe('403 policy-denied');
    expect(await hmac({ ...item.hmac, 'hash-algorithm': ['sha256', 'sha512'] })).toBe('403 policy-denied');
  });

  test('hide in each result what they hide in an answer', async () => {
    await victim.makePolicy('sees-nothing', [
      { path: `${state}/*/decrypt`, operations: { execute: 'allow' }, 'hide-fields': ['plaintext'] },
    ]);
    const token = await victim.makeToken(['sees-nothing']);
    const { ciphertext } = (await victim.request('POST', `${state}/a/encrypt`, item.encrypt)).body;
    const answer = await victim.request('POST', `${state}/a/decrypt-batch`, { 'batch-input': [{ ciphertext }, { ciphertext }] }, { token });
    expect(answer).toMatchObject({ status: 200, body: { failed: 0, 'batch-results': [{ 'key-version': 1 }, { 'key-version': 1 }] } });
    expect(JSON.stringify(answer.body)).not.toContain('aGVsbG8=');
  });

  test('on the format of an export hold for the action of that format', async () => {
    await victim.makePolicy('wrapped-alone', [
      { path: `${state}/*/export`, operations: { execute: 'allow' }, 'allowed-values': { format: ['wrapped'] } },
    ]);
    await victim.makePolicy('no-values', [{ path: `${state}/*/export`, operations: { execute: 'allow' }, 'hide-fields': ['keys/value'] }]);
    const asOpenpgp = async (policy: string) =>
      victim.request('POST', `${state}/signer/export-openpgp`, {}, { token: await victim.makeToken([policy]) });
    expect((await asOpenpgp('wrapped-alone')).body.code).toBe('policy-denied');
    expect((await asOpenpgp('no-values')).body).toEqual({ keys: [{ version: 1 }], 'key-version': 1 });
  });
});

describe('a batch of creations', () => {
  test('is one creation for policies, and each entry is held to the values allowed', async () => {
    const create = (path: string, more: object = {}) => ({ path, operations: { create: 'allow' }, ...more });
    const send = async (policy: string, ...items: unknown[]) =>
      victim.verdict('POST', `${keys}-batch`, { 'batch-input': items }, { token: await victim.makeToken([policy]) });
    await victim.makePolicy('reads-keys', [{ path: `${keys}/**`, operations: { read: 'allow' } }]);
    await victim.makePolicy('makes-keys', [create(keys)]);
    await victim.makePolicy('makes-aes', [create(keys, { 'allowed-values': { cipher: ['aes256-gcm96'] } })]);
    await victim.makePolicy('all-but-keys', [
      { path: '/v1/**', operations: { all: 'allow' } },
      { path: keys, operations: { create: 'reject' } },
    ]);
    for (const policy of ['reads-keys', 'all-but-keys']) expect(await send(policy, { name: 'batch-never' })).toBe('403 policy-denied');
    expect(await send('makes-keys', { name: 'batch-one' }, { name: 'batch-two', cipher: 'ed25519' })).toBe('200 done');
    expect(await send('makes-aes', { name: 'batch-three' }, { name: 'batch-never', cipher: 'ed25519' })).toBe('403 policy-denied');
    expect((await victim.request('GET', `${keys}/batch-never`)).status).toBe(404);
    expect((await victim.request('GET', `${keys}/batch-three`)).status).toBe(404);
  });
});

describe('a hostile batch', () => {
  const send = (body: unknown, action = 'encrypt') => victim.verdict('POST', `${state}/a/${action}-batch`, body);

  test.each([
    ['nothing', undefined, '400 missing-field'],
    ['no items', { 'batch-input': [] }, '400 invalid-value'],
    ['1,001 items', { 'batch-input': Array.from({ length: 1_001 }, () => item.encrypt) }, '400 invalid-value'],
    ['no list', { 'batch-input': item.encrypt }, '400 invalid-value'],
    ['a text', { 'batch-input': 'x' }, '400 invalid-value'],
    ['null', { 'batch-input': null }, '400 invalid-value'],
    ['items that are no objects', { 'batch-input': [1, null, 'x', []] }, '400 invalid-value'],
    ['another field beside it', { 'batch-input': [item.encrypt], plaintext: 'YQ==' }, '400 unknown-field'],
    ['a list as body', [item.encrypt], '400 invalid-json'],
  ])('%s is refused whole', async (_, body, verdict) => {
    expect(await send(body)).toBe(verdict);
  });

  test('of good and bad items answers each on its own', async () => {
    const items = [
      item.encrypt,
      { plaintext: 5, reference: 'five' },
      { plaintext: 'not base64!' },
      { plaintext: 'YQ==', 'batch-input': [item.encrypt] },
      {},
      { ...item.encrypt, 'key-version': 9, reference: 'nine' },
      { ...item.encrypt, reference: 'last' },
    ];
    const { status, body } = await victim.request('POST', `${state}/a/encrypt-batch`, { 'batch-input': items });
    expect([status, body.failed]).toEqual([200, 5]);
    const codes = body['batch-results'].map(({ code, reference }: { code?: string; reference?: string }) => [code, reference]);
    expect(codes).toEqual([
      [undefined, undefined],
      ['invalid-value', 'five'],
      ['invalid-base64', undefined],
      ['unknown-field', undefined],
      ['missing-field', undefined],
      ['version-unknown', 'nine'],
      [undefined, 'last'],
    ]);
    const lost = await victim.request('POST', `${state}/a/decrypt-batch`, batch({ ciphertext: 'wrong' }));
    expect([lost.status, lost.body.failed]).toEqual([200, 1]);
  });

  test('is in the audit trail with its number of items, its digests and no payload', async () => {
    const text = Buffer.from('planted-in-a-batch-path').toString('base64');
    await victim.request('POST', `${state}/signer/sign-batch`, { 'batch-input': [{ text }, { text: 5 }] });
    const lines = victim.written().match(/\{[^\n]*signer\/sign-batch[^\n]*\}/g) ?? [];
    const [record = {}] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(record).toMatchObject({ status: 200, 'request-parameters': { items: 2, failed: 1 } });
    expect(record['signed-digest']).toEqual([expect.stringMatching(/^sha256:/), null]);
    expect(victim.written()).not.toContain(text);
  });
});

test('what names an entry is in its document, because keys=true and after tell it too; what else a rule hides is not', async () => {
  for (const name of ['x1', 'x2', 'x3']) await victim.request('POST', keys, { name });
  await victim.makePolicy('nameless', [
    { path: `${keys}/**`, operations: { read: 'allow' }, 'hide-fields': ['name', 'cipher'] },
    { path: '/v1/state/keystore/tokens', operations: { read: 'allow' }, 'hide-fields': ['accessor', 'policies'] },
  ]);
  const token = await victim.makeToken(['nameless']);
  for (const [path, name, hidden] of [
    [keys, 'name', 'cipher'],
    ['/v1/state/keystore/tokens', 'accessor', 'policies'],
  ] as const) {
    const ask = (query: string) => victim.request('GET', `${path}?${query}`, undefined, { token });
    const [page, bare, names] = [await ask('limit=1'), await ask(`limit=1&fields=${name},${hidden}`), await ask('limit=1&keys=true')];
    for (const { status, headers, body } of [page, bare]) {
      expect([path, status, body[0][name]]).toEqual([path, 200, names.body[0]]);
      expect(headers['link']).toContain(`after=${names.body[0]}`);
      expect(body[0]).not.toHaveProperty(hidden);
    }
  }
});

test('a list counts what is of the own tenant alone', async () => {
  const foreign = await victim.makeTenant('counted', ['root']);
  const total = async (path: string, token: string) => (await victim.request('GET', path, undefined, { token })).headers['total-count'];
  expect(await total(keys, foreign)).toBe('0');
  expect(await total('/v1/state/keystore/tokens', foreign)).toBe('1');
  expect(await total('/v1/state/topics', foreign)).toBe('1');
  expect(await total('/v1/state/topics', victim.rootToken)).toBe('2');
});
