// PKCS#11 lore: a key used with a mechanism it was not made for (sign with an encryption key, decrypt with a signature key, weak modes).
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
const actions = '/v1/state/keystore/transit-keys';
const kinds = { aes: 'aes256-gcm96', rsa: 'rsa-2048', ed: 'ed25519', ec: 'ecdsa-p256' } as const;

beforeAll(async () => {
  victim = await startVictim();
  for (const [name, cipher] of Object.entries(kinds)) await victim.request('POST', '/v1/config/keystore/transit-keys', { name, cipher });
});

test('signing keys neither encrypt nor decrypt, AES keys do not sign; a wrapped value opens as nothing else', async () => {
  for (const name of ['rsa', 'ed', 'ec']) {
    for (const [action, body] of [
      ['encrypt', { plaintext: '' }],
      ['decrypt', { ciphertext: 'store:v1:AAAA' }],
      ['rewrap', { ciphertext: 'store:v1:AAAA' }],
      ['generate-data-key', {}],
    ] as const) {
      expect([name, action, await victim.verdict('POST', `${actions}/${name}/${action}`, body)]).toEqual([
        name,
        action,
        '400 operation-not-supported',
      ]);
    }
  }
  expect(await victim.verdict('POST', `${actions}/aes/sign`, { text: '' })).toBe('400 operation-not-supported');
  const { hmac } = (await victim.request('POST', `${actions}/aes/hmac`, { plaintext: '' })).body;
  expect(await victim.verdict('POST', `${actions}/aes/decrypt`, { ciphertext: String(hmac).replace('hashed:', '') })).toMatch(
    /^400 (decryption-failed|invalid-format)/,
  );
});

test('weak or unfitting algorithms are not to be had', async () => {
  for (const [name, fields] of [
    ['rsa', { 'hash-algorithm': 'md5' }],
    ['rsa', { 'hash-algorithm': 'sha1' }],
    ['rsa', { 'hash-algorithm': 'SHA256' }],
    ['rsa', { 'signature-algorithm': 'raw' }],
    ['rsa', { prehashed: true, 'hash-algorithm': 'sha256' }],
    ['ec', { 'signature-algorithm': 'pss' }],
    ['ed', { prehashed: true }],
    ['ec', { marshaling: 'der' }],
  ] as const) {
    expect([name, fields, await victim.verdict('POST', `${actions}/${name}/sign`, { text: 'aGVsbG8=', ...fields })]).toEqual([
      name,
      fields,
      expect.stringMatching(/^400 /),
    ]);
  }
  for (const cipher of ['aes256-ecb', 'aes256-cbc', 'des3', 'rsa-1024', 'rsa-512', 'dsa', 'ecdsa-p192', 'hmac', 'secret-256']) {
    expect(await victim.verdict('POST', '/v1/config/keystore/transit-keys', { name: 'weak', cipher })).toMatch(/^400 /);
  }
});

test('a mechanism that no token offers is named, and no software takes its place', async () => {
  const { status, body } = await victim.request('POST', '/v1/config/keystore/transit-keys', { name: 'pq', cipher: 'ml-dsa-65' });
  expect([status, body.code]).toEqual([400, 'unsupported-cipher']);
  expect(body.detail).toContain('CKM_ML_DSA');
});
