// Secrets that libraries of others have encapsulated for ML-KEM keys of each token that has them: the OpenSSL of Python's cryptography, Go's crypto/mlkem, and
// Bouncy Castle, which also seals by HPKE.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must, requireToolchain } from '../clients/commands.ts';
import { obtainGo, onlyThisGo } from '../clients/go/toolchain.ts';
import { versions } from '../clients/versions.ts';
import { virtualEnvironment } from '../clients/virtual-environment.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { findModules } from '../harness/token/modules.ts';
import { base64, startTransitHarness, type TransitHarness } from '../plugins/transit/harness.ts';

const path = temporaryDirectory();
const programs = join(import.meta.dirname, 'senders');
const ciphers = ['ml-kem-768', 'ml-kem-1024'];
const aeads = ['aes-128-gcm', 'aes-256-gcm', 'chacha20-poly1305'];
const suites = ciphers.flatMap((key) => ['256', '384', '512'].flatMap((bits) => aeads.map((aead) => `${key} hkdf-sha${bits} ${aead}`)));
const [, ...modules] = await findModules({ builds: true });

test('a module has ML-KEM', () => expect(modules.length).toBeGreaterThan(0));

async function linesOf(program: string, ...words: readonly string[]): Promise<readonly (readonly string[])[]> {
  const { stdout } = await must(program, words);
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
}

/** Java with what its program needs, which comes once. */
async function byJava(format: string, keys: string): Promise<readonly (readonly string[])[]> {
  const jars = join(import.meta.dirname, '../../node_modules/.cache/senders');
  const maven = ['-q', '-B', '-f', join(programs, 'pom.xml'), 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
  if (!existsSync(jars)) await must('mvn', maven);
  return linesOf('java', '-cp', `${jars}/*`, join(programs, 'Seal.java'), format, keys);
}

describe.each(modules)('in $name', (module) => {
  const place = module.name.replaceAll(/\W/g, '-');
  let harness: TransitHarness;
  let keys: string;

  beforeAll(async () => {
    for (const toolchain of ['go', 'java', 'mvn', 'python3'] as const) await requireToolchain(toolchain);
    keys = path(`${place}-keys`);
    for (const directory of [keys, path(`${place}-token`), path(place)]) mkdirSync(directory);
    harness = await startTransitHarness(path(place), { moreTokens: [await module.make(path(`${place}-token`))] });
    for (const cipher of [...ciphers, 'x25519']) {
      await harness.create(cipher, { cipher, ...(cipher === 'x25519' ? {} : { 'allow-shared-secret': true }) });
      writeFileSync(join(keys, `${cipher}.pem`), (await harness.state(cipher)).keys['1']);
    }
  });
  afterAll(() => harness?.stop());

  /** Decapsulates each, and once more with one changed bit: another secret, and no error. */
  async function expectSecrets(made: readonly (readonly string[])[]): Promise<void> {
    expect(made.map(([key]) => String(key)).toSorted()).toEqual(ciphers.toSorted());
    for (const [key, , secret, ciphertext] of made as readonly [string, string, string, string][]) {
      expect((await harness.do(key, 'decapsulate', { ciphertext }))['shared-secret']).toBe(secret);
      const octets = Buffer.from(ciphertext, 'base64');
      octets[77] = Number(octets[77]) ^ 1;
      expect((await harness.do(key, 'decapsulate', { ciphertext: base64(octets) }))['shared-secret']).not.toBe(secret);
    }
  }

  test('OpenSSL, in cryptography for Python', async () => {
    writeFileSync(path('constraints.txt'), 'cffi==2.1.1\npycparser==3.12\n');
    const bin = await virtualEnvironment('ml-kem-senders', ['cryptography'], [], path());
    await expectSecrets(await linesOf(join(bin, 'python3'), join(programs, 'encapsulate.py'), keys));
  });

  test('crypto/mlkem of Go', async () => {
    const go = await obtainGo(versions.go);
    await must(go, ['build', '-mod=readonly', '-o', path('go-sender'), '.'], { cwd: programs, environment: onlyThisGo });
    await expectSecrets(await linesOf(path('go-sender'), 'ml-kem', keys));
  });

  test('Bouncy Castle', async () => {
    await expectSecrets(await byJava('ml-kem', keys));
  });

  test('Bouncy Castle, by HPKE', async () => {
    const sealed = await byJava('ml-kem-hpke', keys);
    expect(sealed.map((line) => line.slice(0, 3).join(' ')).sort()).toEqual(suites.toSorted());
    for (const [key, kdf, aead, ciphertext] of sealed as readonly [string, string, string, string][]) {
      const request = { format: 'hpke', kdf, aead, ciphertext, info: base64('info'), 'associated-data': base64('bound') };
      expect(await harness.do(key, 'decrypt', request)).toEqual({ plaintext: base64('by Bouncy Castle'), 'key-version': 1 });
      await harness.refused(400, 'decryption-failed', key, 'decrypt', { ...request, info: base64('other') });
    }
    // Sealed to one key and then to the other, as api.md has it in place of X-Wing.
    const [[, , , outer] = []] = await byJava('both', keys);
    const bound = { format: 'hpke', info: base64('info'), 'associated-data': base64('bound') };
    const { plaintext: inner } = await harness.do('x25519', 'decrypt', { ...bound, ciphertext: outer });
    expect(await harness.do('ml-kem-768', 'decrypt', { ...bound, ciphertext: inner })).toMatchObject({
      plaintext: base64('by Bouncy Castle'),
    });
  });
});
