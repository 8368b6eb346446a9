// Custody statements of CA keys: objects that were generated in the token and cannot leave it, each generation of its own.
import { createHash, createPublicKey, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyStatement } from '../../../appliance/attestation/statement-jws.ts';
import { thumbprintOf } from '../../../core/base/public-keys/jwk.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const config = '/v1/config/keystore/tls/ca';
const state = '/v1/state/keystore/tls/ca';
let appliance: TestAppliance;

beforeAll(async () => {
  mkdirSync(path('data'));
  appliance = await startTestAppliance({ directory: path('data') });
});
afterAll(async () => {
  expect(await appliance.check()).toEqual([]);
  await appliance.close();
});

const ask = (name: string, query = '') => appliance.request('GET', `${state}/${name}/custody${query}`);

async function claimsOf(name: string, query = ''): Promise<JsonObject> {
  const { status, body } = await ask(name, query);
  expect(status).toBe(200);
  const { keys } = (await appliance.request('GET', '/v1/state/system/attestation-keys', undefined, { token: undefined })).body;
  const known = (keys as readonly JsonWebKey[]).map((key) => createPublicKey({ key, format: 'jwk' }));
  return verifyStatement(String(body.statement), known).payload;
}

test.for([
  ['ecdsa', { 'cert-key-type': 'ecdsa', 'cert-key-curve': 'secp384r1' }, { 'key-type': 'CKK_EC', parameters: 'secp384r1' }],
  ['rsa', { 'cert-key-type': 'rsa' }, { 'key-type': 'CKK_RSA' }],
  ['ed25519', { 'cert-key-type': 'ed25519' }, { parameters: 'ed25519' }],
] as const)('%s: made in the token, never extractable, and the key of the certificate', async ([name, document, object]) => {
  expect((await appliance.request('POST', config, { name, ...document })).status).toBe(201);
  const { body } = await appliance.request('GET', `${state}/${name}`);
  const certificate = new X509Certificate(String(body['ca-cert']));
  expect(await claimsOf(name)).toMatchObject({
    sub: `${state}/${name}`,
    key: {
      ...{ name, generation: 1, origin: 'generated', thumbprint: thumbprintOf(certificate.publicKey) },
      'certificate-sha256': createHash('sha256').update(certificate.raw).digest('hex'),
    },
    custody: {
      kept: 'token',
      object: {
        token: true,
        local: true,
        sensitive: true,
        'always-sensitive': true,
        extractable: false,
        'never-extractable': true,
        ...object,
      },
    },
    history: { exportable: false },
  });
});

test('a renewal adds a key: each generation has its own statement', async () => {
  await appliance.request('POST', config, { name: 'renewed' });
  const first = await claimsOf('renewed');
  expect((await appliance.request('POST', `${state}/renewed/renew`)).status).toBe(200);
  const second = await claimsOf('renewed');
  expect([first['key'], second['key']]).toMatchObject([{ generation: 1 }, { generation: 2 }]);
  const print = ({ key }: JsonObject): unknown => (key as JsonObject)['thumbprint'];
  expect(print(second)).not.toBe(print(first));
  expect(print(await claimsOf('renewed', '?generation=1'))).toBe(print(first));
  expect((await ask('renewed', '?generation=3')).body).toMatchObject({ status: 404, code: 'not-found' });
  expect((await ask('renewed', '?generation=one')).body).toMatchObject({ status: 400, code: 'invalid-value' });
});

test('a CA that is only trusted has no key to speak of', async () => {
  const { body } = await appliance.request('GET', `${state}/renewed`);
  const trusted = await appliance.request('POST', config, { name: 'trusted', 'ca-cert': body['ca-cert'] });
  expect(trusted.status).toBe(201);
  expect((await ask('trusted')).body).toMatchObject({ status: 400, code: 'ca-has-no-key' });
});

test('the audit record has the generation and the digest of the statement', async () => {
  const { body } = await ask('ecdsa');
  const digest = createHash('sha256').update(String(body.statement)).digest('hex');
  const records = readFileSync(path('data', 'audit', 'test.000000000001.jsonl'), 'utf8').split('\n');
  expect(records.filter((line) => line.includes(`"signed-digest":"sha256:${digest}"`))).toHaveLength(1);
});
