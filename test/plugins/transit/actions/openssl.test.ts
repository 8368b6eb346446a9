// Transit keys and the openssl command line, in both directions.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
const text = 'signed here, checked there\n';
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'));
  file('text', text);
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

/** Writes a file and gives its path. */
function file(name: string, content: string | Uint8Array): string {
  writeFileSync(directory(name), content);
  return directory(name);
}

/** What openssl prints; throws when it fails. */
function openssl(...parameters: readonly string[]): string {
  return execFileSync('openssl', parameters, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const pss = ['-sigopt', 'rsa_padding_mode:pss'];

/** What openssl takes to sign and verify, and what the service takes for the same. */
const ways: readonly [string, string, readonly string[], object][] = [
  ['rsa-2048', '-sha256', [], {}],
  ['rsa-4096', '-sha512', [], { 'hash-algorithm': 'sha512' }],
  ['rsa-2048', '-sha256', [...pss, '-sigopt', 'rsa_pss_saltlen:32'], { 'signature-algorithm': 'pss' }],
  ['rsa-3072', '-sha384', pss, { 'signature-algorithm': 'pss', 'hash-algorithm': 'sha384' }],
  ['ecdsa-p256', '-sha256', [], {}],
  ['ecdsa-p384', '-sha384', [], { 'hash-algorithm': 'sha384' }],
  ['ecdsa-p521', '-sha256', [], {}],
  ['ecdsa-p521', '-sha512', [], { 'hash-algorithm': 'sha512' }],
];

describe.each(ways)('%s %s %j', (cipher, digest, options, fields) => {
  const name = `way-${ways.findIndex((way) => way[0] === cipher && way[1] === digest && way[2] === options)}`;
  beforeAll(() => harness.create(name, { cipher, exportable: true }));

  test('openssl verifies what the service signed, with the prefix removed', async () => {
    const { signature } = await harness.do(name, 'sign', { text, 'base64-encoded': false, ...fields });
    const octets = file('signature', Buffer.from(signature.replace('store:v1:', ''), 'base64'));
    const publicKey = file('public.pem', (await harness.state(name)).keys['1']);
    expect(openssl('dgst', digest, ...options, '-verify', publicKey, '-signature', octets, directory('text'))).toContain('Verified OK');
  });

  test('the service verifies what openssl signed with the exported key, with the prefix added', async () => {
    const privateKey = file('private.pem', (await harness.do(name, 'export', {})).keys['1']);
    openssl('dgst', digest, ...options, '-sign', privateKey, '-out', directory('made'), directory('text'));
    const signature = `store:v1:${base64(readFileSync(directory('made')))}`;
    expect((await harness.do(name, 'verify', { text: base64(text), signature, ...fields })).valid).toBe(true);
    expect((await harness.do(name, 'verify', { text: base64(`${text} `), signature, ...fields })).valid).toBe(false);
  });
});

describe('ed25519', () => {
  test('both ways', async () => {
    await harness.create('ed', { cipher: 'ed25519', exportable: true });
    const publicKey = file('public.pem', (await harness.state('ed')).keys['1']);
    const privateKey = file('private.pem', (await harness.do('ed', 'export', {})).keys['1']);
    const { signature } = await harness.do('ed', 'sign', { text: base64(text) });
    const octets = file('signature', Buffer.from(signature.replace('store:v1:', ''), 'base64'));
    const parameters = ['-rawin', '-in', directory('text')];
    expect(openssl('pkeyutl', '-verify', '-pubin', '-inkey', publicKey, '-sigfile', octets, ...parameters)).toContain(
      'Verified Successfully',
    );
    openssl('pkeyutl', '-sign', '-inkey', privateKey, '-out', directory('made'), ...parameters);
    expect(base64(readFileSync(directory('made')))).toBe(signature.replace('store:v1:', ''));
  });
});

describe('keys made by openssl', () => {
  const keys: readonly [string, string, readonly string[]][] = [
    ['rsa-2048', 'PKCS#8', ['genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048']],
    ['rsa-2048', 'PKCS#1', ['genrsa', '-traditional', '2048']],
    ['rsa-2048', 'three primes', ['genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048', '-pkeyopt', 'rsa_keygen_primes:3']],
    ['rsa-2048', 'exponent 3', ['genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048', '-pkeyopt', 'rsa_keygen_pubexp:3']],
    ['ecdsa-p256', 'PKCS#8', ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256']],
    ['ecdsa-p384', 'SEC1 after its parameters', ['ecparam', '-name', 'secp384r1', '-genkey']],
    ['ecdsa-p256', 'explicit parameters', ['ecparam', '-name', 'prime256v1', '-genkey', '-param_enc', 'explicit']],
    ['ed25519', 'PKCS#8', ['genpkey', '-algorithm', 'ED25519']],
  ];
  const refused = ['three primes'];

  test.each(keys)('%s as %s', async (cipher, form, command) => {
    const name = `made-${keys.findIndex((key) => key[2] === command)}`;
    const data = openssl(...command);
    await harness.create(name, { cipher });
    const answer = await harness.act(name, 'import', { data });
    expect({ status: answer.status, code: answer.body?.code }).toEqual(
      refused.includes(form) ? { status: 400, code: 'invalid-key-data' } : { status: 204, code: undefined },
    );
    const named = cipher.startsWith('ecdsa') ? ['-ec_param_enc', 'named_curve', '-ec_conv_form', 'uncompressed'] : [];
    const publicKey = openssl('pkey', '-in', file('made.pem', data), '-pubout', ...named);
    const shown = (await harness.state(name)).keys[refused.includes(form) ? '1' : '2'];
    expect(shown === publicKey).toBe(!refused.includes(form));
  });
});
