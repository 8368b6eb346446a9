// A thing is made while what it hangs on is deleted: it is refused, or comes first and keeps the other; it is never acknowledged and lost.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openTenants } from '../../../core/access/tenants.ts';
import type { Answer } from '../../harness/appliance.ts';
import { startVictim, verdictOf } from '../victim.ts';

const victim = await startVictim();
const policies = '/v1/config/policy/policies';
const approles = '/v1/config/keystore/authentication/approles';
const services = '/v1/config/keystore/authentication/oidc';
const keys = '/v1/config/keystore/transit-keys';
const cas = '/v1/config/keystore/tls/ca';
const tenants = '/v1/config/tenants';

const policy = (name: string) => ({ name, 'rest-api': { rules: [] } });
const service = {
  name: 'staff',
  'discovery-url': 'https://id.example.com/.well-known/openid-configuration',
  'client-id': 'keystore',
  'client-secret': 'secret',
  'role-select': { 'role-claim': 'groups' },
  'allowed-redirect-uris': ['https://keystore.example.com:4646/oidc-callback'],
};

afterEach(async () => {
  vi.restoreAllMocks();
  victim.store.refresh();
  expect(await victim.check()).toEqual([]);
});

/**
 * Runs `first` up to its call of the method `held` of the token or of the store, then all of `meanwhile`, then the rest of `first`.
 * `skip`: calls that pass before.
 */
async function interleave(
  held: 'write' | 'generate',
  first: () => Promise<Answer>,
  meanwhile: () => Promise<Answer>,
  skip = 0,
): Promise<readonly [first: string, meanwhile: string]> {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const target = (held === 'write' ? victim.store : victim.hsm) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const original = target[held]?.bind(target);
  let calls = 0;
  vi.spyOn(target, held).mockImplementation(async (...args) => {
    if (calls++ === skip) {
      reached.resolve();
      await released.promise;
    }
    return original?.(...args);
  });
  const answer = first();
  await reached.promise;
  const other = await meanwhile();
  released.resolve();
  return [verdictOf(await answer), verdictOf(other)];
}

const post = (path: string, body: unknown, token?: string) => victim.request('POST', path, body, token === undefined ? {} : { token });
const remove = (path: string) => victim.request('DELETE', path);

describe('in a tenant that is deleted meanwhile nothing is made', () => {
  test.each([
    ['a policy', 'write', policies, policy('made')],
    ['an approle', 'write', approles, { name: 'made' }],
    ['an OIDC service', 'write', services, service],
    ['a wrapped key', 'generate', keys, { name: 'made' }],
    ['a key in the token', 'generate', keys, { name: 'made', custody: 'token' }],
    ['a CA', 'generate', cas, { name: 'made' }],
    ['a token', 'write', '/v1/state/keystore/token/create', {}],
  ] as const)('%s', async (what, held, path, body) => {
    const name = what.replaceAll(' ', '-').toLowerCase();
    const root = await victim.makeTenant(name, ['root']);
    expect(
      await interleave(
        held,
        () => post(path, body, root),
        () => remove(`${tenants}/${name}`),
      ),
    ).toEqual(['401 invalid-token', '204 done']);
    expect(verdictOf(await post(tenants, { name }))).toBe('201 done');
  });

  test('in either order, with many at a time', async () => {
    for (let round = 0; round < 5; round++) {
      const root = await victim.makeTenant('busy', ['root']);
      const made = await Promise.all([
        ...[keys, cas, policies, approles].map((path) =>
          post(path, path === policies ? policy('made') : { name: 'made', ...(path === keys ? { 'deletion-allowed': true } : {}) }, root),
        ),
        remove(`${tenants}/busy`),
      ]);
      const isThere = verdictOf(await victim.request('GET', `${tenants}/busy`)) === '200 done';
      // Acknowledged means there: the tenant is not empty then, and stays.
      expect(made.slice(0, -1).some(({ status }) => status === 201)).toBe(isThere);
      if (!isThere) continue;
      for (const path of [keys, cas, policies, approles]) await victim.request('DELETE', `${path}/made`, undefined, { token: root });
      expect(verdictOf(await remove(`${tenants}/busy`))).toBe('204 done');
    }
  });
});

describe('an intermediate CA whose issuer is deleted meanwhile is refused', () => {
  test.each([
    ['before it is certified', 'generate', 0],
    ['before it is kept', 'write', 1],
  ] as const)('%s', async (_when, held, skip) => {
    await post(cas, { name: 'issuer' });
    const below = () => post(cas, { name: 'below', 'issuing-ca': 'issuer' });
    expect(await interleave(held, below, () => remove(`${cas}/issuer`), skip)).toEqual(['409 conflict', '204 done']);
    expect(verdictOf(await victim.request('GET', `${cas}/below`))).toBe('404 not-found');
  });

  test('and a CA that has certified another meanwhile stays', async () => {
    await post(cas, { name: 'issuer' });
    const below = () => post(cas, { name: 'below', 'issuing-ca': 'issuer' });
    expect(await interleave('write', () => remove(`${cas}/issuer`), below)).toEqual(['409 in-use', '201 done']);
    expect(verdictOf(await remove(`${cas}/below`))).toBe('204 done');
    expect(verdictOf(await remove(`${cas}/issuer`))).toBe('204 done');
  });
});

describe('a policy that is deleted meanwhile is given to nobody', () => {
  test.each([
    ['a tenant', tenants, { name: 'given', policies: ['going'] }],
    ['an approle', approles, { name: 'given', 'token-policies': ['going'] }],
    ['a token', '/v1/state/keystore/token/create', { policies: ['going'] }],
  ] as const)('%s', async (_what, path, body) => {
    await post(policies, policy('going'));
    expect(
      await interleave(
        'write',
        () => post(path, body),
        () => remove(`${policies}/going`),
      ),
    ).toEqual(['400 invalid-value', '204 done']);
  });
});

test('what an earlier version left of a tenant is reported by the check and removed by a job, keys in the token included', async () => {
  const root = await victim.makeTenant('lost', ['root']);
  await post(keys, { name: 'left', custody: 'token' }, root);
  await post(cas, { name: 'left' }, root);
  await post(policies, policy('left'), root);
  await post(approles, { name: 'left' }, root);
  await post(`${approles.replace('config', 'state')}/left/generate-secret-id`, {}, root);
  await post(services, service, root);
  const { table } = openTenants(victim.store);
  const { uuid } = table.get(['lost']) as { uuid: string };
  await victim.store.write((transaction) => {
    transaction.delete(table, ['lost']);
    transaction.delete(victim.store.table('tenant-names'), [uuid]);
  });
  victim.store.refresh();
  const found = (await victim.check()).filter(({ problem }) => problem === 'belongs to a tenant that does not exist');
  expect(found.map(({ where }) => where).sort()).toEqual(
    ['approles', 'est/cas', 'login-grants', 'oidc/services', 'policies', 'tokens', 'transit/keys'].map((name) => `${name} ${uuid}`),
  );
  const signal = new AbortController().signal;
  for (const name of ['dead-tenants', 'est-housekeeping']) await victim.jobs.find((job) => job.name === name)?.run(signal);
  expect(victim.logged.filter(({ message }) => message.startsWith('records of a tenant'))).toHaveLength(1);
});
