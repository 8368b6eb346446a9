// Vault CVE-2025-5999, OpenBao CVE-2025-54996 and CVE-2025-64761: policy names that differed in case from "root" gave root.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
beforeAll(async () => {
  victim = await startVictim();
});

const lookAlikes = [
  'Root',
  'ROOT',
  'rooT',
  ' root',
  'root ',
  'root\u0000',
  'root\n',
  'r\u043e\u043et',
  'ｒｏｏｔ',
  'root\u200b',
  '*',
  '**',
  'root,user',
  '["root"]',
];

test.each(lookAlikes)('%j is neither a policy nor the way to one', async (name) => {
  expect(await victim.verdict('POST', '/v1/config/policy/policies', { name })).toBe('400 invalid-value');
  expect(await victim.verdict('POST', '/v1/config/tenants', { name: 'mimic', policies: [name] })).toBe('400 invalid-value');
  for (const policies of [[name], ['default', name]]) {
    expect(await victim.verdict('POST', '/v1/state/keystore/token/create', { policies })).toBe('400 invalid-value');
    expect(await victim.verdict('POST', '/v1/config/keystore/authentication/approles', { name: 'mimic', 'token-policies': policies })).toBe(
      '400 invalid-value',
    );
  }
});

test('the name of a built-in policy cannot be taken', async () => {
  for (const name of ['root', 'user', 'default', 'app-owner-tenant', 'rewrap-only']) {
    expect(await victim.verdict('POST', '/v1/config/policy/policies', { name })).toBe('409 already-exists');
    expect(await victim.verdict('PUT', `/v1/config/policy/policies/${name}`, {})).toBe('409 built-in');
  }
});
