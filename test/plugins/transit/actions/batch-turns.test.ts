// Batches of many tenants: they take turns at the few places, so that one who sends many holds up no other.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { base64, startTransitHarness, type TransitHarness } from '../harness.ts';

const path = temporaryDirectory();
let harness: TransitHarness;
beforeAll(async () => {
  harness = await startTransitHarness(path());
  await harness.create('key', { cipher: 'rsa-2048' });
});
afterAll(() => harness.stop());

test('a batch of another tenant waits for few of those that were sent before', async () => {
  await harness.request('POST', '/v1/config/tenants', { name: 'other' });
  const { body } = await harness.request('POST', '/v1/state/keystore/token/create-root', { name: 'other' });
  const other = { token: String(body.token) };
  await harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'key', cipher: 'rsa-2048' }, other);
  const batch = { 'batch-input': Array.from({ length: 100 }, () => ({ text: base64('a') })) };
  const at = '/v1/state/keystore/transit-keys/key/sign-batch';
  let done = 0;
  const many = Array.from({ length: 30 }, () => harness.request('POST', at, batch).finally(() => (done += 1)));
  // Six of them come under way, and the others wait. Sent at once, so that it needs its connection when they do.
  const one = await harness.request('POST', at, batch, other);
  expect([one.status, done]).toEqual([200, expect.toSatisfy((before: number) => before < 20)]);
  for (const answer of await Promise.all(many)) expect(answer.status).toBe(200);
});
