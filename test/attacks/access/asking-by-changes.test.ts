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
