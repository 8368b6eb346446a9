// The story (test/clients/story.ts) by openapi-typescript and openapi-fetch.
import { readFileSync } from 'node:fs';
import { setDefaultCACertificates } from 'node:tls';
import createClient from 'openapi-fetch';
import type { components, paths } from '../generated/openapi-typescript/description.js';

const { KEYSTORED_URL: baseUrl = '', KEYSTORED_CA: ca = '', KEYSTORED_TOKEN: token = '' } = process.env;
setDefaultCACertificates([readFileSync(ca, 'utf8')]);
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } });

type Problem = components['schemas']['Problem'];

/** openapi-fetch answers errors instead of throwing them. */
function taken<T>(answer: { data?: T; error?: Problem }): T {
  if (answer.error !== undefined) throw new Error(`${answer.error.code}: ${answer.error.detail}`);
  return answer.data as T;
}

const path = { name: 'made' };
taken(await client.POST('/v1/config/keystore/transit-keys', { body: { name: 'made' } }));
const { ciphertext } = taken(
  await client.POST('/v1/state/keystore/transit-keys/{name}/encrypt', { params: { path }, body: { plaintext: 'c2VjcmV0' } }),
);
const { plaintext: decrypted } = taken(
  await client.POST('/v1/state/keystore/transit-keys/{name}/decrypt', { params: { path }, body: { ciphertext } }),
);

const sealed = taken(
  await client.POST('/v1/state/keystore/transit-keys/{name}/encrypt-batch', {
    params: { path },
    body: {
      'batch-input': [
        { plaintext: 'Zmlyc3Q=', reference: 'a' },
        { plaintext: 'c2Vjb25k', reference: 'b' },
        { plaintext: 'dGhpcmQ=', reference: 'c', 'key-version': 99 },
      ],
    },
  }),
);
const opened = taken(
  await client.POST('/v1/state/keystore/transit-keys/{name}/decrypt-batch', {
    params: { path },
    body: { 'batch-input': sealed['batch-results'].flatMap(({ ciphertext }) => (ciphertext === undefined ? [] : [{ ciphertext }])) },
  }),
);
const plaintexts = opened['batch-results'].map(({ plaintext }) => plaintext);
const batch = sealed['batch-results'].map(({ reference, code }, index) => `${reference}:${code ?? plaintexts[index]}`);

const signing = { path: { name: 'signing' } };
const { signature } = taken(
  await client.POST('/v1/state/keystore/transit-keys/{name}/sign', { params: signing, body: { text: 'c2lnbmVk' } }),
);
const verified = [];
for (const text of ['c2lnbmVk', 'b3RoZXI=']) {
  const body = { text, signature };
  verified.push(taken(await client.POST('/v1/state/keystore/transit-keys/{name}/verify', { params: signing, body })).valid);
}

const names: string[] = [];
let [pages, total, more] = [0, 0, true];
while (more) {
  const query = { limit: 2, ...(names.length === 0 ? {} : { after: names.at(-1) }) };
  const page = await client.GET('/v1/config/keystore/transit-keys', { params: { query } });
  names.push(...taken(page).map(({ name }) => String(name)));
  total = Number(page.response.headers.get('total-count'));
  more = page.response.headers.get('link')?.includes('rel="next"') ?? false;
  pages += 1;
}

const merged = { path: { name: 'merged' } };
taken(await client.PATCH('/v1/config/keystore/transit-keys/{name}', { params: merged, body: { 'deletion-allowed': true } }));
taken(await client.PATCH('/v1/config/keystore/authentication/approles/{name}', { params: merged, body: { 'token-ttl': '4h' } }));
const key = taken(await client.GET('/v1/config/keystore/transit-keys/{name}', { params: merged }));
const approle = taken(await client.GET('/v1/config/keystore/authentication/approles/{name}', { params: merged }));

const { error } = await client.GET('/v1/config/keystore/transit-keys/{name}', { params: { path: { name: 'absent' } } });

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
