// import-key: private and symmetric keys in every form that people have, wrapped on this side, and nothing of them on the way.
import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { ctlFor, type Ctl } from './run.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
const done = { code: 0, stdout: '', stderr: '' };
let appliance: TestAppliance;
let ctl: Ctl;

beforeAll(async () => {
  for (const name of ['appliance', 'home']) mkdirSync(path(name));
  appliance = await startTestAppliance({ directory: path('appliance') });
  ctl = ctlFor(appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
});
afterAll(() => appliance.close());

test('a private key as PEM, DER, JWK and encrypted arrives as it is', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const forms: readonly (readonly [string, string | Buffer, readonly string[]])[] = [
    ['pem', privateKey.export({ type: 'pkcs8', format: 'pem' }), []],
    ['sec1', privateKey.export({ type: 'sec1', format: 'pem' }), []],
    ['der', privateKey.export({ type: 'pkcs8', format: 'der' }), []],
    ['sec1-der', privateKey.export({ type: 'sec1', format: 'der' }), []],
    ['base64-of-der', wrapped(privateKey.export({ type: 'pkcs8', format: 'der' })), []],
    ['one-line', privateKey.export({ type: 'pkcs8', format: 'pem' }).replaceAll('\n', String.raw`\n`), []],
    ['jwk', JSON.stringify(privateKey.export({ format: 'jwk' })), []],
    [
      'encrypted',
      privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' }),
      ['--passphrase', `@${path('passphrase')}`],
    ],
  ];
  writeFileSync(path('passphrase'), 'secret\n');
  await appliance.request('POST', keys, { name: 'signer', cipher: 'ecdsa-p256' });
  for (const [name, content, options] of forms) {
    writeFileSync(path(name), content);
    expect([name, await ctl(['import-key', 'signer', '--in', path(name), ...options])]).toEqual([name, done]);
  }
  const { 'latest-version': latest, keys: versions } = (await appliance.request('GET', `${actions}/signer`)).body;
  expect(latest).toBe(1 + forms.length);
  const theirs = publicKey.export({ type: 'spki', format: 'pem' });
  expect(Object.values(versions).filter((one) => one === theirs)).toHaveLength(forms.length);
});

/** Base64 in lines of 64 characters. */
const wrapped = (octets: Buffer): string => octets.toString('base64').replaceAll(/.{64}/g, '$&\n');

test.each([
  ['ed25519', 'ed25519', []],
  ['rsa-3072', 'rsa', ['-b', '3072']],
  ['ecdsa-p384', 'ecdsa', ['-b', '384']],
] as const)('a private key of %s as ssh-keygen writes it arrives as it is', async (cipher, type, options) => {
  const file = path(`id-${type}`);
  execFileSync('ssh-keygen', ['-q', '-t', type, ...options, '-N', '', '-f', file], { stdio: 'pipe' });
  expect(readFileSync(file, 'utf8')).toContain('OPENSSH PRIVATE KEY');
  await appliance.request('POST', keys, { name: `ssh-${type}`, cipher });
  expect(await ctl(['import-key', `ssh-${type}`, '--in', file])).toEqual(done);
  const { keys: versions } = (await appliance.request('GET', `${actions}/ssh-${type}`)).body;
  expect(createPublicKey(versions['2']).equals(publicKeyOf(type, `${file}.pub`))).toBe(true);
});

/** The public key of a file of ssh-keygen, which writes no SubjectPublicKeyInfo of Ed25519. */
function publicKeyOf(type: string, file: string): KeyObject {
  if (type !== 'ed25519') return createPublicKey(execFileSync('ssh-keygen', ['-e', '-m', 'PKCS8', '-f', file], { stdio: 'pipe' }));
  const x = Buffer.from(readFileSync(file, 'utf8').split(' ')[1] ?? '', 'base64').subarray(-32);
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url') }, format: 'jwk' });
}

test('a symmetric key as a JWK arrives as it is', async () => {
  await appliance.request('POST', keys, { name: 'jwk-orders', exportable: true });
  const octets = randomBytes(32);
  expect(
    await ctl(['import-key', 'jwk-orders'], { stdin: JSON.stringify({ kty: 'oct', alg: 'A256GCM', k: octets.toString('base64url') }) }),
  ).toEqual(done);
  const { keys: exported } = (await appliance.request('POST', `${actions}/jwk-orders/export`, {})).body;
  expect(exported['2']).toBe(octets.toString('base64'));
});

test('a symmetric key as octets and as base64 arrives as it is', async () => {
  await appliance.request('POST', keys, { name: 'orders', exportable: true });
  const octets = randomBytes(32);
  writeFileSync(path('octets'), octets);
  expect(await ctl(['import-key', 'orders', '--in', path('octets')])).toEqual(done);
  expect(await ctl(['import-key', 'orders'], { stdin: `${octets.toString('base64')}\n` })).toEqual(done);
  const { keys: exported } = (await appliance.request('POST', `${actions}/orders/export`, {})).body;
  expect([exported['2'], exported['3']]).toEqual([octets.toString('base64'), octets.toString('base64')]);
});

test('what is no key, and a key that is locked, are said before anything is sent', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(path('locked'), privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' }));
  writeFileSync(path('locked-der'), privateKey.export({ type: 'pkcs8', format: 'der', cipher: 'aes-256-cbc', passphrase: 'secret' }));
  writeFileSync(path('plain'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const openssl = (...words: string[]) => execFileSync('openssl', words, { stdio: 'pipe' });
  const legacy = ['-v1', 'PBE-MD5-DES', '-provider', 'legacy', '-provider', 'default'];
  openssl('pkcs8', '-topk8', '-in', path('plain'), '-out', path('old'), '-passout', 'pass:secret', ...legacy);
  openssl('pkcs12', '-export', '-nocerts', '-inkey', path('plain'), '-out', path('bundle'), '-passout', 'pass:secret');
  writeFileSync(path('java'), Buffer.from('feedfeed0000000200000001', 'hex'));
  writeFileSync(path('empty'), '\n');
  writeFileSync(path('note'), 'not a key');
  writeFileSync(path('block'), '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n-----END PGP PRIVATE KEY BLOCK-----\n');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'secret', '-f', path('locked-ssh')], { stdio: 'pipe' });
  for (const [name, options, expected] of [
    ['locked', [], 'give --passphrase'],
    ['locked', ['--passphrase', 'wrong'], 'has no private key that this passphrase opens'],
    ['locked-der', [], 'is an encrypted private key: give --passphrase'],
    ['old', ['--passphrase', 'secret'], 'is encrypted in an old way'],
    ['bundle', ['--passphrase', 'secret'], 'is a PKCS#12 file: take the private key out of it ("openssl pkcs12'],
    ['java', [], 'is a key store of Java: make a PKCS#12 file of it'],
    ['empty', [], 'neither a private key nor a symmetric key'],
    ['note', [], 'neither a private key nor a symmetric key'],
    ['locked-ssh', [], "ssh-keygen -p -N ''"],
    ['block', [], 'do transit-keys KEY import'],
    ['nowhere', [], 'cannot be read (ENOENT)'],
  ] as const) {
    const { code, stderr } = await ctl(['import-key', 'orders', '--in', path(name), ...options]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(expected)]);
  }
});
