// What policies hide or do not let a caller read, found out by asking otherwise: by filters, dry runs, and fields that follow from others.
import { hash, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
const keys = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';
const cas = '/v1/config/keystore/tls/ca';
const approles = '/v1/config/keystore/authentication/approles';

beforeAll(async () => {
  victim = await startVictim();
  await victim.request('POST', keys, { name: 'open', exportable: true, 'deletion-allowed': true, 'allow-plaintext-backup': true });
  await victim.request('POST', keys, { name: 'shut' });
  await victim.request('POST', keys, { name: 'signer', cipher: 'ed25519', exportable: true, 'openpgp-user-id': 'Ada <ada@example.org>' });
  await victim.request('POST', cas, { name: 'root' });
  await victim.request('POST', cas, { name: 'below', 'issuing-ca': 'root' });
  await victim.request('POST', approles, { name: 'job', 'token-policies': ['rewrap-only'], 'token-ttl': '17m' });
});

/** SHA-256 of the public key of the first certificate of a CA. */
async function keyOfFirst(list: string): Promise<string> {
  const [{ serial }] = (await victim.request('GET', list)).body as unknown as [{ serial: string }];
  const { certificate } = (await victim.request('GET', `${list}/${serial}`)).body as { certificate: string };
  return hash('sha256', new X509Certificate(certificate).publicKey.export({ format: 'der', type: 'spki' }));
}

test('a search for what is hidden finds nothing, whatever it asks for', async () => {
  const list = '/v1/state/keystore/tls/ca/root/certificates';
  await victim.makePolicy('no-status', [
    { path: `${list}/**`, operations: { read: 'allow' }, 'hide-fields': ['status', 'subject', 'names'] },
  ]);
  const token = await victim.makeToken(['no-status']);
  expect((await victim.request('GET', list)).body).toHaveLength(1);
  for (const query of ['status=valid', 'status=revoked', 'status=expired', 'contains=root'])
    expect([query, (await victim.request('GET', `${list}?${query}`, undefined, { token })).body]).toEqual([query, []]);
  const key = await victim.request('GET', `${list}?public-key=${await keyOfFirst(list)}`);
  expect(key.body).toHaveLength(1);
  await victim.makePolicy('no-certificate', [{ path: `${list}/**`, operations: { read: 'allow' }, 'hide-fields': ['certificate'] }]);
  const blind = await victim.makeToken(['no-certificate']);
  expect((await victim.request('GET', `${list}?public-key=${await keyOfFirst(list)}`, undefined, { token: blind })).body).toEqual([]);
  await victim.makePolicy('no-rotation', [{ path: `${state}/**`, operations: { read: 'allow' }, 'hide-fields': ['rotates'] }]);
  const other = await victim.makeToken(['no-rotation']);
  for (const asked of ['true', 'false'])
    expect((await victim.request('GET', `${state}?attention=${asked}`, undefined, { token: other })).body).toEqual([]);
});

test('a list shows, filters and selects no more of an entry than the rules for its own path', async () => {
  for (const [name, labels] of Object.entries({ mine: { team: 'a' }, veiled: { team: 'a' }, closed: { team: 'a' } }))
    await victim.request('POST', keys, { name, labels, exportable: true });
  const both = (suffix: string, rest: object) => [keys, state].map((path) => ({ path: `${path}${suffix}`, ...rest }));
  await victim.makePolicy('narrow-entries', [
    ...both('', { operations: { read: 'allow' } }),
    ...both('/veiled', { operations: { read: 'allow' }, 'hide-fields': ['cipher', 'labels', 'exportable', 'rotates'] }),
    ...both('/closed/**', { operations: { all: 'reject' } }),
  ]);
  const token = await victim.makeToken(['narrow-entries']);
  type Shown = { name: string; actions?: string[]; cipher?: string };
  for (const list of [keys, state]) {
    const get = async (query: string) => (await victim.request('GET', `${list}?${query}`, undefined, { token })).body as Shown[];
    const found = async (query: string) =>
      (await get(query)).map(({ name }) => name).filter((name) => ['mine', 'veiled', 'closed'].includes(name));
    const shown = new Map((await get('')).map((one) => [one.name, one]));
    expect(shown.get('mine')).toMatchObject({ cipher: 'aes256-gcm96', exportable: true, labels: { team: 'a' } });
    for (const hidden of ['cipher', 'labels', 'exportable']) expect(shown.get('veiled')).not.toHaveProperty(hidden);
    expect(shown.get('veiled')?.actions ?? []).not.toContain('export');
    expect(shown.get('closed')).toEqual({ name: 'closed' });
    expect((await get('fields=cipher')).filter(({ cipher }) => cipher === undefined).length).toBeGreaterThanOrEqual(2);
    for (const query of ['cipher=aes256-gcm96', 'use=encrypt', 'attention=false', 'selector=team=a'])
      expect([query, await found(query)]).toEqual([query, ['mine']]);
    expect(await found('contains=e')).toEqual(['closed', 'mine', 'veiled']);
  }
});

test('the actions of a key do not tell the settings that are hidden', async () => {
  const actionsOf = async (hidden: readonly string[], name: string): Promise<readonly string[]> => {
    const policy = `no-${hidden.join('-')}`;
    await victim.makePolicy(policy, [{ path: `${state}/**`, operations: { read: 'allow' }, 'hide-fields': hidden }]);
    const token = await victim.makeToken([policy]);
    const list = await victim.request('GET', state, undefined, { token });
    const { actions } = (await victim.request('GET', `${state}/${name}`, undefined, { token })).body as { actions: string[] };
    expect((list.body as { name: string; actions: string[] }[]).find((one) => one.name === name)?.actions).toEqual(actions);
    return actions;
  };
  for (const hidden of [['exportable'], ['allow-plaintext-backup'], ['deletion-allowed'], ['supports-encryption']])
    expect([hidden, await actionsOf(hidden, 'open').then(String)]).not.toEqual([
      hidden,
      String((await victim.request('GET', `${state}/open`)).body['actions']),
    ]);
  const told = ['exportable', 'allow-plaintext-backup', 'deletion-allowed'];
  expect(await actionsOf(told, 'open')).toEqual((await actionsOf([...told, 'usage'], 'shut')).filter((action) => action !== 'restore'));
  const ofSigner = await actionsOf(['exportable', 'supports-signing', 'openpgp-user-id'], 'signer');
  expect(ofSigner.filter((action) => /^(?:export|sign|openpgp|export-openpgp)/.test(action))).toEqual([]);
});

test('a dry run tells nobody who may not read an entry, or not all of it, whether a guess is right', async () => {
  await victim.makePolicy('blind', [{ path: `${approles}/*`, operations: { update: 'allow' } }]);
  await victim.makePolicy('half-blind', [
    { path: `${approles}/*`, operations: { update: 'allow' } },
    { path: `${approles}/*`, operations: { read: 'allow' }, 'hide-fields': ['token-ttl'] },
  ]);
  await victim.makePolicy('seeing', [{ path: `${approles}/*`, operations: { update: 'allow', read: 'allow' } }]);
  const guess = async (policy: string, ttl: string, method = 'PATCH') => {
    const token = await victim.makeToken([policy, 'rewrap-only']);
    const body = method === 'PATCH' ? { 'token-ttl': ttl } : { 'token-policies': ['rewrap-only'], 'token-ttl': ttl };
    const answer = await victim.request(method, `${approles}/job?validate=true`, body, { token });
    return [answer.status, answer.headers.etag !== undefined];
  };
  for (const method of ['PATCH', 'PUT']) {
    for (const policy of ['blind', 'half-blind'])
      for (const ttl of ['17m', '18m'])
        expect([policy, method, ttl, ...(await guess(policy, ttl, method))]).toEqual([
          ...[policy, method, ttl],
          // It is judged by a longest life and policies that nothing shows.
          ...[method === 'PATCH' && policy === 'blind' ? 403 : 204, false],
        ]);
    expect(await guess('seeing', '17m', method)).toEqual([204, true]);
    expect(await guess('seeing', '18m', method)).toEqual([204, false]);
  }
});

test('a change answers no more of an entry than a read would', async () => {
  const policies = '/v1/config/policy/policies';
  const path = '/v1/state/secret-project/**';
  const rules = [{ path, operations: { read: 'allow' } }];
  await victim.makePolicy('kept', rules);
  await victim.makePolicy('policy-changer', [{ path: `${policies}/*`, operations: { update: 'allow' } }]);
  await victim.makePolicy('policy-reader', [
    { path: `${policies}/*`, operations: { update: 'allow' } },
    { path: `${policies}/*`, operations: { read: 'allow' }, 'hide-fields': ['rest-api'] },
  ]);
  const patch = { description: 'changed' };
  expect((await victim.request('PATCH', `${policies}/kept`, patch)).body).toMatchObject({ 'rest-api': { rules: [{ path }] } });
  for (const policy of ['policy-changer', 'policy-reader']) {
    const token = await victim.makeToken([policy]);
    const merged = await victim.request('PATCH', `${policies}/kept`, patch, { token });
    expect([merged.status, merged.body, merged.headers['etag']]).toEqual([204, '', undefined]);
    const replaced = await victim.request('PUT', `${policies}/kept`, { 'rest-api': { rules } }, { token });
    expect(replaced.body).toMatchObject({ name: 'kept', warnings: [expect.stringContaining(path)] });
    expect(replaced.body).not.toHaveProperty('rest-api');
  }
});

describe('a guess at a field that the caller cannot read is answered like any other', () => {
  let made = 0;
  /** A caller who may update an entry, and read all of it but these fields. */
  async function halfBlind(list: string, hidden: readonly string[], more: readonly string[] = []): Promise<string> {
    const name = `guesses-${++made}`;
    await victim.makePolicy(
      name,
      [list, list.replace('config', 'state')].flatMap((path) => [
        { path: `${path}/**`, operations: { update: 'allow', read: 'reject' } },
        { path: `${path}/*`, operations: { update: 'allow', read: 'allow' }, 'hide-fields': hidden },
      ]),
    );
    return victim.makeToken([name, ...more]);
  }

  test.each([
    ['PATCH', keys, 'shut', 'cipher', ['aes256-gcm96', 'ed25519', null], {}],
    ['PUT', keys, 'shut', 'cipher', ['aes256-gcm96', 'ed25519'], {}],
    ['PATCH', keys, 'open', 'exportable', [false, null], {}],
    ['PATCH', keys, 'shut', 'exportable', [false, null], {}],
    ['PATCH', cas, 'below', 'issuing-ca', ['root', 'devices'], {}],
    ['PATCH', cas, 'below', 'subject', ['CN=below', 'CN=other'], {}],
  ])('%s %s/%s: %s', async (method, list, name, field, guesses, rest) => {
    const token = await halfBlind(list, [field]);
    const answers = [];
    for (const guess of guesses) {
      const { status, body } = await victim.request(method, `${list}/${name}`, { ...rest, [field]: guess }, { token });
      answers.push([status, body.code, body.detail]);
    }
    expect(new Set(answers.map(String)).size).toBe(1);
    expect(answers[0]?.[0]).toBe(409);
    // Left out, it stays as it is.
    expect(await victim.verdict(method, `${list}/${name}`, rest, { token })).toBe('204 done');
  });

  test('of what is kept for a caller who could not give it: policies, addresses, lives, the role-id', async () => {
    const fields = {
      'token-policies': ['user'],
      'token-max-ttl': '3d',
      'fixed-role-id': 'the-right-one',
      'token-bound-cidrs': ['10.0.0.0/8'],
    };
    await victim.request('POST', approles, { name: 'guessed', ...fields });
    for (const [field, right, wrong] of [
      ['token-policies', ['user'], ['root']],
      ['token-max-ttl', '3d', '4d'],
      ['fixed-role-id', 'the-right-one', 'a-wrong-one'],
      ['token-bound-cidrs', ['10.0.0.0/8'], ['11.0.0.0/8']],
    ] as const) {
      const token = await halfBlind(approles, [field]);
      for (const guess of [right, wrong])
        expect([field, guess, await victim.verdict('PATCH', `${approles}/guessed`, { [field]: guess }, { token })]).toEqual([
          field,
          guess,
          '403 policy-denied',
        ]);
      expect(await victim.verdict('PATCH', `${approles}/guessed`, { 'secret-id-num-uses': 0 }, { token })).toBe(
        field === 'token-policies' ? '403 policy-denied' : '204 done',
      );
    }
  });

  test('by a replacement that leaves the field out: it is refused or done whatever the present value is', async () => {
    const [usual, other] = ['left-usual', 'left-other'];
    for (const [field, value] of [
      ['token-bound-cidrs', ['10.0.0.0/8']],
      ['secret-id-bound-cidrs', ['10.0.0.0/8']],
      ['secret-id-num-uses', 7],
      ['token-ttl', '5h'],
      ['secret-id-ttl', '5h'],
      ['fixed-role-id', 'of-ones-own'],
    ] as const) {
      for (const [name, fields] of [
        [usual, {}],
        [other, { [field]: value }],
      ] as const)
        await victim.request('PUT', `${approles}/${name}`, { 'token-policies': ['user'], ...fields });
      const token = await halfBlind(approles, [field]);
      for (const name of [usual, other])
        expect([field, name, await victim.verdict('PUT', `${approles}/${name}`, { 'token-policies': ['user'] }, { token })]).toEqual([
          ...[field, name, '403 policy-denied'],
        ]);
    }
    for (const [name, quota] of [
      ['left-free', 0],
      ['left-bound', 600],
    ] as const)
      await victim.request('POST', '/v1/config/tenants', { name, kind: 'application-owner', 'requests-per-minute': quota });
    const token = await halfBlind('/v1/config/tenants', ['requests-per-minute']);
    for (const name of ['left-free', 'left-bound'])
      expect([name, await victim.verdict('PUT', `/v1/config/tenants/${name}`, {}, { token })]).toEqual([name, '403 policy-denied']);
  });

  test('by a field that is valid or not by the hidden one: it is refused whatever it is given, and dry runs are', async () => {
    await victim.request('POST', keys, { name: 'judged', 'auto-rotate': { 'rotate-after': '30d' } });
    for (const [list, name, hidden, changes] of [
      [approles, 'job', 'token-max-ttl', [{ 'token-ttl': '1h' }, { 'token-ttl': '9999d' }]],
      [approles, 'job', 'token-policies', [{ 'fixed-role-id': 'one' }, { 'token-bound-cidrs': [] }]],
      [
        keys,
        'judged',
        'auto-rotate/rotate-after',
        [{ 'auto-rotate': { 'activate-after': '1h' } }, { 'auto-rotate': { 'activate-after': '99d' } }],
      ],
      [keys, 'signer', 'openpgp-user-id', [{ 'openpgp-key-usage': ['sign'] }, { 'openpgp-key-usage': [] }]],
      [cas, 'below', 'cert-key-type', [{ 'cert-key-curve': 'p256' }, { 'cert-key-curve': 'p384' }]],
      [
        keys,
        'judged',
        'latest-version',
        [{ 'min-encryption-version': 1 }, { 'min-encryption-version': 9 }, { 'min-decryption-version': 9 }],
      ],
    ] as const) {
      const token = await halfBlind(list, [hidden]);
      for (const change of changes)
        for (const query of ['', '?validate=true']) {
          const { status, body } = await victim.request('PATCH', `${list}/${name}${query}`, change, { token });
          expect([hidden, change, status, body.code]).toEqual([hidden, change, 403, 'policy-denied']);
          expect(body.detail).toContain(`judged by "${hidden}"`);
        }
    }
  });

  test('by a dry run of a deletion: it needs to see what would refuse it', async () => {
    for (const path of [keys, state])
      await victim.makePolicy(`removes-${path.split('/')[2]}`, [
        { path: `${path}/*`, operations: { all: 'allow' }, 'hide-fields': ['deletion-allowed'] },
      ]);
    const token = await victim.makeToken(['removes-config', 'removes-state']);
    for (const name of ['open', 'shut'])
      expect(await victim.verdict('DELETE', `${keys}/${name}?validate=true`, undefined, { token })).toBe('403 policy-denied');
    for (const [name, verdict] of [
      ['open', '204 done'],
      ['shut', '409 deletion-not-allowed'],
    ] as const)
      expect(await victim.verdict('DELETE', `${keys}/${name}?validate=true`)).toBe(verdict);
  });

  test('of whom a secret is sent to, of the bounds of a tenant, and of a CA that a field names', async () => {
    const oidc = '/v1/config/keystore/authentication/oidc';
    const service = {
      name: 'idp',
      'discovery-url': 'https://idp.example/.well-known/openid-configuration',
      'client-id': 'c',
      'client-secret': 'a secret that is long enough',
      'role-select': { 'role-claim': 'groups' },
      'allowed-redirect-uris': ['https://keystore.example/oidc-callback'],
    };
    await victim.request('POST', oidc, service);
    const sends = await halfBlind(oidc, ['discovery-url']);
    for (const guess of [service['discovery-url'], 'https://another.example/.well-known/openid-configuration'])
      expect(await victim.verdict('PATCH', `${oidc}/idp`, { 'discovery-url': guess }, { token: sends })).toBe('400 missing-field');

    await victim.request('POST', '/v1/config/tenants', { name: 'bounded', 'requests-per-minute': 600 });
    const bounds = await halfBlind('/v1/config/tenants', ['requests-per-minute']);
    for (const guess of [600, 601])
      expect(await victim.verdict('PATCH', '/v1/config/tenants/bounded', { 'requests-per-minute': guess }, { token: bounds })).toBe(
        '403 policy-denied',
      );

    await victim.request('POST', cas, { name: 'trusting', est: { 'initial-enroll-trust-ca': 'root' } });
    await victim.makePolicy('no-cas', [{ path: `${cas.replace('config', 'state')}/**`, operations: { all: 'reject' } }]);
    await victim.makePolicy('changes-trusting', [
      { path: `${cas}/trusting`, operations: { all: 'allow' }, 'hide-fields': ['est/initial-enroll-trust-ca'] },
    ]);
    const trusts = await victim.makeToken(['changes-trusting', 'no-cas']);
    for (const guess of ['root', 'below'])
      expect(await victim.verdict('PATCH', `${cas}/trusting`, { est: { 'initial-enroll-trust-ca': guess } }, { token: trusts })).toBe(
        '403 policy-denied',
      );
  });

  test('by the entity tag: a change that brings back a value has another one', async () => {
    const path = `${approles}/tagged`;
    await victim.request('POST', approles, { name: 'tagged', 'token-ttl': '17m', 'token-policies': [] });
    const token = await halfBlind(approles, ['token-ttl']);
    const tagOf = async (as: string) => (await victim.request('GET', path, undefined, { token: as })).headers.etag;
    const before = await tagOf(token);
    expect(await victim.verdict('PATCH', path, { 'token-ttl': '17m' }, { token })).toBe('204 done');
    expect(await tagOf(token)).not.toBe(before);
    // For a caller who reads all of it, what changes nothing keeps the tag.
    const present = await tagOf(victim.rootToken);
    await victim.request('PATCH', path, { 'token-ttl': '17m' });
    expect(await tagOf(victim.rootToken)).toBe(present);
    await victim.request('PATCH', path, { 'token-ttl': '18m' });
    await victim.request('PATCH', path, { 'token-ttl': '17m' });
    expect(await tagOf(victim.rootToken)).not.toBe(present);
    const recreated = await tagOf(victim.rootToken);
    await victim.request('DELETE', path);
    await victim.request('POST', approles, { name: 'tagged', 'token-ttl': '17m', 'token-policies': [] });
    expect(await tagOf(victim.rootToken)).not.toBe(recreated);
    expect((await victim.request('GET', path)).body).not.toHaveProperty('change-id');
  });

  test('by what keeps a CA from being deleted: another one is named to who may read what certifies it', async () => {
    const deletes = async (hidden: readonly string[]) => {
      const policy = `deletes-root-${hidden.length}`;
      await victim.makePolicy(policy, [
        { path: `${cas}/root`, operations: { delete: 'allow' } },
        { path: `${cas}/below`, operations: { read: 'allow' }, 'hide-fields': hidden },
      ]);
      const { body } = await victim.request('DELETE', `${cas}/root`, undefined, { token: await victim.makeToken([policy]) });
      expect(body.code).toBe('in-use');
      return String(body.detail);
    };
    expect(await deletes([])).toContain('"below"');
    expect(await deletes(['issuing-ca'])).not.toContain('below');
  });

  test('by a short secret: setting it again has another tag as well', async () => {
    const path = `${cas}/secret-ca`;
    const est = { 'initial-enroll-secret': 'hq7-Zw' };
    await victim.request('POST', cas, { name: 'secret-ca', est });
    const tagOf = async () => (await victim.request('GET', path)).headers.etag;
    const before = await tagOf();
    expect(await victim.verdict('PATCH', path, { est })).toBe('204 done');
    expect(await tagOf()).not.toBe(before);
  });
});

describe('an action that answers an entry of another path', () => {
  const tokens = '/v1/state/keystore/tokens';
  const info = '/v1/state/keystore/token/info';
  const oidc = 'keystore/authentication/oidc';

  test('token/info: shows of another token what a read of it shows, and of the own one all', async () => {
    const other = await victim.makeToken(['rewrap-only']);
    const { accessor } = (await victim.request('POST', info, {}, { token: other })).body;
    await victim.makePolicy('half-of-tokens', [
      { path: `${tokens}/**`, operations: { read: 'allow' }, 'hide-fields': ['policies', 'parent', 'accessor'] },
    ]);
    const token = await victim.makeToken(['half-of-tokens']);
    for (const which of [{ accessor }, { token: other }]) {
      const { status, body } = await victim.request('POST', info, which, { token });
      expect([status, body.accessor]).toEqual([200, accessor]);
      expect(body).not.toHaveProperty('policies');
      expect(body).not.toHaveProperty('parent');
    }
    expect((await victim.request('POST', info, {}, { token })).body).toHaveProperty('policies', ['half-of-tokens']);
    const list = (await victim.request('GET', tokens, undefined, { token })).body as { accessor: string }[];
    expect(list.find((one) => one.accessor === accessor)).not.toHaveProperty('policies');
  });

  test('policy/check: says nothing of policies whose rules are hidden, nor of a token whose policies are', async () => {
    const other = await victim.makeToken(['rewrap-only']);
    const { accessor } = (await victim.request('POST', info, {}, { token: other })).body;
    const check = async (hidden: readonly string[], whom: object) => {
      const policy = `checks-${hidden.length}`;
      await victim.request('POST', '/v1/config/policy/policies', {
        name: policy,
        'rest-api': {
          rules: [`${tokens}/**`, '/v1/state/policy/policies/**'].map((path) => ({
            path,
            operations: { read: 'allow' },
            'hide-fields': hidden,
          })),
        },
      });
      const question = { path: keys, operation: 'read', ...whom };
      return victim.verdict('POST', '/v1/state/policy/check', question, { token: await victim.makeToken([policy]) });
    };
    for (const whom of [{ accessor }, { policies: ['rewrap-only'] }]) {
      expect(await check([], whom)).toBe('200 done');
      expect(await check(['policies', 'rest-api'], whom)).toBe('403 policy-denied');
    }
  });

  test('explain and test of an identity provider: refuse where a read would not show what they tell', async () => {
    await victim.request('POST', `/v1/config/${oidc}/idp/roles`, { name: 'admins', 'token-policies': ['user'] });
    const ask = async (rules: readonly unknown[]) => {
      const policy = `helps-${(asked += 1)}`;
      await victim.makePolicy(policy, [{ path: `/v1/state/${oidc}/*/*`, operations: { execute: 'allow' } }, ...rules]);
      const options = { token: await victim.makeToken([policy]) };
      const explained = await victim.verdict('POST', `/v1/state/${oidc}/idp/explain`, { claims: { groups: ['admins'] } }, options);
      return [explained, await victim.verdict('POST', `/v1/state/${oidc}/idp/test`, {}, options)];
    };
    let asked = 0;
    const read = { operations: { read: 'allow' } };
    const [config, state] = [`/v1/config/${oidc}`, `/v1/state/${oidc}`];
    const [done, refused] = ['200 done', '403 policy-denied'];
    expect(await ask([])).toEqual([done, done]);
    expect(await ask([{ path: `${config}/**`, ...read }])).toEqual([done, done]);
    expect(await ask([{ path: `${config}/*/roles/*`, ...read, 'hide-fields': ['token-policies'] }])).toEqual([refused, done]);
    expect(await ask([{ path: `${config}/*/roles/admins`, operations: { all: 'reject' } }])).toEqual([refused, done]);
    expect(await ask([{ path: `${config}/idp`, ...read, 'hide-fields': ['discovery-url'] }])).toEqual([done, refused]);
    const hidden = { ...read, 'hide-fields': ['discovery-url', 'claim-mappings'] };
    expect(await ask([config, state].map((path) => ({ path: `${path}/**`, ...hidden })))).toEqual([refused, refused]);
  });
});

test('a dry run of a deletion does not tell a hidden field that decides about it', async () => {
  await victim.request('POST', '/v1/config/tenants', { name: 'usual' });
  await victim.request('POST', '/v1/config/tenants', { name: 'bounded', policies: ['root'], 'requests-per-minute': 60 });
  for (const [list, names, fields] of [
    ['tenants', ['usual', 'bounded'], ['policies', 'requests-per-minute', 'token-seconds-per-minute', 'kind']],
    ['keystore/tls/ca', ['root', 'below'], ['issuing-ca', 'deletion-allowed']],
  ] as const)
    for (const field of fields) {
      const policy = `deletes-without-${field}-${names[0]}`;
      const operations = { read: 'allow', update: 'allow', delete: 'allow' };
      const path = (tree: string) => `/v1/${tree}/${list}/**`;
      await victim.makePolicy(policy, [
        { path: path('config'), operations, 'hide-fields': [field] },
        { path: path('state'), operations, 'hide-fields': [field] },
      ]);
      const token = await victim.makeToken([policy]);
      for (const name of names) {
        const { status, body } = await victim.request('DELETE', `/v1/config/${list}/${name}?validate=true`, undefined, { token });
        expect([field, name, status, body.detail]).toEqual([field, name, 403, expect.stringContaining(`would tell "${field}"`)]);
      }
    }
});
