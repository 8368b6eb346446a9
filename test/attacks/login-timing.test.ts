// OpenBao CVE-2025-54999 and GHSA-34fc-gh42-pj53: how long a refused login took told whether the user existed, or how much was right.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from './victim.ts';

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

test('a refused login looks the same and takes as long, whatever is wrong with it', async () => {
  const kinds: Readonly<Record<string, object>> = {
    'unknown role-id': { 'role-id': unknown, 'secret-id': unknown },
    'known role-id': { 'role-id': roleId, 'secret-id': unknown },
    'almost the secret-id': { 'role-id': roleId, 'secret-id': almost(secretId) },
    'almost the role-id': { 'role-id': almost(roleId), 'secret-id': secretId },
    'secret-id of another role-id': { 'role-id': unknown, 'secret-id': secretId },
  };
  const names = Object.keys(kinds);
  const times = new Map<string, number[]>(names.map((name) => [name, []]));
  const bodies = new Set<string>();
  for (let round = 0; round < 60; round++) {
    // In turns, so that whatever slows the machine down slows all of them.
    for (const name of names) {
      const began = performance.now();
      const { status, body } = await victim.request('POST', '/v1/approle-login', kinds[name], { token: undefined });
      times.get(name)?.push(performance.now() - began);
      bodies.add(JSON.stringify([status, { ...body, 'request-id': '' }]));
    }
    victim.clock.advance(61);
  }
  expect([...bodies]).toHaveLength(1);
  const medians = names.map((name) => median(times.get(name) ?? []));
  const spread = median(names.flatMap((name) => (times.get(name) ?? []).map((time) => Math.abs(time - median(times.get(name) ?? [])))));
  // What is left is far below what one request differs from the next by itself.
  expect(Math.max(...medians) - Math.min(...medians)).toBeLessThan(Math.max(1.5, 4 * spread));
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

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
