// import-key: private and symmetric keys in every form that people have, wrapped on this side, and nothing of them on the way.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
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
  writeFileSync(path('note'), 'not a key');
  for (const [name, options, expected] of [
    ['locked', [], 'give --passphrase'],
    ['locked', ['--passphrase', 'wrong'], 'has no private key that this passphrase opens'],
    ['note', [], 'neither a private key nor a symmetric key'],
    ['nowhere', [], 'cannot be read (ENOENT)'],
  ] as const) {
    const { code, stderr } = await ctl(['import-key', 'orders', '--in', path(name), ...options]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(expected)]);
  }
});
