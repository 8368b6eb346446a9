// OpenBao PR 3668: HMAC verification ignored the hash algorithm it was given; vault#2356: a misspelt parameter was silently dropped.
import { beforeAll, describe, expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
const actions = '/v1/state/keystore/transit-keys';
beforeAll(async () => {
  victim = await startVictim();
  for (const [name, cipher] of Object.entries({ aes: 'aes256-gcm96', rsa: 'rsa-2048', ec: 'ecdsa-p256' })) {
    await victim.request('POST', '/v1/config/keystore/transit-keys', { name, cipher });
  }
});

const ask = async (key: string, action: string, body: object) => (await victim.request('POST', `${actions}/${key}/${action}`, body)).body;

describe('what is given counts', () => {
  test('hash-algorithm of hmac, in making and in checking', async () => {
    const [one, other] = [
      await ask('aes', 'hmac', { plaintext: 'aGVsbG8=' }),
      await ask('aes', 'hmac', { plaintext: 'aGVsbG8=', 'hash-algorithm': 'sha512' }),
    ];
    expect(one.hmac).not.toBe(other.hmac);
    for (const [hmac, algorithm, valid] of [
      [one.hmac, 'sha256', true],
      [one.hmac, 'sha512', false],
      [other.hmac, 'sha512', true],
      [other.hmac, undefined, false],
    ]) {
      const body = { text: 'aGVsbG8=', hmac, ...defined({ 'hash-algorithm': algorithm }) };
      expect([algorithm, (await ask('aes', 'verify', body)).valid]).toEqual([algorithm, valid]);
    }
  });

  test('signature-algorithm and hash-algorithm of signatures', async () => {
    const pss = await ask('rsa', 'sign', { text: '', 'signature-algorithm': 'pss' });
    expect((await ask('rsa', 'verify', { text: '', signature: pss.signature, 'signature-algorithm': 'pss' })).valid).toBe(true);
    expect((await ask('rsa', 'verify', { text: '', signature: pss.signature })).valid).toBe(false);
    const sha512 = await ask('ec', 'sign', { text: '', 'hash-algorithm': 'sha512' });
    expect((await ask('ec', 'verify', { text: '', signature: sha512.signature })).valid).toBe(false);
  });

  test('associated data and context', async () => {
    const { ciphertext } = await ask('aes', 'encrypt', { plaintext: '', 'associated-data': 'YQ==' });
    for (const fields of [{}, { 'associated-data': 'Yg==' }, { 'associated-data': '' }]) {
      expect((await ask('aes', 'decrypt', { ciphertext, ...fields })).code).toBe('decryption-failed');
    }
    expect((await ask('aes', 'encrypt', { plaintext: '', context: 'c' })).code).toBe('context-not-allowed');
  });

  test('the version', async () => {
    await victim.request('POST', `${actions}/aes/rotate`);
    expect((await ask('aes', 'encrypt', { plaintext: '', 'key-version': 1 })).ciphertext).toMatch(/^store:v1:/);
    expect((await ask('aes', 'encrypt', { plaintext: '', 'key-version': 9 })).code).toBe('version-unknown');
  });
});

test('what is not known is refused: in bodies, in containers, in batches as an item of its own, in queries', async () => {
  expect((await ask('aes', 'encrypt', { plaintext: '', plaintxt: '' })).code).toBe('unknown-field');
  expect((await ask('aes', 'encrypt', { plaintext: '', 'hash-algorithm': 'sha256' })).code).toBe('invalid-value');
  expect((await ask('aes', 'encrypt', { plaintext: '', 'signature-algorithm': 'pss' })).code).toBe('unknown-field');
  const batch = await ask('aes', 'encrypt', { 'batch-input': [{ plaintext: '' }, { plaintext: '', contxt: 'c' }] });
  expect(batch['batch-results'].map((one: { code?: string }) => one.code ?? 'done')).toEqual(['done', 'unknown-field']);
  expect(
    await victim.verdict('POST', '/v1/config/keystore/transit-keys', { name: 'x', 'auto-rotate': { 'rotate-after': '1d', when: 'now' } }),
  ).toBe('400 unknown-field');
  expect(await victim.verdict('POST', '/v1/config/keystore/transit-keys?exportable=true', { name: 'x' })).toBe('400 unknown-parameter');
});

test('what stands twice is refused, whichever reader would have won', async () => {
  for (const text of ['{"plaintext":"","plaintext":"YQ=="}', '{"plaintext":"","pl\\u0061intext":"YQ=="}']) {
    expect((await victim.request('POST', `${actions}/aes/encrypt`, text)).body.code).toBe('invalid-json');
  }
});
