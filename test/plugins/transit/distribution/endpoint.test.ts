// GET …/distribution of an appliance that stands alone: its own token is asked, and what that does not open is not said to be there.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { startTransitHarness, type TransitHarness } from '../harness.ts';

const path = temporaryDirectory();
const distributionOf = (name: string, query = ''): ReturnType<TransitHarness['request']> =>
  harness.request('GET', `/v1/state/keystore/transit-keys/${name}/distribution${query}`);
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(path('appliance'));
  await harness.create('orders', { distribute: { to: 'none' } });
  await harness.do('orders', 'rotate');
});
afterAll(() => harness.stop());

test('its token has opened the version that was asked for, by default the latest, which the audit trail says', async () => {
  const { token } = harness;
  const holds = { self: true, state: 'holds', token: token.name, 'token-serial': expect.stringMatching(/^[0-9a-f]{16}$/) };
  expect((await distributionOf('orders')).body).toEqual({ 'key-version': 2, complete: true, appliances: [holds] });
  expect((await distributionOf('orders', '?version=1')).body).toMatchObject({ 'key-version': 1, complete: true });
  expect(harness.records().at(-1)).toMatchObject({ path: '/v1/state/keystore/transit-keys/orders/distribution', 'key-version': 1 });
  expect((await harness.state('orders'))['distribution-status']).toEqual({ to: 'none' });
});

test('a key or a version that does not exist is not found', async () => {
  expect(await distributionOf('missing')).toMatchObject({ status: 404, body: { code: 'not-found' } });
  expect(await distributionOf('orders', '?version=3')).toMatchObject({ body: { code: 'version-unknown' } });
  expect(await distributionOf('orders', '?version=old')).toMatchObject({ status: 400, body: { code: 'invalid-value' } });
});
