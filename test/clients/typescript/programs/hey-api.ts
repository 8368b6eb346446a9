// The story (test/clients/story.ts) by @hey-api/openapi-ts.
import { readFileSync } from 'node:fs';
import { setDefaultCACertificates } from 'node:tls';
import { client } from '../generated/hey-api/client.gen.js';
import {
  approlesMerge,
  approlesShowConfig,
  transitKeysCreate,
  transitKeysDecrypt,
  transitKeysDecryptBatch,
  transitKeysEncrypt,
  transitKeysEncryptBatch,
  transitKeysListConfig,
  transitKeysMerge,
  transitKeysShowConfig,
  transitKeysSign,
  transitKeysVerify,
} from '../generated/hey-api/sdk.gen.js';

const { KEYSTORED_URL: baseUrl = '', KEYSTORED_CA: ca = '', KEYSTORED_TOKEN: auth = '' } = process.env;
setDefaultCACertificates([readFileSync(ca, 'utf8')]);
client.setConfig({ baseUrl, auth });

const throwOnError = true;
const path = { name: 'made' };
await transitKeysCreate({ body: { name: 'made' }, throwOnError });
const { ciphertext } = (await transitKeysEncrypt({ path, body: { plaintext: 'c2VjcmV0' }, throwOnError })).data;
const decrypted = (await transitKeysDecrypt({ path, body: { ciphertext }, throwOnError })).data.plaintext;

const items = [
  { plaintext: 'Zmlyc3Q=', reference: 'a' },
  { plaintext: 'c2Vjb25k', reference: 'b' },
  { plaintext: 'dGhpcmQ=', reference: 'c', 'key-version': 99 },
];
const sealed = (await transitKeysEncryptBatch({ path, body: { 'batch-input': items }, throwOnError })).data;
const ciphertexts = sealed['batch-results'].flatMap(({ ciphertext }) => (ciphertext === undefined ? [] : [{ ciphertext }]));
const opened = (await transitKeysDecryptBatch({ path, body: { 'batch-input': ciphertexts }, throwOnError })).data;
const plaintexts = opened['batch-results'].map(({ plaintext }) => plaintext);
const batch = sealed['batch-results'].map(({ reference, code }, index) => `${reference}:${code ?? plaintexts[index]}`);

const signing = { name: 'signing' };
const { signature } = (await transitKeysSign({ path: signing, body: { text: 'c2lnbmVk' }, throwOnError })).data;
const verified = [];
for (const text of ['c2lnbmVk', 'b3RoZXI=']) {
  verified.push((await transitKeysVerify({ path: signing, body: { text, signature }, throwOnError })).data.valid);
}

const names: string[] = [];
let [pages, total, more] = [0, 0, true];
while (more) {
  const query = { limit: 2, ...(names.length === 0 ? {} : { after: names.at(-1) }) };
  const page = await transitKeysListConfig({ query, throwOnError });
  names.push(...page.data.map(({ name }) => String(name)));
  total = Number(page.response.headers.get('total-count'));
  more = page.response.headers.get('link')?.includes('rel="next"') ?? false;
  pages += 1;
}

const merged = { name: 'merged' };
await transitKeysMerge({ path: merged, body: { 'deletion-allowed': true }, throwOnError });
await approlesMerge({ path: merged, body: { 'token-ttl': '4h' }, throwOnError });
const key = (await transitKeysShowConfig({ path: merged, throwOnError })).data;
const approle = (await approlesShowConfig({ path: merged, throwOnError })).data;

const { error } = await transitKeysShowConfig({ path: { name: 'absent' } });

console.log(
  JSON.stringify({
    ...{ decrypted, batch, failed: sealed.failed, verified, names, pages, total },
    merged: {
      exportable: key.exportable,
      rotateAfter: key['auto-rotate']?.['rotate-after'],
      minDecryptionVersion: key['min-decryption-version'],
      uses: approle['secret-id-num-uses'],
    },
    problem: { status: error?.status, code: error?.code },
  }),
);
