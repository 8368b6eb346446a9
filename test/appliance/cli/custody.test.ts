// keystorectl and custody statements: asking for one, and checking one without an appliance.
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { thumbprintOf } from '../../../core/base/public-keys/jwk.ts';
import { formatPem } from '../../../core/base/texts/pem.ts';
import { xWingSpki } from '../../../core/der/x-wing.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type Ctl, ctlFor } from './run.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let ctl: Ctl;
/** without an appliance */
let offline: Ctl;

beforeAll(async () => {
  for (const name of ['home', 'elsewhere', 'data']) mkdirSync(path(name));
  appliance = await startTestAppliance({ directory: path('data') });
  ctl = ctlFor(appliance, readFileSync(path('data', 'tls-cert.pem'), 'utf8'), path('home'));
  offline = ctlFor({ url: 'https://127.0.0.1:1', rootToken: '' }, '', path('elsewhere'));
  await ctl.json('create', 'transit-keys', 'signer', '--cipher', 'ecdsa-p256');
  expect(await ctl(['show', 'transit-keys-custody', 'signer', '--out', path('signer.jws')])).toMatchObject({ code: 0 });
  writeFileSync(path('keys.json'), JSON.stringify(await ctl.json('show', 'attestation-keys')));
  writeFileSync(path('signer.pem'), (await ctl(['show', 'transit-keys', 'signer', '--value', 'keys/1'])).stdout);
});
afterAll(() => appliance.close());

const verify = (...words: string[]): string[] => ['custody', 'verify', ...words];

test('verify shows what a statement says, with the key that signed it', async () => {
  const said = await offline.json(...verify(path('signer.jws'), '--keys', path('keys.json'), '--of', path('signer.pem')));
  const { keys } = JSON.parse(readFileSync(path('keys.json'), 'utf8')) as { keys: { kid: string }[] };
  expect(said).toMatchObject({ 'signed-by': keys[0]?.kid, sub: '/v1/state/keystore/transit-keys/signer', key: { version: 1 } });
});

test('the statement may come from a pipe or in the answer of the API, the keys as one JWK or as PEM', async () => {
  const text = readFileSync(path('signer.jws'), 'utf8');
  const { keys } = JSON.parse(readFileSync(path('keys.json'), 'utf8')) as { keys: [JsonWebKey] };
  writeFileSync(path('key.jwk'), JSON.stringify(keys[0]));
  writeFileSync(path('key.pem'), createPublicKey({ key: keys[0], format: 'jwk' }).export({ format: 'pem', type: 'spki' }));
  writeFileSync(path('answer.json'), JSON.stringify({ statement: text.trim(), 'key-version': 1 }));
  for (const known of ['keys.json', 'key.jwk', 'key.pem']) {
    expect((await offline(verify('-', '--keys', path(known)), { stdin: text })).code).toBe(0);
    expect((await offline(verify(path('answer.json'), '--keys', path(known)))).code).toBe(0);
  }
});

test('the heads of the audit trail in it are what audit verify takes', async () => {
  const { audit } = await offline.json(...verify(path('signer.jws'), '--keys', path('keys.json')));
  expect(audit).toEqual({ heads: expect.any(Array) });
});

test('a statement that was changed, of another key or under another one, is answered with 7', async () => {
  const text = readFileSync(path('signer.jws'), 'utf8').trim();
  const [head = '', body = '', signature = ''] = text.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
  const forged = Buffer.from(JSON.stringify({ ...claims, history: { exports: [] } })).toString('base64url');
  writeFileSync(path('forged.jws'), `${head}.${forged}.${signature}`);
  expect(await offline(verify(path('forged.jws'), '--keys', path('keys.json')))).toMatchObject({
    ...{ code: 7, stdout: '' },
    stderr: expect.stringContaining('this statement is not to be believed: the signature does not verify'),
  });
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'pem', type: 'spki' });
  writeFileSync(path('other.pem'), other);
  expect(await offline(verify(path('signer.jws'), '--keys', path('other.pem')))).toMatchObject({ code: 7, stdout: '' });
  expect(await offline(verify(path('signer.jws'), '--keys', path('keys.json'), '--of', path('other.pem')))).toMatchObject({
    ...{ code: 7, stdout: '' },
    stderr: expect.stringContaining('not about the key in'),
  });
});

test('a wrong command line or file is answered with 1', async () => {
  writeFileSync(path('empty.json'), '{"keys": []}');
  writeFileSync(path('broken.json'), '{"keys": ');
  writeFileSync(path('strange.json'), '{"keys": [{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}]}');
  writeFileSync(path('note.txt'), 'no key');
  for (const file of ['empty.json', 'broken.json', 'strange.json', 'note.txt', 'absent'])
    expect((await offline(verify(path('signer.jws'), '--keys', path(file)))).code, file).toBe(1);
  expect((await offline(verify(path('signer.jws')))).code).toBe(1);
  expect((await offline(verify(path('absent'), '--keys', path('keys.json')))).code).toBe(1);
  expect((await offline(verify(path('empty.json'), '--keys', path('keys.json')))).code).toBe(1);
  expect((await offline(['custody'])).code).toBe(1);
});

test('a statement about a key of X-Wing is about both of its keys, and no other pair with one of them', async () => {
  const parts = [generateKeyPairSync('ml-kem-768'), generateKeyPairSync('x25519')].map(({ publicKey }) => publicKey) as [
    KeyObject,
    KeyObject,
  ];
  const [kem, agreement] = parts;
  const signer = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(path('hybrid-signer.pem'), signer.publicKey.export({ format: 'pem', type: 'spki' }));
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = { alg: 'ES256', typ: 'keystored-custody+jwt', kid: thumbprintOf(signer.publicKey) };
  const payload = { key: { thumbprint: thumbprintOf(kem) }, 'second-key': { thumbprint: thumbprintOf(agreement) } };
  const text = `${encoded(header)}.${encoded(payload)}`;
  const signature = sign('sha256', Buffer.from(text), { key: signer.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
  writeFileSync(path('hybrid.jws'), `${text}.${signature}`);
  const codeOf = async (...keys: KeyObject[]): Promise<number> => {
    const raw = Buffer.concat(keys.map((key) => key.export({ format: 'raw-public' })));
    const pem = keys.length === 1 ? kem.export({ format: 'pem', type: 'spki' }) : formatPem('PUBLIC KEY', xWingSpki(raw));
    writeFileSync(path('hybrid.pem'), pem);
    return (await offline(verify(path('hybrid.jws'), '--keys', path('hybrid-signer.pem'), '--of', path('hybrid.pem')))).code;
  };
  expect(await codeOf(kem, agreement)).toBe(0);
  expect(await codeOf(kem, generateKeyPairSync('x25519').publicKey)).toBe(7);
  expect(await codeOf(generateKeyPairSync('ml-kem-768').publicKey, agreement)).toBe(7);
  expect(await codeOf(kem)).toBe(7);
});
