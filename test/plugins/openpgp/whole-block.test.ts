// One block with every version of a primary key and of its subkeys: what has to be published so that all signatures stay verifiable.
import { createMessage, readKeys, readSignature, verify } from 'openpgp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { codeOf, type OpenpgpHarness, startOpenpgpHarness } from './harness.ts';

const path = temporaryDirectory();
const data = Buffer.from('Some data');
let harness: OpenpgpHarness;

beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), '2026-01-01T00:00:00Z');
  await harness.create('whole', { cipher: 'ed25519', 'openpgp-user-id': 'Ada Lovelace <ada@example.org>' });
  const leaf = { 'openpgp-primary': 'whole', 'openpgp-key-usage': ['sign'] };
  await harness.create('leaf-a', { cipher: 'ecdsa-p256', ...leaf });
  await harness.create('leaf-b', { cipher: 'ed25519', ...leaf });
  await harness.do('leaf-a', 'rotate');
  await harness.do('whole', 'rotate');
  await harness.do('leaf-a', 'rotate');
});
afterAll(() => harness.close());

async function blockOf(name: string, fields: object): Promise<string> {
  const { keys, 'key-version': version } = await harness.do(name, 'export-openpgp-public', fields);
  expect(keys).toEqual([{ version, keyblock: expect.stringMatching(/^-----BEGIN PGP PUBLIC KEY BLOCK-----\n/) }]);
  expect(keys[0].keyblock.match(/-----BEGIN/g)).toHaveLength(1);
  return keys[0].keyblock;
}

/** Number of subkeys of each certificate. */
async function subkeysIn(keyblock: string): Promise<readonly number[]> {
  return (await readKeys({ armoredKeys: keyblock })).map(({ subkeys }) => subkeys.length);
}

test('version all with subkeys verifies what every version of the primary key and of its subkeys signed, the newest one first', async () => {
  const keyblock = await blockOf('whole', { version: 'all', subkeys: true });
  expect(await blockOf('whole', { version: 'all', subkeys: true })).toBe(keyblock);
  const certificates = await readKeys({ armoredKeys: keyblock });
  const newest = await readKeys({ armoredKeys: await harness.block('whole') });
  expect(certificates.map((one) => [one.getFingerprint() === newest[0]?.getFingerprint(), one.subkeys.length])).toEqual([
    [true, 1],
    [false, 3],
  ]);
  for (const [name, versions] of Object.entries({ whole: [1, 2], 'leaf-a': [1, 2, 3], 'leaf-b': [1] })) {
    for (const version of versions) {
      const { signatures } = await verify({
        message: await createMessage({ binary: data }),
        signature: await readSignature({ armoredSignature: await harness.sign(name, data, { 'key-version': version }) }),
        verificationKeys: certificates,
        format: 'binary',
        date: harness.today(),
      });
      expect([name, version, await signatures[0]?.verified]).toEqual([name, version, true]);
    }
  }
});

test('each wish alone: all versions, the subkeys of one version, all versions of a subkey', async () => {
  expect(await subkeysIn(await blockOf('whole', { version: 'all' }))).toEqual([0, 0]);
  expect(await subkeysIn(await blockOf('whole', { subkeys: true }))).toEqual([1]);
  expect(await subkeysIn(await blockOf('whole', { version: 1, subkeys: true }))).toEqual([3]);
  expect(await subkeysIn(await blockOf('leaf-a', { version: 'all' }))).toEqual([1, 2]);
  expect(await blockOf('leaf-b', { version: 'all' })).toBe(await harness.block('leaf-b'));
});

test('without a wish the primary key comes alone, and a subkey with its primary key (spec)', async () => {
  expect(await subkeysIn(await harness.block('whole'))).toEqual([0]);
  expect(await subkeysIn(await harness.block('leaf-b'))).toEqual([1]);
});

test('an imported block comes as it was given, whatever is wished', async () => {
  const given = await harness.block('leaf-a');
  expect((await harness.importBlock('imported', given)).status).toBe(201);
  expect(await blockOf('imported', { version: 'all', subkeys: true })).toBe(given);
});

test('subkeys of a subkey are 400, and a key that is none has no block', async () => {
  expect(await codeOf(harness.act('leaf-a', 'export-openpgp-public', { subkeys: true }))).toEqual({ status: 400, code: 'invalid-value' });
  await harness.create('none', { cipher: 'ed25519' });
  const wish = { version: 'all', subkeys: true };
  expect(await codeOf(harness.act('none', 'export-openpgp-public', wish))).toEqual({ status: 400, code: 'operation-not-supported' });
});
