// A common mistake: policies that narrow others are left out, by who gives the others on, changes what gives them, or deletes the one that narrows.
import { beforeAll, describe, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
const approles = '/v1/config/keystore/authentication/approles';
const oidc = '/v1/config/keystore/authentication/oidc';
const policies = '/v1/config/policy/policies';
const create = '/v1/state/keystore/token/create';
const payroll = '/v1/config/keystore/transit-keys/payroll';

beforeAll(async () => {
  victim = await startVictim();
  await victim.makePolicy('wide', [{ path: '/v1/**', operations: { all: 'allow' } }]);
  await victim.makePolicy('no-payroll', [
    { path: `${payroll}/**`, operations: { all: 'reject' } },
    { path: `${policies}/**`, operations: { all: 'reject' } },
  ]);
  await victim.makePolicy('few-fields', [{ path: payroll, operations: { read: 'allow' }, 'hide-fields': ['cipher'] }]);
  await victim.makePolicy('logins', [{ path: '/v1/config/keystore/authentication/**', operations: { all: 'allow' } }]);
  await victim.makePolicy('keys', [{ path: '/v1/state/keystore/transit-keys/**', operations: { execute: 'allow' } }]);
  await victim.request('POST', '/v1/config/keystore/transit-keys', { name: 'payroll' });
  await victim.request('POST', oidc, {
    name: 'idp',
    'discovery-url': 'https://idp.example/.well-known/openid-configuration',
    'client-id': 'c',
    'client-secret': 's',
    'role-select': { 'role-claim': 'groups' },
    'allowed-redirect-uris': ['https://keystore.example/oidc-callback'],
  });
});

const refused = '403 policy-denied';

async function loginBy(approle: string): Promise<string> {
  const { body: state } = await victim.request('GET', `/v1/state/keystore/authentication/approles/${approle}`);
  const { body: made } = await victim.request('POST', `/v1/state/keystore/authentication/approles/${approle}/generate-secret-id`, {});
  const credentials = { 'role-id': state['role-id'], 'secret-id': made['secret-id'] };
  const { body } = await victim.request('POST', '/v1/approle-login', credentials, { token: undefined });
  return String(body.token);
}

describe('giving on', () => {
  test.each([
    [['wide', 'no-payroll'], ['wide']],
    [['wide', 'few-fields'], ['wide']],
    [['user', 'wide'], ['wide']],
  ])('a token with %s gives no token, approle or role %s alone', async (own, given) => {
    // `user` refuses to make tokens and logins, whatever `wide` says.
    await victim.makePolicy(`gives-${own.join('-')}`, [
      { path: create, operations: { all: 'allow' } },
      { path: '/v1/config/keystore/authentication/**', operations: { all: 'allow' } },
    ]);
    const token = await victim.makeToken([...own, `gives-${own.join('-')}`]);
    const ask = (method: string, path: string, body: unknown) => victim.verdict(method, path, body, { token });
    expect(await ask('POST', create, { policies: given })).toBe(refused);
    expect(await ask('POST', approles, { name: 'mine', 'token-policies': given })).toBe(refused);
    expect(await ask('PUT', `${approles}/mine`, { 'token-policies': given })).toBe(refused);
    expect(await ask('PUT', `${oidc}/idp/roles/mine`, { 'token-policies': given })).toBe(refused);
    // With what narrows them, or nothing of it.
    expect(await ask('POST', create, { policies: own })).toBe('200 done');
    expect(await ask('POST', create, {})).toBe('200 done');
    expect(await ask('POST', create, { policies: [] })).toBe('200 done');
    expect(await ask('POST', approles, { name: `all-${own.join('-')}`, 'token-policies': own })).toBe('201 done');
  });

  test('the refusal names the policy that is left out, its rule, and the way out', async () => {
    const token = await victim.makeToken(['wide', 'no-payroll']);
    const { body } = await victim.request('POST', create, { policies: ['wide'] }, { token });
    expect(String(body.detail)).toBe(
      `"policies" leaves out the policy "no-payroll", whose rule "${payroll}/**" refuses or limits what the rule "/v1/**" of "wide" allows ("create"): give it too.`,
    );
  });

  test('policies that the one left out does not narrow go on, and root gives what it likes', async () => {
    const token = await victim.makeToken(['wide', 'no-payroll', 'keys', 'few-fields']);
    for (const given of [['keys'], ['no-payroll'], ['keys', 'no-payroll'], ['wide', 'no-payroll', 'few-fields']])
      expect([given, await victim.verdict('POST', create, { policies: given }, { token })]).toEqual([given, '200 done']);
    expect(await victim.verdict('POST', create, { policies: ['wide'] })).toBe('200 done');
    const besides = await victim.makeToken(['root', 'no-payroll']);
    expect(await victim.verdict('POST', create, { policies: ['wide'] }, { token: besides })).toBe('200 done');
  });
});

describe('changing what gives them', () => {
  test('who may only change an approle or a role takes no policy away that narrows the rest', async () => {
    const token = await victim.makeToken(['logins']);
    const both = { 'token-policies': ['wide', 'no-payroll', 'keys'] };
    await victim.request('POST', approles, { name: 'both', ...both });
    await victim.request('PUT', `${oidc}/idp/roles/both`, both);
    for (const path of [`${approles}/both`, `${oidc}/idp/roles/both`]) {
      const put = (given: readonly string[]) => victim.verdict('PUT', path, { 'token-policies': given }, { token });
      expect([path, await put(['wide'])]).toEqual([path, refused]);
      expect([path, await put(['wide', 'keys'])]).toEqual([path, refused]);
      expect([path, await put(['wide', 'no-payroll'])]).toEqual([path, '204 done']);
      expect([path, await put(['no-payroll'])]).toEqual([path, '204 done']);
    }
    await victim.request('DELETE', `${oidc}/idp/roles/both`);
  });

  test('nor a role whose policies narrow those of another one that the same people match', async () => {
    const token = await victim.makeToken(['logins']);
    await victim.request('PUT', `${oidc}/idp/roles/staff`, { 'token-policies': ['wide'] });
    await victim.request('PUT', `${oidc}/idp/roles/outside`, { 'token-policies': ['no-payroll'] });
    const path = `${oidc}/idp/roles/outside`;
    expect(await victim.verdict('PUT', path, { 'token-policies': [] }, { token })).toBe(refused);
    expect(await victim.verdict('DELETE', path, undefined, { token })).toBe(refused);
    expect(await victim.verdict('DELETE', `${oidc}/idp/roles/staff`, undefined, { token })).toBe('204 done');
    expect(await victim.verdict('DELETE', path, undefined, { token })).toBe('204 done');
  });

  test('a policy that takes something away from an approle is heard by the tokens that it gave', async () => {
    await victim.request('POST', approles, { name: 'heard', 'token-policies': ['wide'] });
    const token = await loginBy('heard');
    const read = () => victim.verdict('GET', payroll, undefined, { token });
    await victim.request('PATCH', `${approles}/heard`, { 'token-policies': ['keys'] });
    expect(await read()).toBe('200 done');
    await victim.request('PATCH', `${approles}/heard`, { 'token-policies': ['no-payroll'] });
    expect(await read()).toBe('401 invalid-token');
    expect(await victim.verdict('GET', payroll, undefined, { token: await loginBy('heard') })).toBe(refused);
  });

  test('who may only delete policies does not lift what one refuses that is still named', async () => {
    await victim.makePolicy('deletes', [{ path: `${policies}/*`, operations: { delete: 'allow', read: 'allow' } }]);
    await victim.makePolicy('edits', [{ path: `${policies}/*`, operations: { delete: 'allow', update: 'allow' } }]);
    await victim.makePolicy('deletes-blindly', [{ path: `${policies}/*`, operations: { delete: 'allow' } }]);
    const refuses = [{ path: `${payroll}/**`, operations: { all: 'reject' } }];
    const allows = [{ path: payroll, operations: { read: 'allow' } }];
    for (const [name, rules] of Object.entries({ lifted: refuses, harmless: allows, nobodys: refuses }))
      await victim.makePolicy(name, rules);
    const token = await victim.makeToken(['wide', 'lifted']);
    await victim.makeToken(['harmless']);
    const remove = async (as: string, name: string, query = '') =>
      victim.verdict('DELETE', `${policies}/${name}${query}`, undefined, { token: await victim.makeToken([as]) });
    expect(await remove('deletes', 'lifted', '?validate=true')).toBe(refused);
    expect(await remove('deletes', 'lifted')).toBe(refused);
    expect(await remove('deletes-blindly', 'harmless')).toBe(refused);
    expect(await victim.verdict('GET', payroll, undefined, { token })).toBe(refused);
    expect(await remove('deletes', 'harmless')).toBe('204 done');
    expect(await remove('deletes', 'nobodys')).toBe('204 done');
    expect(await remove('edits', 'lifted')).toBe('204 done');
  });
});

describe('bound to addresses', () => {
  test('a token makes no root token, and no sign-in gives policies by it', async () => {
    const bind = async (given: readonly string[]) =>
      String((await victim.request('POST', create, { policies: given, 'bound-cidrs': ['127.0.0.0/8', '::1'] })).body.token);
    const root = await bind(['root']);
    await victim.request('POST', '/v1/config/tenants', { name: 'new' });
    expect(await victim.verdict('POST', '/v1/state/keystore/token/create-root', { name: 'new' }, { token: root })).toBe(refused);
    const change = (method: string, path: string, body: unknown) => victim.verdict(method, path, body, { token: root });
    await victim.request('PUT', `${oidc}/idp/roles/open`, { 'token-policies': ['keys'], 'required-claims': ['mfa'] });
    expect(await change('PUT', `${oidc}/idp/roles/roams`, { 'token-policies': ['keys'] })).toBe(refused);
    expect(await change('PATCH', `${oidc}/idp/roles/open`, { 'token-policies': ['wide'] })).toBe(refused);
    expect(await change('PUT', `${oidc}/idp/roles/open`, { 'token-policies': ['keys'] })).toBe(refused);
    expect(await change('PATCH', `${oidc}/idp/roles/open`, { 'claim-mappings': { sub: 'username' } })).toBe(refused);
    expect(await change('PATCH', `${oidc}/idp`, { 'session-ttl': '20h' })).toBe(refused);
    // Less, or otherwise, goes on.
    expect(await change('PATCH', `${oidc}/idp/roles/open`, { 'oidc-scopes': ['profile'] })).toBe('204 done');
    expect(await change('PUT', `${oidc}/idp/roles/open`, { 'token-policies': [], 'required-claims': ['mfa'] })).toBe('204 done');
  });
});
