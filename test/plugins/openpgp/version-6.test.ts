// Keys of version 6 (RFC 9580), by setting at creation: read, verified, exported and backed up as those of version 4.
import { readKey, readMessage, readPrivateKey, sign, createMessage, verify } from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { base64, codeOf, type OpenpgpHarness, startOpenpgpHarness } from './harness.ts';

const path = temporaryDirectory();
const data = Buffer.from('Some data\nin lines\n');
let harness: OpenpgpHarness;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), '2026-01-01T00:00:00Z');
});
afterAll(() => harness.close());

describe.each([
  ['ed25519', 'ed25519'],
  ['rsa-2048', 'rsaEncryptSign'],
  ['ecdsa-p384', 'ecdsa'],
])('%s', (cipher, algorithm) => {
  const name = `sixth-${cipher}`;
  const leaf = `${name}-leaf`;
  beforeAll(async () => {
    const sixth = { cipher, 'openpgp-packet-version': 6, exportable: true, 'allow-plaintext-backup': true };
    await harness.create(name, { ...sixth, 'openpgp-user-id': 'Ada <ada@example.org>', 'openpgp-expires-after': '1y' });
    await harness.create(leaf, { ...sixth, 'openpgp-primary': name, 'openpgp-key-usage': ['sign'] });
  });

  test('the certificate has a direct-key signature, and its armor no checksum', async () => {
    const block = await harness.block(leaf);
    expect(block).not.toMatch(/\n=[A-Za-z0-9+/]{4}\n/);
    const key = await readKey({ armoredKey: block });
    expect([key.keyPacket.version, key.getAlgorithmInfo().algorithm, key.getFingerprint().length]).toEqual([6, algorithm, 64]);
    expect((key as unknown as { directSignatures: readonly unknown[] }).directSignatures).toHaveLength(1);
    expect((await key.getExpirationTime())?.valueOf()).toBe(Date.parse('2027-01-01T00:00:00Z'));
    const found = await key.getSigningKey(undefined, harness.today());
    expect(found.getFingerprint()).toBe(key.subkeys[0]?.getFingerprint());
  });

  test('what both sign verifies here, in every form, and a changed text does not', async () => {
    for (const signer of [name, leaf]) {
      for (const form of ['detached', 'detached-text']) {
        const { signature } = await harness.do(signer, 'openpgp-sign', { text: base64(data), form });
        expect(await harness.verify(signer, signature, data)).toMatchObject({ valid: true, version: 1 });
        expect(await harness.isValid(signer, signature, Buffer.from('Other data'))).toBe(false);
      }
    }
  });

  test('a message verifies with openpgp.js', async () => {
    const { signature } = await harness.do(leaf, 'openpgp-sign', { text: base64(data), form: 'message' });
    const verificationKeys = await readKey({ armoredKey: await harness.block(leaf) });
    const message = await readMessage({ armoredMessage: signature });
    const { signatures } = await verify({ message, verificationKeys, format: 'binary', date: harness.today() });
    expect(await signatures[0]?.verified).toBe(true);
  });

  test('its private key signs outside', async () => {
    const { keys } = await harness.do(name, 'export-openpgp');
    const signingKeys = await readPrivateKey({ armoredKey: keys[0].value });
    const message = await createMessage({ binary: data });
    const signature = await sign({ message, signingKeys, detached: true, format: 'armored', date: harness.today() });
    expect(await harness.isValid(name, signature, data)).toBe(true);
    expect(await codeOf(harness.act(leaf, 'export-openpgp'))).toEqual({ status: 400, code: 'operation-not-supported' });
  });

  test('a backup brings it back under another name', async () => {
    const { key: backup } = await harness.do(name, 'backup');
    await harness.create(`${name}-copy`, { cipher, 'openpgp-packet-version': 6, 'deletion-allowed': true });
    const restored = await harness.act(`${name}-copy`, 'restore', { key: backup });
    expect(restored.status).toBeLessThan(300);
    expect(await harness.block(`${name}-copy`)).toBe(await harness.block(name));
  });

  test('a hash of the caller is refused', async () => {
    expect(await codeOf(harness.act(name, 'openpgp-trailer'))).toEqual({ status: 400, code: 'operation-not-supported' });
    expect((await harness.state(name)).actions).not.toContain('openpgp-sign-digest');
    expect(await harness.findings()).toEqual([]);
  });
});

test('version 4 is what a key gets without the field', async () => {
  await harness.create('fourth', { cipher: 'ed25519', 'openpgp-user-id': 'Ada' });
  expect((await readKey({ armoredKey: await harness.block('fourth') })).keyPacket.version).toBe(4);
});
