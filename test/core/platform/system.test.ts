// The system endpoints: health without a token, the HSM's state for the system tenant.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
});

afterAll(async () => {
  expect(await appliance.check()).toEqual([]);
  await appliance.close();
});

test('health answers without a token and names every part', async () => {
  const answer = await appliance.request('GET', '/v1/state/system/health', undefined, { token: undefined });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    status: 'ok',
    hsm: { tokens: [{ name: 'main', state: 'up' }] },
    audit: { state: 'up' },
    disk: { state: 'up' },
    clock: { state: 'up' },
    workers: { state: 'up' },
  });
});

test('health answers HEAD without a body', async () => {
  const answer = await appliance.request('HEAD', '/v1/state/system/health', undefined, { token: undefined });
  expect(answer).toMatchObject({ status: 200, body: '' });
});

test('the HSM state shows tokens, mechanisms and latencies to the system tenant', async () => {
  const { status, body } = await appliance.request('GET', '/v1/state/system/hsm');
  expect(status).toBe(200);
  expect(body.tokens[0]).toMatchObject({ name: 'main', state: 'up', label: 'test-main' });
  expect(body.tokens[0].mechanisms).toContain('CKM_AES_GCM');
  expect(body.tokens[0]['key-types']).toContain('rsa-2048');
  expect(Object.values(body.tokens[0].latencies)).toContainEqual(expect.objectContaining({ unit: 'microseconds' }));
});

test('the HSM state needs a token', async () => {
  expect((await appliance.request('GET', '/v1/state/system/hsm', undefined, { token: undefined })).status).toBe(401);
});

test('the tokens are tested, and their objects show the attributes that they have', async () => {
  const { status, body } = await appliance.request('POST', '/v1/state/system/test-hsm');
  expect(status).toBe(200);
  const [trial] = body.tokens as readonly { works: boolean; objects: readonly Record<string, unknown>[] }[];
  expect(trial?.works).toBe(true);
  const own = { kind: 'secret', sensitive: true, extractable: false, needless: [] };
  expect(trial?.objects).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ ...own, label: 'keystored-wrapping-key', uses: ['wrap', 'unwrap'] }),
      expect.objectContaining({ ...own, label: 'keystored-binding-key', uses: ['sign'] }),
    ]),
  );
  expect((await appliance.request('POST', '/v1/state/system/test-hsm', undefined, { token: undefined })).status).toBe(401);
});

test('an unknown path is 404 and is not echoed', async () => {
  const answer = await appliance.request('GET', '/v1/state/system/zebra');
  expect(answer).toMatchObject({ status: 404, body: { code: 'not-found' } });
  expect(JSON.stringify(answer.body)).not.toContain('zebra');
});
