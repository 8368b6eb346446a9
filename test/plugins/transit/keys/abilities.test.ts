// The actions in the state of a key are exactly those that are not refused for what the key is.
import { afterAll, beforeAll, expect, test } from 'vitest';
import openpgp from '../../../../plugins/openpgp/index.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { base64, startTransitHarness, type TransitHarness } from '../harness.ts';

const path = temporaryDirectory();
let harness: TransitHarness;
let actions: readonly string[];
let backup: string;
let publicKey: string;

const prefix = '/v1/state/keystore/transit-keys/{name}/';
const userId = 'Releases <releases@example.com>';
/** Refusals because of what a key is, whatever the request says. */
const ofTheKey = new Set(['operation-not-supported', 'export-not-allowed', 'backup-not-allowed', 'restore-would-destroy']);

beforeAll(async () => {
  harness = await startTransitHarness(path(), { plugins: [openpgp] });
  actions = Object.entries(harness.app.openapi().paths)
    .filter(([one, { post }]) => one.startsWith(prefix) && !one.endsWith('-batch') && post !== undefined)
    .map(([one]) => one.slice(prefix.length));
  await harness.create('source', { 'allow-plaintext-backup': true });
  backup = (await harness.do('source', 'backup', {})).key;
  await harness.create('pair', { cipher: 'ed25519' });
  publicKey = (await harness.state('pair')).keys['1'];
  await harness.create('primary', { cipher: 'ed25519', 'openpgp-user-id': userId });
});
afterAll(() => harness.stop());

/** Kinds of keys: what each is made with, or how. */
const kinds: readonly (readonly [kind: string, make: (name: string) => Promise<unknown>])[] = [
  ['that encrypts', (name) => harness.create(name)],
  ['that is derived', (name) => harness.create(name, { derived: true })],
  ['that may be exported and backed up', (name) => harness.create(name, { exportable: true, 'allow-plaintext-backup': true })],
  ['that was used', async (name) => (await harness.create(name)) && harness.do(name, 'encrypt', { plaintext: '' })],
  [
    'that was used and may be deleted',
    async (name) => (await harness.create(name, { 'deletion-allowed': true })) && harness.do(name, 'encrypt', { plaintext: '' }),
  ],
  ['that was rotated', async (name) => (await harness.create(name)) && harness.do(name, 'rotate', {})],
  ['that signs', (name) => harness.create(name, { cipher: 'ecdsa-p256' })],
  ['that signs and may be exported', (name) => harness.create(name, { cipher: 'ed25519', exportable: true })],
  ['that makes CMACs', (name) => harness.create(name, { cipher: 'aes128-cmac', exportable: true })],
  ['that is for RSA encryption', (name) => harness.create(name, { cipher: 'rsa-2048', use: 'encrypt', exportable: true })],
  ['that agrees on secrets', (name) => harness.create(name, { cipher: 'ecdsa-p256', use: 'agree', exportable: true })],
  ['that agrees by X25519', (name) => harness.create(name, { cipher: 'x25519' })],
  ['on secp256k1', (name) => harness.create(name, { cipher: 'ecdsa-secp256k1' })],
  ['that only verifies', (name) => harness.create(name, { cipher: 'ed25519', 'public-key': publicKey, exportable: true })],
  ['with a User ID', (name) => harness.create(name, { cipher: 'ed25519', 'openpgp-user-id': userId })],
  [
    'with a User ID that was taken away',
    async (name) => {
      await harness.create(name, { cipher: 'ed25519', 'openpgp-user-id': userId });
      expect((await harness.put(name, { cipher: 'ed25519' })).status).toBe(204);
    },
  ],
  ['that is a subkey', (name) => harness.create(name, { cipher: 'ed25519', 'openpgp-primary': 'primary', 'openpgp-key-usage': ['sign'] })],
  [
    'that was imported as a block',
    async (name) => {
      const { keys } = await harness.do('primary', 'export-openpgp-public', {});
      const answer = await harness.request('POST', '/v1/state/keystore/import-openpgp', { name, openpgp: keys[0].keyblock });
      expect(answer.status).toBe(201);
    },
  ],
];

test.each(kinds)('of a key %s', async (kind, make) => {
  const name = kind.toLowerCase().replaceAll(' ', '-');
  await make(name);
  const {
    actions: offered,
    cipher,
    'supports-encryption': encrypts,
    'supports-decryption': decrypts,
  } = (await harness.state(name)) as {
    readonly actions: readonly string[];
    readonly cipher: string;
    readonly 'supports-encryption': boolean;
    readonly 'supports-decryption': boolean;
  };
  const bodies: Readonly<Record<string, object>> = {
    encrypt: { plaintext: base64('x') },
    decrypt: { ciphertext: 'store:v1:AAAA' },
    rewrap: { ciphertext: 'store:v1:AAAA' },
    sign: { text: base64('x') },
    verify: {
      text: base64('x'),
      ...(encrypts || decrypts || cipher.endsWith('cmac') ? { hmac: 'store:hashed:v1:AAAA' } : { signature: 'store:v1:AAAA' }),
    },
    hmac: { plaintext: base64('x') },
    cmac: { plaintext: base64('x') },
    decapsulate: { ciphertext: 'store:v1:AAAA' },
    'generate-csr': { subject: 'CN=x' },
    'set-certificate-chain': { 'certificate-chain': '' },
    import: { data: 'no key' },
    trim: { version: 1 },
    restore: { key: backup },
    'openpgp-sign': { text: base64('x') },
    'openpgp-sign-digest': { digest: base64(Buffer.alloc(64)), trailer: base64(Buffer.alloc(41)) },
    'openpgp-verify': { text: base64('x'), signature: 'no signature' },
    // A subkey is exported under the User ID of its primary key.
    'export-openpgp': kind === 'that is a subkey' ? {} : { 'openpgp-user-id': userId },
  };
  const possible: string[] = [];
  for (const action of actions.filter((one) => one !== 'restore')) await attempt(name, action);
  // A restore makes another key of it.
  await make(`${name}-twin`);
  await attempt(`${name}-twin`, 'restore');
  expect(possible.toSorted()).toEqual(offered.toSorted());

  async function attempt(key: string, action: string): Promise<void> {
    const { status, body } = await harness.act(key, action, bodies[action] ?? {});
    if (!(status >= 400 && ofTheKey.has(String(body?.code)))) possible.push(action);
  }
});
