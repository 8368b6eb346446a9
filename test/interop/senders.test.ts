// Messages that libraries of others have sealed to public keys of the appliance, by HPKE, as JWE and by RSA-OAEP: Tink in Go, @hpke/core in JavaScript, and in
// Java Bouncy Castle, Nimbus and the JDK. Each opens in the token, and under no other parameters.
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must, requireToolchain } from '../clients/commands.ts';
import { obtainGo, onlyThisGo } from '../clients/go/toolchain.ts';
import { versions } from '../clients/versions.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { base64, startTransitHarness, type TransitHarness } from '../plugins/transit/harness.ts';

const path = temporaryDirectory();
const programs = join(import.meta.dirname, 'senders');
const curves = { p256: 'ecdsa-p256', p384: 'ecdsa-p384', p521: 'ecdsa-p521', x25519: 'x25519' };
const aeads = ['aes-128-gcm', 'aes-256-gcm', 'chacha20-poly1305'];
const kdfs = ['hkdf-sha256', 'hkdf-sha384', 'hkdf-sha512'];
let harness: TransitHarness;

beforeAll(async () => {
  for (const toolchain of ['go', 'java', 'mvn', 'npm'] as const) await requireToolchain(toolchain);
  for (const name of ['appliance', 'keys']) mkdirSync(path(name));
  harness = await startTransitHarness(path('appliance'));
  for (const [name, cipher] of Object.entries(curves)) await harness.create(name, { cipher, use: 'agree' });
  await harness.create('rsa', { cipher: 'rsa-2048', use: 'encrypt' });
  for (const name of [...Object.keys(curves), 'rsa']) writeFileSync(path('keys', `${name}.pem`), (await harness.state(name)).keys['1']);
});
afterAll(() => harness?.stop());

/** A line of a program: key, two parameters, message. */
type Sealed = readonly [key: string, first: string, second: string, ciphertext: string];

async function sealedBy(program: string, ...words: readonly string[]): Promise<readonly Sealed[]> {
  const { stdout } = await must(program, words);
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ') as unknown as Sealed);
}

/** Java with what its program needs, which comes once. */
async function byJava(format: 'hpke' | 'jwe' | 'oaep'): Promise<readonly Sealed[]> {
  const jars = join(import.meta.dirname, '../../node_modules/.cache/senders');
  const maven = ['-q', '-B', '-f', join(programs, 'pom.xml'), 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
  if (!existsSync(jars)) await must('mvn', maven);
  return sealedBy('java', '-cp', `${jars}/*`, join(programs, 'Seal.java'), format, path('keys'));
}

/** Opens each message, and expects these suites and no others. */
async function expectHpke(sealed: readonly Sealed[], suites: readonly string[], text: string, bound: object): Promise<void> {
  expect(sealed.map(([key, kdf, aead]) => `${key} ${kdf} ${aead}`).sort()).toEqual([...suites].sort());
  for (const [key, kdf, aead, ciphertext] of sealed) {
    const request = { ...{ format: 'hpke', kdf, aead, ciphertext, info: base64('info') }, ...bound };
    expect(await harness.do(key, 'decrypt', request)).toEqual({ plaintext: base64(text), 'key-version': 1 });
    await harness.refused(400, 'decryption-failed', key, 'decrypt', { ...request, info: base64('other') });
  }
}

const everySuite = Object.keys(curves).flatMap((key) => kdfs.flatMap((kdf) => aeads.map((aead) => `${key} ${kdf} ${aead}`)));
const bound = { 'associated-data': base64('bound') };

test('Tink in Go, with the parameters of its raw key templates', async () => {
  const go = await obtainGo(versions.go);
  await must(go, ['build', '-mod=readonly', '-o', path('tink'), '.'], { cwd: programs, environment: onlyThisGo });
  const kdfOf: Readonly<Record<string, string>> = { p384: 'hkdf-sha384', p521: 'hkdf-sha512' };
  const suites = everySuite.filter((suite) => suite.split(' ')[1] === (kdfOf[String(suite.split(' ')[0])] ?? 'hkdf-sha256'));
  // Its context is the info; it has no associated data.
  await expectHpke(await sealedBy(path('tink'), 'tink', path('keys')), suites, 'by Tink', {});
});

test('@hpke/core, with its extension for ChaCha20-Poly1305', async () => {
  const project = path('npm');
  cpSync(programs, project, { recursive: true });
  await must('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: project });
  await expectHpke(await sealedBy(process.execPath, join(project, 'seal.mjs'), path('keys')), everySuite, 'by @hpke/core', bound);
});

test('Bouncy Castle', async () => {
  await expectHpke(await byJava('hpke'), everySuite, 'by Bouncy Castle', bound);
});

test('Nimbus: JWE by ECDH-ES and RSA-OAEP', async () => {
  const sealed = await byJava('jwe');
  const algorithms = {
    agreed: ['ECDH-ES', 'ECDH-ES+A128KW', 'ECDH-ES+A192KW', 'ECDH-ES+A256KW'],
    rsa: ['-256', '-384', '-512'].map((hash) => `RSA-OAEP${hash}`),
  };
  const methods = ['A128GCM', 'A256GCM', 'A128CBC-HS256', 'A256CBC-HS512'];
  const every = ['p256', 'p384', 'p521', 'rsa'].flatMap((key) =>
    (key === 'rsa' ? algorithms.rsa : algorithms.agreed).flatMap((algorithm) => methods.map((method) => `${key} ${algorithm} ${method}`)),
  );
  expect(sealed.map(([key, algorithm, method]) => `${key} ${algorithm} ${method}`).sort()).toEqual(every.sort());
  for (const [key, , , ciphertext] of sealed) {
    const request = { format: 'jwe', ciphertext };
    expect(await harness.do(key, 'decrypt', request)).toEqual({ plaintext: base64('by Nimbus'), 'key-version': 1 });
    const [header, ...parts] = ciphertext.split('.');
    const changed = [header, ...parts.slice(0, -1), Buffer.alloc(16).toString('base64url')].join('.');
    await harness.refused(400, 'decryption-failed', key, 'decrypt', { ...request, ciphertext: changed });
  }
});

test('the JDK: RSA-OAEP, whose mask has SHA-1 unless it is told otherwise', async () => {
  const sealed = await byJava('oaep');
  const every = ['SHA-1 SHA-1', 'SHA-256 SHA-1', 'SHA-256 SHA-256', 'SHA-384 SHA-1', 'SHA-384 SHA-384', 'SHA-512 SHA-1', 'SHA-512 SHA-512'];
  expect(sealed.map(([, hash, mask]) => `${hash} ${mask}`)).toEqual(every);
  const nameOf = (hash: string) => hash.replace('-', '').toLowerCase();
  for (const [key, hash, mask, ciphertext] of sealed) {
    const label = mask === 'SHA-1' ? {} : { label: base64('label') };
    const request = { ...{ ciphertext, 'hash-algorithm': nameOf(hash), 'mgf1-hash': nameOf(mask) }, ...label };
    expect(await harness.do(key, 'decrypt', request)).toEqual({ plaintext: base64('by the JDK'), 'key-version': 1 });
    await harness.refused(400, 'decryption-failed', key, 'decrypt', { ...request, label: base64('other') });
  }
});
