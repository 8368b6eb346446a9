// OpenBao CVE-2026-5807 and CVE-2025-52894: unauthenticated callers could cancel or disturb the creation of a root token. Here it is one call, once.
// Over several processes and a kill: test/appliance/provisioning/root-token.long.test.ts.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, verdictOf, type Victim } from '../victim.ts';

let victim: Victim;
const createRoot = '/v1/state/keystore/token/create-root';
beforeAll(async () => {
  victim = await startVictim();
});

test('a hundred at once, mixed with unauthenticated and unauthorized callers: one token, and the others learn nothing', async () => {
  await victim.request('POST', '/v1/config/tenants', { name: 'contested' });
  const user = await victim.makeToken(['user']);
  const neighbour = await victim.makeTenant('neighbour', ['root']);
  const callers = [victim.rootToken, undefined, 'rubbish', user, neighbour];
  const answers = await Promise.all(
    Array.from({ length: 150 }, async (_, n) => {
      const token = callers[n % callers.length];
      return [token, verdictOf(await victim.request('POST', createRoot, { name: 'contested' }, { token }))] as const;
    }),
  );
  const of = (token: string | undefined) => answers.filter(([who]) => who === token).map(([, verdict]) => verdict);
  expect(of(victim.rootToken).filter((verdict) => verdict === '200 done')).toHaveLength(1);
  expect(of(victim.rootToken).filter((verdict) => verdict === '409 root-token-exists')).toHaveLength(29);
  expect(new Set(of(undefined))).toEqual(new Set(['401 invalid-token']));
  expect(new Set(of('rubbish'))).toEqual(new Set(['401 invalid-token']));
  expect(new Set(of(user))).toEqual(new Set(['403 policy-denied']));
  expect(new Set(of(neighbour))).toEqual(new Set(['404 not-found']));
});

test('there is nothing to cancel, to reset or to do over', async () => {
  await victim.makeTenant('settled');
  expect(await victim.verdict('POST', createRoot, { name: 'settled' })).toBe('409 root-token-exists');
  expect(await victim.verdict('PATCH', '/v1/config/tenants/settled', { 'root-token-issued': false })).toBe('400 read-only-field');
  expect(await victim.verdict('PUT', '/v1/config/tenants/settled', {})).toBe('204 done');
  expect(await victim.verdict('POST', createRoot, { name: 'settled' })).toBe('409 root-token-exists');
  for (const method of ['DELETE', 'PUT', 'GET', 'PATCH']) {
    expect(await victim.verdict(method, createRoot, undefined, { token: undefined })).toBe('405 method-not-allowed');
  }
});

test('whether a tenant exists is not told to those who may not ask', async () => {
  const user = await victim.makeToken(['user']);
  for (const name of ['settled', 'nowhere'])
    expect(await victim.verdict('POST', createRoot, { name }, { token: user })).toBe('403 policy-denied');
});
