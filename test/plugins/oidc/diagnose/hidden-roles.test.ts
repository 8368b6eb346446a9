// `test` tells nothing of roles to a caller who may not read them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { startOidcHarness, type OidcHarness } from '../harness.ts';

const path = temporaryDirectory();
let harness: OidcHarness;
const service = '/v1/config/keystore/authentication/oidc/corp';
const state = '/v1/state/keystore/authentication/oidc/corp';

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
  await harness.setService();
});
afterAll(() => harness.close());

let made = 0;
async function report(...rules: readonly object[]) {
  const { appliance } = harness;
  const name = `tester-${(made += 1)}`;
  const own = [{ path: service, operations: { read: 'allow' } }, { path: `${state}/test`, operations: { execute: 'allow' } }, ...rules];
  await appliance.request('POST', '/v1/config/policy/policies', { name, 'rest-api': { rules: own } });
  const { body } = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: [name] });
  const answer = await appliance.request('POST', `${state}/test`, {}, { token: body.token });
  expect(answer.status).toBe(200);
  return answer.body;
}

test('without a role, and with one that has a scope of its own', async () => {
  const list = { path: `${service}/roles`, operations: { read: 'allow' } };
  const refusing = { path: `${service}/roles/*`, operations: { read: 'reject' } };
  const stateRefusing = { path: `${state}/roles/*`, operations: { read: 'reject' } };
  const hiding = { path: `${service}/roles/*`, operations: { read: 'allow' }, 'hide-fields': ['oidc-scopes'] };
  const unseen = [[], [list, refusing, stateRefusing], [list, hiding, stateRefusing]];
  const blind = await Promise.all(unseen.map((rules) => report(...rules)));
  expect(JSON.stringify((await report(list)).findings)).toContain('There is no role');
  // Nobody can sign in, which only those learn who may list the roles.
  expect(blind[0]).toMatchObject({ usable: true });
  await harness.setRole('admins', { 'token-policies': ['user'], 'oidc-scopes': ['payroll-secrets'] });
  for (const rules of unseen) {
    const told = JSON.stringify(await report(...rules));
    expect(told).not.toMatch(/payroll|"scopes"|The roles do not ask|There is no role/);
  }
  const seen = await report(list, { path: `${service}/roles/*`, operations: { read: 'allow' } });
  expect(seen.scopes).toContain('payroll-secrets');
  expect(JSON.stringify(seen.findings)).toContain('The roles do not ask for the scopes');
});
