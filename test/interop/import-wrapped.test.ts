// Keys that others have wrapped for their import: by the programs of api.md as they are there (OpenSSL, Java, an HSM whose RSA-OAEP has SHA-1 alone), by
// cryptography for Python, and by calls of PKCS#11 in the tokens at hand.
import { execFile, execFileSync } from 'node:child_process';
import { createDecipheriv, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, verify } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireToolchain } from '../clients/commands.ts';
import { virtualEnvironment } from '../clients/virtual-environment.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { findModules } from '../harness/token/modules.ts';
import { makeEmptySoftToken } from '../harness/token/softhsm.ts';
import { startTransitHarness, type TransitHarness } from '../plugins/transit/harness.ts';
import type { WrapInToken, WrappedInToken } from './importing/wrapped-in-token.ts';

const path = temporaryDirectory();
const programs = join(import.meta.dirname, 'importing');
const page = readFileSync(join(import.meta.dirname, '../../appliance/docs/use/api.md'), 'utf8');
const run = promisify(execFile);
const modules = await findModules({ builds: true });
const ciphers = { aes: 'aes256-gcm96', rsa: 'rsa-2048', ec: 'ecdsa-p256', ed25519: 'ed25519' } as const;
type Kind = WrapInToken['kind'];
const kinds = Object.keys(ciphers) as Kind[];
let harness: TransitHarness;
let count = 0;

beforeAll(async () => {
  for (const name of ['appliance', 'source', ...modules.map(({ name: module }) => module)]) mkdirSync(path(name.replaceAll('/', '-')));
  harness = await startTransitHarness(path('appliance'));
});
afterAll(() => harness.stop());

/** Programs in this language that api.md has and that have these words. */
function written(language: 'java' | 'python' | 'sh', words: RegExp): string {
  const found = [...page.matchAll(new RegExp(`\n\`\`\`${language}\n([^]*?)\n\`\`\`\n`, 'g'))].map(([, text]) => String(text));
  const [program, ...more] = found.filter((text) => words.test(text));
  expect(more).toEqual([]);
  return String(program);
}

function writtenTo(file: string, text: string): string {
  writeFileSync(path(file), text);
  return path(file);
}

/** A new key of that kind, into which a wrapped one comes. */
async function imported(
  kind: Kind,
  wrap: (wrappingKey: string) => Buffer | Promise<Buffer>,
  options: () => object = () => ({}),
): Promise<string> {
  const name = `${kind}-${(count += 1)}`;
  await harness.create(name, { cipher: ciphers[kind] });
  const made = await harness.do(name, 'import-wrapping-key', {});
  const ciphertext = (await wrap(writtenTo('import.pub', made['wrapping-key']))).toString('base64');
  await harness.do(name, 'import', { ciphertext, 'import-id': made['import-id'], ...options() });
  return name;
}

/** Expects that what version 2 of a key encrypts opens under the octets. */
async function expectOpens(name: string, key: Uint8Array): Promise<void> {
  const { ciphertext } = await harness.do(name, 'encrypt', { plaintext: Buffer.from('moving').toString('base64') });
  const [text, payload] = /^store:v2:(.+)$/.exec(ciphertext) ?? [];
  expect(text).toBe(ciphertext);
  const sealed = Buffer.from(String(payload), 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAuthTag(sealed.subarray(-16));
  expect(Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString()).toBe('moving');
}

const publicKeyOf = async (name: string): Promise<string> => (await harness.state(name)).keys['2'];
const pemOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' });

/** Octets to wrap, in the file imported.der, and what tells that an imported key is theirs. */
function material(kind: Kind): (name: string) => Promise<void> {
  if (kind === 'aes') {
    const key = randomBytes(32);
    writeFileSync(path('imported.der'), key);
    return (name) => expectOpens(name, key);
  }
  const { privateKey, publicKey } =
    kind === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2_048 })
      : kind === 'ec'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('ed25519');
  writeFileSync(path('imported.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(path('imported.der'), privateKey.export({ type: 'pkcs8', format: 'der' }));
  return async (name) => expect(await publicKeyOf(name)).toBe(pemOf(publicKey));
}

describe.each(kinds)('a key for %s', (kind) => {
  test('by OpenSSL alone', async () => {
    const expectTheirs = material(kind);
    const lines = written('sh', /openssl enc -id-aes256-wrap-pad/).split('\n');
    const ours = (line: string): boolean =>
      /^(keystorectl|IMPORT_ID|grep|printf|call)/.test(line) || (kind === 'aes' && line.includes('pkcs8'));
    const program = writtenTo('wrap.sh', ['set -eu', ...lines.filter((line) => !ours(line))].join('\n'));
    const name = await imported(kind, () => {
      execFileSync('bash', [program], { cwd: path() });
      return readFileSync(path('wrapped.bin'));
    });
    await expectTheirs(name);
  });

  test('by Java, without a library', async () => {
    await requireToolchain('java');
    const expectTheirs = material(kind);
    const program = writtenTo('Wrap.java', written('java', /wrap/i));
    await expectTheirs(await imported(kind, (wrappingKey) => execFileSync('java', [program, wrappingKey, path('imported.der')])));
  });

  test('by cryptography for Python', async () => {
    await requireToolchain('python3');
    writeFileSync(path('constraints.txt'), 'cffi==2.1.1\npycparser==3.12\n');
    const bin = await virtualEnvironment('ml-kem-senders', ['cryptography'], [], path());
    const expectTheirs = material(kind);
    const line = (wrappingKey: string): string[] => [join(programs, 'wrap.py'), wrappingKey, path('imported.der')];
    await expectTheirs(await imported(kind, (wrappingKey) => execFileSync(join(bin, 'python3'), line(wrappingKey))));
  });
});

test.each(['aes', 'rsa', 'ec'] as const)('a key for %s by SoftHSM2, of one that was made there, by python-pkcs11', async (kind) => {
  writeFileSync(path('constraints.txt'), 'asn1crypto==1.5.1\n');
  const bin = await virtualEnvironment('python-pkcs11', [], ['python-pkcs11==0.10.1'], path());
  mkdirSync(path('source', kind));
  const token = await makeEmptySoftToken(path('source', kind), 'source');
  const environment = { ...process.env, ...token.environment, HSM_PIN: pinOf(token) };
  const at = ['--module', token.module, '--token-label', String(token.label), '--login', '--pin', environment.HSM_PIN];
  const tool = (...words: readonly string[]): Buffer =>
    execFileSync('pkcs11-tool', [...at, '--label', 'moving', ...words], { env: environment });
  const secret = writtenTo('secret', 'thirty-two octets of an AES key.');
  if (kind === 'aes') tool('--write-object', secret, '--type', 'secrkey', '--key-type', 'AES:32', '--extractable');
  else tool('--keypairgen', '--key-type', { rsa: 'rsa:2048', ec: 'EC:prime256v1' }[kind], '--id', '01', '--extractable');
  const line = [writtenTo('wrap.py', written('python', /wrap/)), token.module, String(token.label), 'moving'];
  const wrap = (wrappingKey: string): Buffer => execFileSync(join(bin, 'python3'), [...line, wrappingKey], { env: environment });
  const name = await imported(kind, wrap, () => ({ 'hash-algorithm': 'sha1' }));
  if (kind === 'aes') return expectOpens(name, readFileSync(secret));
  const publicKey = createPublicKey({ key: tool('--read-object', '--type', 'pubkey'), format: 'der', type: 'spki' });
  expect(await publicKeyOf(name)).toBe(pemOf(publicKey));
});

/** Keys that a token does not let out. */
const staying: Readonly<Record<string, readonly Kind[]>> = { SoftHSM2: ['ed25519'] };

describe.each(modules)('by calls of PKCS#11 in $name', (tried) => {
  const { name: moduleName } = tried;
  let made: ReturnType<typeof tried.make> | undefined;
  const asked = async (kind: Kind, wrappingKey: string): Promise<WrappedInToken> => {
    const { module, libraryParameters, environment, ...token } = await (made ??= tried.make(path(moduleName.replaceAll('/', '-'))));
    const wanted = { module, libraryParameters, label: String(token.label), pin: pinOf(token), kind, wrappingKey } as WrapInToken;
    const env = { ...process.env, ...environment };
    const { stdout } = await run(process.execPath, [join(programs, 'wrap-in-token.ts'), JSON.stringify(wanted)], { env });
    return JSON.parse(stdout) as WrappedInToken;
  };

  test.each(kinds.filter((kind) => staying[moduleName]?.includes(kind) !== true))('a key for %s that was made there', async (kind) => {
    let wrapped: WrappedInToken | undefined;
    const wrap = async (file: string): Promise<Buffer> => {
      wrapped = await asked(kind, readFileSync(file, 'utf8'));
      return Buffer.from(wrapped.ciphertext, 'base64');
    };
    const name = await imported(kind, wrap, () => ({ 'hash-algorithm': wrapped?.hash }));
    const told = Buffer.from(wrapped?.told ?? '', 'base64');
    if (kind === 'aes') return expectOpens(name, told);
    const key = { key: await publicKeyOf(name), dsaEncoding: 'ieee-p1363' } as const;
    expect(verify(kind === 'ed25519' ? null : 'sha256', Buffer.from('moving'), key, told)).toBe(true);
  });
});

function pinOf({ pin }: { readonly pin: object }): string {
  const { file, environment } = pin as { readonly file?: string; readonly environment?: string };
  return file === undefined ? String(process.env[String(environment)]) : readFileSync(file, 'utf8').trim();
}
