// OpenBao, GHSA-8w8f-r2xv-4q4j: an RSA key created with derived=true crashed the server. Every pair of cipher and flag, right or wrong.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
beforeAll(async () => {
  victim = await startVictim();
});

const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
const symmetric = ['aes128-gcm96', 'aes192-gcm96', 'aes256-gcm96'];
const asymmetric = ['rsa-2048', 'rsa-3072', 'ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'ml-dsa-65'];
const flags: readonly Record<string, unknown>[] = [
  { derived: true },
  { 'convergent-encryption': true },
  { derived: true, 'convergent-encryption': true },
  { derived: 'true' },
  { exportable: 1 },
  { 'openpgp-user-id': 'a <a@example.org>' },
  { 'openpgp-primary': 'nothing', 'openpgp-key-usage': ['sign'] },
  { 'public-key': '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n' },
  { 'min-encryption-version': 7 },
  { 'auto-rotate': {} },
  { 'auto-rotate': { 'rotate-after': '1s' } },
  { 'latest-version': 5 },
];

test.each([...symmetric, ...asymmetric, 'rsa', 'AES256-GCM96', '', 'rsa-2048\u0000', '__proto__'])(
  '%s with every flag is made or refused with 4xx',
  async (cipher) => {
    for (const [index, flag] of flags.entries()) {
      const { status, body } = await victim.request('POST', keys, { name: `flagged-${index}`, cipher, ...flag });
      expect([cipher, flag, status, body.code ?? 'made']).toEqual([cipher, flag, expect.toSatisfy((one: number) => one === 201 || (one >= 400 && one < 500)), expect.any(String)]); // prettier-ignore
      await victim.request('PATCH', `${keys}/flagged-${index}`, { 'deletion-allowed': true });
      await victim.request('DELETE', `${keys}/flagged-${index}`);
    }
  },
);

test.each(asymmetric.filter((cipher) => !cipher.startsWith('ml-')))('%s: derived is refused, at creation and later', async (cipher) => {
  for (const flag of [{ derived: true }, { 'convergent-encryption': true }]) {
    expect(await victim.verdict('POST', keys, { name: 'derived', cipher, ...flag })).toMatch(/^400 /);
  }
  expect(await victim.verdict('POST', keys, { name: `plain-${cipher}`, cipher })).toBe('201 done');
  expect(await victim.verdict('PATCH', `${keys}/plain-${cipher}`, { derived: true })).toMatch(/^4(00|09) /);
});

test('every action on every kind of key answers, and none with 5xx', async () => {
  const kinds = { aes: {}, derived: { derived: true }, rsa: { cipher: 'rsa-2048' }, ed: { cipher: 'ed25519' } };
  const body = { plaintext: '', text: '', ciphertext: 'store:v1:AAAA', signature: 'store:v1:AAAA', context: 'c', data: 'x', version: 1 };
  for (const [name, document] of Object.entries(kinds)) {
    await victim.request('POST', keys, { name, ...document });
    for (const action of ['encrypt', 'decrypt', 'rewrap', 'sign', 'verify', 'hmac', 'import', 'trim', 'openpgp-sign', 'openpgp-verify']) {
      for (const fields of [{}, body, ...Object.entries(body).map(([field, value]) => ({ [field]: value }))]) {
        expect((await victim.request('POST', `${actions}/${name}/${action}`, fields)).status).toBeLessThan(500);
      }
    }
  }
});
