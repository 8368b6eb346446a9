// Keys that others have wrapped for their import, by the programs of api.md as they are there: Java, and an HSM whose RSA-OAEP has SHA-1 alone.
import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { virtualEnvironment } from '../clients/virtual-environment.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeEmptySoftToken } from '../harness/token/softhsm.ts';
import { startTransitHarness, type TransitHarness } from '../plugins/transit/harness.ts';

const path = temporaryDirectory();
const page = readFileSync(join(import.meta.dirname, '../../appliance/docs/use/api.md'), 'utf8');
let harness: TransitHarness;

beforeAll(async () => {
  for (const name of ['appliance', 'source']) mkdirSync(path(name));
  harness = await startTransitHarness(path('appliance'));
});
afterAll(() => harness.stop());

/** The program in this language that api.md has for wrapping. */
function written(language: 'java' | 'python', file: string): string {
  const programs = [...page.matchAll(new RegExp(`\n\`\`\`${language}\n([^]*?)\n\`\`\`\n`, 'g'))].map(([, text]) => String(text));
  const [program, ...more] = programs.filter((text) => /wrap/i.test(text));
  expect(more).toEqual([]);
  writeFileSync(path(file), String(program));
  return path(file);
}

async function imported(name: string, wrap: (wrappingKey: string) => Buffer, options: object = {}): Promise<string> {
  await harness.create(name, { cipher: 'ecdsa-p256' });
  const made = await harness.do(name, 'import-wrapping-key', {});
  writeFileSync(path('import.pub'), made['wrapping-key']);
  const ciphertext = wrap(path('import.pub')).toString('base64');
  await harness.do(name, 'import', { ciphertext, 'import-id': made['import-id'], ...options });
  return (await harness.state(name)).keys['2'];
}

test('by Java, without a library', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(path('imported.der'), privateKey.export({ type: 'pkcs8', format: 'der' }));
  const program = written('java', 'Wrap.java');
  const wrap = (wrappingKey: string): Buffer => execFileSync('java', [program, wrappingKey, path('imported.der')]);
  expect(await imported('of-java', wrap)).toBe(publicKey.export({ type: 'spki', format: 'pem' }));
});

test('by SoftHSM2, of a key that was made there', async () => {
  writeFileSync(path('constraints.txt'), 'asn1crypto==1.5.1\n');
  const bin = await virtualEnvironment('python-pkcs11', [], ['python-pkcs11==0.10.1'], path());
  const token = await makeEmptySoftToken(path('source'), 'source');
  const environment = { ...process.env, ...token.environment, HSM_PIN: readFileSync(pinFileOf(token), 'utf8').trim() };
  const at = ['--module', token.module, '--token-label', String(token.label), '--login', '--pin', environment.HSM_PIN];
  const make = ['--keypairgen', '--key-type', 'EC:prime256v1', '--label', 'moving', '--id', '01', '--extractable'];
  execFileSync('pkcs11-tool', [...at, ...make], { env: environment });
  const read = ['--read-object', '--type', 'pubkey', '--label', 'moving'];
  const publicKey = createPublicKey({
    key: execFileSync('pkcs11-tool', [...at, ...read], { env: environment }),
    format: 'der',
    type: 'spki',
  });
  const line = [written('python', 'wrap.py'), token.module, String(token.label), 'moving'];
  const wrap = (wrappingKey: string): Buffer => execFileSync(join(bin, 'python3'), [...line, wrappingKey], { env: environment });
  expect(await imported('of-an-hsm', wrap, { 'hash-algorithm': 'sha1' })).toBe(publicKey.export({ type: 'spki', format: 'pem' }));
});

function pinFileOf({ pin }: { readonly pin: object }): string {
  return (pin as { readonly file: string }).file;
}
