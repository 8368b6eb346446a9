// Our own mistake: allowed-values judged what a request said, and defaults that hang on other fields got past them. Here: leaving fields out.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;

beforeAll(async () => {
  victim = await startVictim();
});

test.each([
  ['/v1/config/keystore/transit-keys', 'custody', ['token'], { custody: 'token' }],
  ['/v1/config/keystore/tls/ca', 'cert-key-type', ['ed25519'], { 'cert-key-type': 'ed25519' }],
  ['/v1/config/tenants', 'policies', ['default'], { kind: 'application-owner', policies: ['default'] }],
])('%s: a field that is left out counts with its default', async (path, field, allowed, good) => {
  const name = `narrow-${field}`;
  await victim.makePolicy(name, [{ path: `${path}/**`, operations: { all: 'allow' }, 'allowed-values': { [field]: allowed } }]);
  const token = await victim.makeToken([name, 'default']);
  const { [field]: _left, ...without } = good as Record<string, unknown>;
  expect(await victim.verdict('POST', path, { name: 'silent', ...without }, { token })).toBe('403 policy-denied');
  expect(await victim.verdict('PUT', `${path}/silent`, without, { token })).toBe('403 policy-denied');
  expect(await victim.verdict('GET', `${path}/silent`)).toBe('404 not-found');
  expect(await victim.verdict('POST', path, { name: 'said', ...good }, { token })).toBe('201 done');
});
