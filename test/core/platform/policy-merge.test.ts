// A rule that is merged into a policy again is the same rule, whatever it leaves out.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
});
afterAll(() => appliance.close());

const policy = '/v1/config/policy/policies/merged';
const rule = { path: '/v1/state/keystore/transit-keys/*/sign', operations: { execute: 'allow' } };
const rules = async (): Promise<readonly unknown[]> => (await appliance.request('GET', policy)).body['rest-api'].rules;

test.each([
  ['as it was sent', rule],
  ['with what is the default anyway', { ...rule, 'hide-fields': [] }],
])('%s', async (_, again) => {
  expect((await appliance.request('PUT', policy, { 'rest-api': { rules: [rule] } })).status).toBeLessThan(300);
  for (const one of [[again], [again, rule]])
    expect((await appliance.request('PATCH', policy, { 'rest-api': { rules: one } })).status).toBeLessThan(300);
  expect(await rules()).toHaveLength(1);
  await appliance.request('PATCH', policy, { 'rest-api': { rules: [{ ...rule, 'hide-fields': ['signature'] }] } });
  expect(await rules()).toHaveLength(2);
});
