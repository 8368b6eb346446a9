// A key object that was removed from the token by other means has its own error code, for transit keys and for CAs.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TokenConfig } from '../../../../hsm/api.ts';
import { basic } from '../../est/client.ts';
import { secret, startEstAppliance } from '../../est/est-appliance.ts';
import { makeCsr, makeDeviceCsr, makeKeys } from '../../ca/pki.ts';
import { startTestAppliance, type TestAppliance } from '../../../harness/appliance.ts';
import { pem } from '../../../harness/token/odd-keys.ts';
import { makeSoftToken } from '../../../harness/token/softhsm.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { keyObjectLabels, removeKeyObject } from '../../../harness/token/token-objects.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
const cas = '/v1/state/keystore/tls/ca';
const missing = '409 key-object-missing';
let appliance: TestAppliance;
let token: TokenConfig;

beforeAll(async () => {
  token = await makeSoftToken(path('harness'));
  appliance = await startTestAppliance({ directory: path('harness'), tokens: [token] });
});
afterAll(() => appliance.close());

/** Removes what `make` puts into the token. */
async function lose(type: 'privkey' | 'secrkey', make: () => Promise<unknown>): Promise<void> {
  const pin = readFileSync((token.pin as { file: string }).file, 'utf8');
  const before = await keyObjectLabels(token, pin);
  await make();
  const made = (await keyObjectLabels(token, pin)).filter((label) => !before.includes(label));
  expect(made).toHaveLength(1);
  await removeKeyObject(token, pin, type, made[0] as string);
}

async function verdict(address: string, body: object = {}): Promise<string> {
  const answer = await appliance.request('POST', address, body);
  return `${answer.status} ${String(answer.body?.code ?? 'done')}`;
}

const restart = async (): Promise<void> => {
  await appliance.close();
  appliance = await startTestAppliance({ directory: path('harness'), tokens: [token], rootToken: appliance.rootToken });
};

test('a transit key whose object is gone: 409 key-object-missing, loaded or not; its other versions work, and rotate helps', async () => {
  const plaintext = 'AAAA';
  await lose('secrkey', async () => {
    expect(await verdict(keys, { name: 'aes', custody: 'token', 'deletion-allowed': true })).toBe('201 done');
  });
  await lose('privkey', async () => {
    expect(await verdict(keys, { name: 'curve', cipher: 'ecdsa-p256', custody: 'token', 'allow-plaintext-backup': true })).toBe('201 done');
  });
  for (const again of [false, true]) {
    if (again) await restart();
    expect(await verdict(`${actions}/aes/encrypt`, { plaintext, 'key-version': 1 })).toBe(missing);
    expect(await verdict(`${actions}/curve/sign`, { text: plaintext, 'key-version': 1 })).toBe(missing);
    expect(await verdict(`${actions}/curve/backup`)).toBe(missing);
    expect((await appliance.request('GET', `${actions}/curve/distribution`)).body).toMatchObject({
      complete: false,
      appliances: [{ self: true, state: 'lacks', reason: expect.stringContaining('its token') }],
    });
    // The companion secrets are wrapped, not objects.
    expect(await verdict(`${actions}/aes/hmac`, { plaintext })).toBe('200 done');
    expect(await verdict(`${actions}/aes/rotate`)).toBe('204 done');
    expect(await verdict(`${actions}/aes/encrypt`, { plaintext })).toBe('200 done');
  }
  const { body } = await appliance.request('POST', `${actions}/aes/encrypt`, {
    'batch-input': [{ plaintext, 'key-version': 1 }, { plaintext }],
  });
  expect(body['batch-results'].map((one: { code?: string }) => one.code)).toEqual(['key-object-missing', undefined]);
  expect(appliance.logged.filter(({ message }) => message.startsWith('key-object-missing'))).not.toEqual([]);
  expect((await appliance.request('DELETE', `${keys}/aes`)).status).toBe(204);
  expect((await appliance.request('GET', '/v1/state/system/health')).status).toBe(200);
});

test('a CA whose key object is gone signs nothing: 409 key-object-missing, until it is renewed', async () => {
  const csr = pem('CERTIFICATE REQUEST', await makeCsr({ keys: await makeKeys('P-256'), subject: 'CN=device' }));
  await lose('privkey', () => verdict('/v1/config/keystore/tls/ca', { name: 'ca', subject: 'CN=ca', 'cert-key-type': 'ecdsa' }));
  for (const again of [false, true]) {
    if (again) await restart();
    expect(await verdict(`${cas}/ca/sign-csr`, { csr })).toBe(missing);
    expect(await verdict(`${cas}/ca/csr`)).toBe(missing);
  }
  expect(await verdict(`${cas}/ca/renew`)).toBe('200 done');
  expect(await verdict(`${cas}/ca/sign-csr`, { csr })).toBe('200 done');
});

test('a device whose CA has lost its key is told to come again: 503 with Retry-After', async () => {
  const harness = await startEstAppliance({ tokens: async (directory) => [(token = await makeSoftToken(directory))] });
  let ca = '';
  await lose('privkey', async () => (ca = await harness.makeCa()));
  const reply = await harness.enrol(ca, 'simpleenroll', await makeDeviceCsr(await makeKeys('P-256'), 'device.example.test'), {
    headers: { Authorization: basic(secret) },
  });
  expect([reply.status, reply.headers['retry-after']]).toEqual([503, '30']);
});
