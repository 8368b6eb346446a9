// Our own mistake: the answer to a merge, a replacement or a dry run depended on a stored field that its caller may not read.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
const keys = '/v1/config/keystore/transit-keys';
const tenants = '/v1/config/tenants';
const cas = '/v1/config/keystore/tls/ca';
const stateOf = (path: string): string => path.replace('/config/', '/state/');

beforeAll(async () => {
  victim = await startVictim();
});

async function make(list: string, name: string, document: object): Promise<string> {
  const { status, body } = await victim.request('POST', list, { name, ...document });
  expect(status, JSON.stringify(body)).toBe(201);
  return `${list}/${name}`;
}

let policies = 0;
async function tokenWith(...rules: readonly unknown[]): Promise<string> {
  const name = `asking-${(policies += 1)}`;
  await victim.makePolicy(name, rules);
  return victim.makeToken([name]);
}

const changing = (list: string, ...hidden: readonly string[]): readonly object[] => [
  { path: `${list}/*`, operations: { update: 'allow', delete: 'allow', read: 'allow' }, 'hide-fields': hidden },
  { path: `${stateOf(list)}/*`, operations: { read: 'allow' }, 'hide-fields': hidden },
];

test('a container that is stated empty, or in part, does not tell whether there is one', async () => {
  const timed = await make(keys, 'timed', { 'auto-rotate': { 'rotate-after': '30d', 'activate-after': '1d' } });
  const plain = await make(keys, 'plain', {});
  const rotating = { path: `${stateOf(keys)}/*/rotate`, operations: { execute: 'allow' } };
  for (const hidden of [['auto-rotate'], ['auto-rotate/rotate-after', 'auto-rotate/activate-after']]) {
    const token = await tokenWith(...changing(keys, ...hidden), rotating);
    const ask = (path: string, body: object, query = '') => victim.verdict('PATCH', `${path}${query}`, body, { token });
    for (const query of ['', '?validate=true', '?lists=replace']) {
      for (const inner of [{}, { 'activate-after': null }, { 'deprecate-after': null }]) {
        const answers = [await ask(timed, { 'auto-rotate': inner }, query), await ask(plain, { 'auto-rotate': inner }, query)];
        expect(answers[0], JSON.stringify([hidden, query, inner])).toBe(answers[1]);
      }
    }
  }
  const seeing = await tokenWith(...changing(keys), rotating);
  expect(await victim.verdict('PATCH', timed, { 'auto-rotate': {} }, { token: seeing })).toBe('204 done');
  expect(await victim.verdict('PATCH', plain, { 'auto-rotate': {} }, { token: seeing })).toBe('400 missing-field');
});

test('a container that is always there is merged as before, also by a caller who does not see it', async () => {
  const ca = await make(cas, 'merged', { est: { enabled: false } });
  const token = await tokenWith(...changing(cas, 'est'));
  expect(await victim.verdict('PATCH', ca, { est: {} }, { token })).toBe('204 done');
});

test('a replacement that leaves policies out does not tell the kind of a tenant, by which they have a default', async () => {
  const owner = await make(tenants, 'an-owner', { kind: 'application-owner', policies: ['root'] });
  const provider = await make(tenants, 'a-provider', { kind: 'site-provider', policies: ['root'] });
  const ask = async (path: string, token: string, query = '') => victim.verdict('PUT', `${path}${query}`, {}, { token });
  const blind = await tokenWith(...changing(tenants, 'kind'));
  for (const query of ['?validate=true', ''])
    expect([await ask(owner, blind, query), await ask(provider, blind, query)]).toEqual(Array(2).fill('403 policy-denied'));
  const seeing = await tokenWith(...changing(tenants));
  expect([await ask(owner, seeing), await ask(provider, seeing)]).toEqual(['403 policy-denied', '204 done']);
});

test('a dry run of the deletion of a CA does not tell that another is below it', async () => {
  const [above, alone] = [await make(cas, 'above', {}), await make(cas, 'alone', {})];
  await make(cas, 'below', { 'issuing-ca': 'above' });
  const hidingOne = ['config', 'state'].map((tree) => ({
    ...{ path: `/v1/${tree}/keystore/tls/ca/below`, operations: { all: 'allow' }, 'hide-fields': ['issuing-ca'] },
  }));
  const ask = async (path: string, token: string) => victim.verdict('DELETE', `${path}?validate=true`, undefined, { token });
  const blind = await tokenWith(...changing(cas), ...hidingOne);
  expect([await ask(above, blind), await ask(alone, blind)]).toEqual(Array(2).fill('403 policy-denied'));
  const seeing = await tokenWith(...changing(cas));
  expect([await ask(above, seeing), await ask(alone, seeing)]).toEqual(['409 in-use', '204 done']);
});

/** Asks for dry runs of deletions with a token that may read all of a list but one field of one entry, and with one that may read that, too. */
async function removalVerdicts(list: string, hidden: { readonly path: string; readonly field: string }, asked: readonly string[]) {
  const hiding = [hidden.path, stateOf(hidden.path)].map((path) => ({ path, operations: { all: 'allow' }, 'hide-fields': [hidden.field] }));
  const ask = async (token: string) =>
    Promise.all(asked.map((path) => victim.verdict('DELETE', `${path}?validate=true`, undefined, { token })));
  return [await ask(await tokenWith(...changing(list), ...hiding)), await ask(await tokenWith(...changing(list)))];
}

const refusedTwice = Array(2).fill('403 policy-denied');

test('a dry run of the deletion of an OpenPGP primary key does not tell that a key is its subkey, nor one of a change that ends its role', async () => {
  const document = { cipher: 'ed25519', 'deletion-allowed': true };
  const [bound, alone] = [
    await make(keys, 'bound', { ...document, 'openpgp-user-id': 'A <a@example.com>' }),
    await make(keys, 'unbound', { ...document, 'openpgp-user-id': 'B <b@example.com>' }),
  ];
  const subkey = await make(keys, 'subkey', { ...document, 'openpgp-primary': 'bound', 'openpgp-key-usage': ['sign'] });
  const plain = await make(keys, 'no-openpgp', document);
  const hidden = { path: subkey, field: 'openpgp-primary' };
  expect(await removalVerdicts(keys, hidden, [bound, alone])).toEqual([refusedTwice, ['409 in-use', '204 done']]);
  // Nothing of others decides about a key that is none of OpenPGP.
  const own = await tokenWith(
    ...['config', 'state'].map((tree) => ({ path: `/v1/${tree}/keystore/transit-keys/no-openpgp`, operations: { all: 'allow' } })),
  );
  expect(await victim.verdict('DELETE', `${plain}?validate=true`, undefined, { token: own })).toBe('204 done');
  const ending = { path: `${stateOf(keys)}/*/certify-subkey`, operations: { execute: 'allow' } };
  const hiding = [subkey, stateOf(subkey)].map((path) => ({ path, operations: { read: 'allow' }, 'hide-fields': ['openpgp-primary'] }));
  const [blind, seeing] = [await tokenWith(...changing(keys), ...hiding, ending), await tokenWith(...changing(keys), ending)];
  const end = (path: string, token: string, more: object = {}) =>
    victim.verdict('PATCH', `${path}?validate=true`, { 'openpgp-user-id': null, ...more }, { token });
  expect([await end(bound, blind), await end(alone, blind)]).toEqual(refusedTwice);
  expect([await end(bound, seeing), await end(alone, seeing)]).toEqual(['409 in-use', '204 done']);
  // Without validate: a request that is refused whatever names the key.
  const harmless = (path: string) =>
    victim.verdict('PATCH', path, { 'openpgp-user-id': null, 'openpgp-key-usage': ['sign'] }, { token: blind });
  expect([await harmless(bound), await harmless(alone)]).toEqual(Array(2).fill('400 invalid-value'));
});

test('a dry run of the deletion of a policy tells neither that a tenant has it nor that a token has', async () => {
  const policiesList = '/v1/config/policy/policies';
  const narrow = { 'rest-api': { rules: [{ path: '/v1/**', operations: { all: 'reject' } }] } };
  const [bounding, held, free] = [
    await make(policiesList, 'bounding', narrow),
    await make(policiesList, 'held', narrow),
    await make(policiesList, 'free', narrow),
  ];
  const bounded = await make(tenants, 'bounded', { kind: 'application-owner', policies: ['bounding'] });
  await victim.makeToken(['held']);
  const reading = changing(tenants);
  const hiding = [bounded, stateOf(bounded)].map((path) => ({ path, operations: { read: 'allow' }, 'hide-fields': ['policies'] }));
  const ask = async (token: string, ...asked: readonly string[]) =>
    Promise.all(asked.map((path) => victim.verdict('DELETE', `${path}?validate=true`, undefined, { token })));
  const blind = await tokenWith(...changing(policiesList), ...reading, ...hiding);
  expect(await ask(blind, bounding, free)).toEqual(refusedTwice);
  const seeing = await tokenWith(...changing(policiesList), ...reading);
  expect(await ask(seeing, bounding, free)).toEqual(['409 in-use', '204 done']);
  const deleting = await tokenWith({ path: `${policiesList}/*`, operations: { read: 'allow', delete: 'allow' } }, ...reading);
  expect(await ask(deleting, held, free)).toEqual(refusedTwice);
});

test('a dry run of the deletion of an OIDC role does not tell which policies another role of its service gives', async () => {
  const services = '/v1/config/keystore/authentication/oidc';
  const service = {
    ...{ 'discovery-url': 'https://id.example/.well-known/openid-configuration', 'client-id': 'x', 'client-secret': 'y'.repeat(32) },
    ...{ 'role-select': { 'role-claim': 'groups' }, 'allowed-redirect-uris': ['https://keys.example/oidc-callback'] },
  };
  const narrow = { 'rest-api': { rules: [{ path: '/v1/config/keystore/transit-keys/secret', operations: { all: 'reject' } }] } };
  await make('/v1/config/policy/policies', 'narrow', narrow);
  await make('/v1/config/policy/policies', 'wide', {
    'rest-api': { rules: [{ path: '/v1/config/keystore/transit-keys/*', operations: { all: 'allow' } }] },
  });
  const paths: string[] = [];
  for (const name of ['with-others', 'without']) {
    await make(services, name, service);
    paths.push(await make(`${services}/${name}/roles`, 'asked', { 'token-policies': ['narrow'] }));
  }
  const other = await make(`${services}/with-others/roles`, 'other', { 'token-policies': ['wide'] });
  const hiding = [other, stateOf(other)].map((path) => ({ path, operations: { read: 'allow' }, 'hide-fields': ['token-policies'] }));
  const lists = ['with-others', 'without'].map((name) => `${services}/${name}/roles`);
  const seesAll = lists.flatMap((list) => changing(list));
  const ask = async (token: string, path: string) => victim.verdict('DELETE', `${path}?validate=true`, undefined, { token });
  const blind = await tokenWith(...seesAll, ...hiding);
  const hidden = [other, `${lists[1]}/other`]
    .flatMap((path) => [path, stateOf(path)])
    .map((path) => ({ path, operations: { read: 'allow' }, 'hide-fields': ['token-policies'] }));
  expect([await ask(blind, paths[0] ?? ''), await ask(await tokenWith(...seesAll, ...hidden), paths[1] ?? '')]).toEqual(refusedTwice);
  expect(await ask(await tokenWith(...seesAll), paths[1] ?? '')).toBe('204 done');
});
