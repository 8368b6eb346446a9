// A malformed request is refused before a conflicting state: 400 before 409, on keys whose state bars the action as well.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import openpgp from '../../../../plugins/openpgp/index.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, codeOf, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
let harness: TransitHarness;
const hello = base64('hello world');
/** A signature and a ciphertext of a version that min-decryption-version bars. */
const barred = { signature: '', ciphertext: '', hmac: '' };

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'), { plugins: [openpgp] });
  await harness.create('signer', { cipher: 'ecdsa-p256' });
  await harness.create('sealer');
  barred.signature = (await harness.do('signer', 'sign', { text: hello })).signature;
  barred.ciphertext = (await harness.do('sealer', 'encrypt', { plaintext: hello })).ciphertext;
  barred.hmac = (await harness.do('sealer', 'hmac', { plaintext: hello })).hmac;
  for (const name of ['signer', 'sealer']) {
    await harness.do(name, 'rotate');
    await harness.patch(name, { 'min-decryption-version': 2 });
  }
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

test.each([
  ['signer', 'verify', { text: hello, signature: 'barred' }, 'version-not-allowed'],
  ['sealer', 'verify', { text: hello, hmac: 'barred' }, 'version-not-allowed'],
  ['sealer', 'decrypt', { ciphertext: 'barred' }, 'version-not-allowed'],
  ['signer', 'sign', { text: hello, 'key-version': 1 }, 'version-not-allowed'],
  ['sealer', 'encrypt', { plaintext: hello, 'key-version': 1 }, 'version-not-allowed'],
  ['signer', 'export', { version: 'latest' }, 'export-not-allowed'],
  ['signer', 'export', { format: 'openpgp', 'openpgp-user-id': 'Somebody' }, 'export-not-allowed'],
])('a sound request for what the state of %s bars: %s is 409', async (name, action, body, code) => {
  expect(await codeOf(harness.act(name, action, sent(body)))).toEqual({ status: 409, code });
});

test.each([
  ['signer', 'verify', { text: '!', signature: 'barred' }, 'invalid-base64'],
  ['signer', 'verify', { text: hello, signature: 'barred', prehashed: true }, 'invalid-value'],
  ['signer', 'verify', { text: hello, signature: 'barred', 'signature-algorithm': 'pss' }, 'invalid-value'],
  ['sealer', 'verify', { text: hello, hmac: 'barred', marshaling: 'jws' }, 'invalid-value'],
  ['sealer', 'decrypt', { ciphertext: 'barred', context: 'none' }, 'context-not-allowed'],
  ['sealer', 'decrypt', { ciphertext: 'barred', 'associated-data': '!' }, 'invalid-base64'],
  ['signer', 'sign', { text: hello, prehashed: true, 'key-version': 1 }, 'invalid-value'],
  ['sealer', 'encrypt', { plaintext: '!', 'key-version': 1 }, 'invalid-base64'],
  ['signer', 'export', { version: 3 }, 'version-unknown'],
  ['signer', 'export', { format: 'wrapped', 'wrapping-key': 'none' }, 'invalid-key-data'],
  ['signer', 'export', { format: 'openpgp' }, 'missing-field'],
  ['sealer', 'export', { format: 'openpgp', 'openpgp-user-id': 'Somebody' }, 'operation-not-supported'],
  ['sealer', 'restore', { key: 'AAAA' }, 'invalid-key-data'],
])('a wrong one is 400 all the same: %s %s %o', async (name, action, body, code) => {
  expect(await codeOf(harness.act(name, action, sent(body)))).toEqual({ status: 400, code });
});

/** The body with the values of the barred version in place of the word. */
function sent(body: object): object {
  return Object.fromEntries(Object.entries(body).map(([field, value]) => [field, value === 'barred' ? barred[field as 'hmac'] : value]));
}
