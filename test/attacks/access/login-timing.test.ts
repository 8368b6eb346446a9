// OpenBao CVE-2025-54999 and GHSA-34fc-gh42-pj53: a refused login told whether the user existed, or how much was right. Here by its words;
// by the time it takes: npm run soak, test/soak/timing.test.ts.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
let roleId: string;
let secretId: string;

beforeAll(async () => {
  victim = await startVictim();
  const approles = 'keystore/authentication/approles';
  await victim.request('POST', `/v1/config/${approles}`, { name: 'known', 'token-policies': ['user'] });
  roleId = (await victim.request('GET', `/v1/state/${approles}/known`)).body['role-id'];
  secretId = (await victim.request('POST', `/v1/state/${approles}/known/generate-secret-id`, {})).body['secret-id'];
});

const unknown = '00000000-0000-4000-8000-000000000000';
/** As long as the right one and as like it as can be. */
const almost = (text: string): string => text.slice(0, -1) + (text.endsWith('0') ? '1' : '0');

test('a refused login looks the same, headers included, whatever is wrong with it', async () => {
  const kinds = [
    { 'role-id': unknown, 'secret-id': unknown },
    { 'role-id': roleId, 'secret-id': unknown },
    { 'role-id': roleId, 'secret-id': almost(secretId) },
    { 'role-id': almost(roleId), 'secret-id': secretId },
    { 'role-id': unknown, 'secret-id': secretId },
    { 'role-id': roleId, 'secret-id': '' },
    { 'role-id': '', 'secret-id': secretId },
  ];
  const answers = new Set<string>();
  for (const body of kinds) {
    const answer = await victim.request('POST', '/v1/approle-login', body, { token: undefined });
    answers.add(JSON.stringify([answer.status, { ...answer.body, 'request-id': '' }, { ...answer.headers, 'request-id': '', date: '' }]));
  }
  expect([...answers]).toHaveLength(1);
  expect([...answers][0]).toContain('login-failed');
});

test('a token that is nearly right is refused as one that is not', async () => {
  const kinds = [unknown, almost(victim.rootToken), `${victim.rootToken}0`, victim.rootToken.slice(0, -1), victim.rootToken.toUpperCase()];
  const answers = new Set<string>();
  for (const token of kinds.filter((one) => one !== victim.rootToken)) {
    const { status, body } = await victim.request('GET', '/v1/config/tenants', undefined, { token });
    answers.add(JSON.stringify([status, { ...body, 'request-id': '' }]));
  }
  expect([...answers]).toHaveLength(1);
});
