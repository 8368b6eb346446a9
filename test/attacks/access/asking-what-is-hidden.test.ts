// What policies hide or do not let a caller read, found out by asking otherwise: by filters, dry runs, and fields that follow from others.
import { beforeAll, expect, test } from 'vitest';
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

test('a search for what is hidden finds nothing, whatever it asks for', async () => {
  const list = '/v1/state/keystore/tls/ca/root/certificates';
  await victim.makePolicy('no-status', [
    { path: `${list}/**`, operations: { read: 'allow' }, 'hide-fields': ['status', 'subject', 'names'] },
  ]);
  const token = await victim.makeToken(['no-status']);
  expect((await victim.request('GET', list)).body).toHaveLength(1);
  for (const query of ['status=valid', 'status=revoked', 'status=expired', 'contains=root'])
    expect([query, (await victim.request('GET', `${list}?${query}`, undefined, { token })).body]).toEqual([query, []]);
  await victim.makePolicy('no-rotation', [{ path: `${state}/**`, operations: { read: 'allow' }, 'hide-fields': ['rotates'] }]);
  const other = await victim.makeToken(['no-rotation']);
  for (const asked of ['true', 'false'])
    expect((await victim.request('GET', `${state}?attention=${asked}`, undefined, { token: other })).body).toEqual([]);
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
        expect([policy, method, ttl, ...(await guess(policy, ttl, method))]).toEqual([policy, method, ttl, 204, false]);
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
