// OpenBao CVE-2026-46405: a token was issued although a step of the login had failed.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { startVictim, verdictOf, type Victim } from '../victim.ts';

let victim: Victim;
const approles = 'keystore/authentication/approles';
beforeAll(async () => {
  victim = await startVictim({ configuration: { vault: { tenants: { system: {} } } } });
});
beforeEach(() => victim.clock.advance(61));

async function makeApprole(name: string, document: object = {}): Promise<{ 'role-id': string; 'secret-id': string }> {
  await victim.request('POST', `/v1/config/${approles}`, { name, 'token-policies': ['user'], ...document });
  const { 'role-id': roleId } = (await victim.request('GET', `/v1/state/${approles}/${name}`)).body;
  return {
    'role-id': roleId,
    'secret-id': (await victim.request('POST', `/v1/state/${approles}/${name}/generate-secret-id`, {})).body['secret-id'],
  };
}

const login = (body: object) => victim.request('POST', '/v1/approle-login', body, { token: undefined });
const tokens = async () => ((await victim.request('GET', '/v1/state/keystore/tokens')).body as unknown[]).length;

test('no refused login leaves a token or answers with one', async () => {
  const [one, other] = [await makeApprole('one'), await makeApprole('other')];
  const bound = await makeApprole('bound', { 'secret-id-bound-cidrs': ['10.0.0.0/8'] });
  const spent = await makeApprole('spent', { 'secret-id-num-uses': 1 });
  await login(spent);
  const before = await tokens();
  const mixes = [
    { ...one, 'secret-id': other['secret-id'] },
    { ...one, 'role-id': other['role-id'] },
    bound,
    spent,
    { ...one, 'secret-id': '' },
  ];
  for (const mix of mixes) {
    const answer = await login(mix);
    expect(verdictOf(answer)).toBe('401 login-failed');
    expect(answer.body).not.toHaveProperty('token');
    expect(answer.headers['set-cookie']).toBeUndefined();
  }
  for (let n = 0; n < 12; n++) await login({ ...one, 'secret-id': 'wrong' });
  expect(verdictOf(await login({ ...one, 'secret-id': 'wrong' }))).toBe('429 rate-limited');
  expect(await tokens()).toBe(before);
});

test('a login that the API of Vault refuses from this address leaves no token', async () => {
  const elsewhere = await makeApprole('elsewhere', { 'token-bound-cidrs': ['10.0.0.0/8'] });
  const before = await tokens();
  const asked = { role_id: elsewhere['role-id'], secret_id: elsewhere['secret-id'] };
  const answer = await victim.request('POST', '/v1/auth/approle/login', asked, { token: undefined });
  expect([answer.status, answer.body.errors]).toEqual([403, [expect.stringContaining('does not work from this address')]]);
  expect(await tokens()).toBe(before);
});

test('the token of an approle can log out and ends with that', async () => {
  const { token } = (await login(await makeApprole('leaver'))).body;
  expect(await victim.verdict('POST', '/v1/state/keystore/token/info', {}, { token })).toBe('200 done');
  expect(await victim.verdict('POST', '/v1/logout', {}, { token })).toBe('204 done');
  expect(await victim.verdict('POST', '/v1/state/keystore/token/info', {}, { token })).toBe('401 invalid-token');
});

test('tokens elsewhere than in the Authorization header are ignored', async () => {
  const { token } = (await login(await makeApprole('carrier'))).body;
  const path = '/v1/state/keystore/tokens';
  const without = { token: undefined };
  expect(await victim.verdict('GET', `${path}?access_token=${victim.rootToken}`, undefined, without)).toBe('401 invalid-token');
  for (const headers of [
    { cookie: `__Host-session=${victim.rootToken}; token=${victim.rootToken}` },
    { 'x-vault-token': victim.rootToken },
    { 'x-auth-token': victim.rootToken },
    { authorization: `Basic ${Buffer.from(`:${victim.rootToken}`).toString('base64')}` },
    { authorization: victim.rootToken },
    { authorization: `Bearer ${victim.rootToken}, Bearer ${String(token)}` },
    { 'proxy-authorization': `Bearer ${victim.rootToken}` },
  ]) {
    expect(await victim.verdict('GET', path, undefined, { ...without, headers })).toBe('401 invalid-token');
  }
});
