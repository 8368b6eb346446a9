// OpenPGP blocks: private export, backup and restore, import of foreign certificates, revocation, restart.
import { readFileSync } from 'node:fs';
import {
  createMessage,
  enums,
  generateKey,
  type PrivateKey,
  readKey,
  readPrivateKey,
  readSignature,
  revokeKey,
  sign as signWith,
  verify,
} from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { codeOf, type OpenpgpHarness, startOpenpgpHarness } from './harness.ts';

const path = temporaryDirectory();
let harness: OpenpgpHarness;
beforeAll(async () => {
  // The corpus was made in November 2026.
  harness = await startOpenpgpHarness(path(), '2027-01-01T00:00:00Z');
});
afterAll(() => harness.close());

const userId = 'Ada Lovelace <ada@example.org>';
const data = Buffer.from('Some data');
const corpus = (name: string): string => readFileSync(new URL(`../../interop/openpgp-corpus/${name}`, import.meta.url), 'utf8');
const document = Buffer.from(corpus('document.txt'));
const leafOf = (primary: string): object => ({ 'openpgp-primary': primary, 'openpgp-key-usage': ['sign'] });

const sign = (name: string): Promise<string> => harness.sign(name, data);
const isValid = (name: string, signature: string, octets: Uint8Array = data): Promise<boolean> => harness.isValid(name, signature, octets);

/** A signature made outside, with an exported key. */
async function signOutside(key: PrivateKey): Promise<string> {
  const message = await createMessage({ binary: data });
  return signWith({ message, signingKeys: key, detached: true, date: harness.today() });
}

describe.each(['rsa-2048', 'ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521'])('export with format openpgp, %s', (cipher) => {
  const [primary, subkey] = [`out-${cipher}`, `out-leaf-${cipher}`];

  test('of a primary key: whole, and what it signs outside verifies here', async () => {
    await harness.create(primary, { cipher, 'openpgp-user-id': userId, exportable: true });
    const { keys } = await harness.do(primary, 'export', { format: 'openpgp' });
    expect(keys).toEqual([{ version: 1, value: expect.stringMatching(/^-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n[\s\S]*\n=/) }]);
    const key = await readPrivateKey({ armoredKey: keys[0].value });
    await (key.keyPacket as PrivateKey['keyPacket'] & { validate(): Promise<void> }).validate();
    expect(key.toPublic().armor()).toBe((await readKey({ armoredKey: await harness.block(primary) })).armor());
    expect(await isValid(primary, await signOutside(key))).toBe(true);
  });

  test('of a subkey: never with the secret of its primary', async () => {
    await harness.create(subkey, { cipher, ...leafOf(primary), exportable: true });
    const { keys } = await harness.do(subkey, 'export', { format: 'openpgp' });
    const key = await readPrivateKey({ armoredKey: keys[0].value });
    expect((key.keyPacket as unknown as { isDummy(): boolean }).isDummy()).toBe(true);
    expect(await isValid(subkey, await signOutside(key))).toBe(true);
    expect(await isValid(primary, await signOutside(key))).toBe(false);
  });
});

describe('export with format openpgp', () => {
  test('of a key without User ID needs one in the request; the certificate is dated at the creation', async () => {
    await harness.create('nameless', { cipher: 'ed25519', exportable: true });
    harness.clock.advance(100);
    expect(await codeOf(harness.act('nameless', 'export', { format: 'openpgp' }))).toEqual({ status: 400, code: 'missing-field' });
    const { keys } = await harness.do('nameless', 'export', { format: 'openpgp', 'openpgp-user-id': ' Ada ' });
    const key = await readPrivateKey({ armoredKey: keys[0].value });
    expect(key.getUserIDs()).toEqual(['Ada']);
    expect(key.getCreationTime().getTime()).toBe(harness.today().getTime() - 100_000);
    expect(key.users[0]?.selfCertifications[0]?.created).toEqual(key.getCreationTime());
  });

  test('another User ID in the request leaves the published block alone; a subkey takes none', async () => {
    const before = await harness.block('out-ed25519');
    const { keys } = await harness.do('out-ed25519', 'export', { format: 'openpgp', 'openpgp-user-id': 'Somebody' });
    expect((await readPrivateKey({ armoredKey: keys[0].value })).getUserIDs()).toEqual(['Somebody']);
    expect(await harness.block('out-ed25519')).toBe(before);
    const request = { format: 'openpgp', 'openpgp-user-id': 'Somebody' };
    expect(await codeOf(harness.act('out-leaf-ed25519', 'export', request))).toEqual({ status: 400, code: 'invalid-value' });
  });

  test('every version on its own, and one on demand', async () => {
    await harness.do('out-ed25519', 'rotate');
    expect(
      (await harness.do('out-ed25519', 'export', { format: 'openpgp' })).keys.map(({ version }: { version: number }) => version),
    ).toEqual([1, 2]);
    expect((await harness.do('out-ed25519', 'export', { format: 'openpgp', version: 'latest' })).keys).toHaveLength(1);
  });

  test('refused while not exportable, and for symmetric keys', async () => {
    await harness.create('inside', { cipher: 'ed25519', 'openpgp-user-id': userId });
    await harness.create('aes', { exportable: true });
    const request = { format: 'openpgp', 'openpgp-user-id': userId };
    expect(await codeOf(harness.act('inside', 'export', request))).toEqual({ status: 409, code: 'export-not-allowed' });
    expect(await codeOf(harness.act('aes', 'export', request))).toEqual({ status: 400, code: 'operation-not-supported' });
  });
});

describe('backup and restore', () => {
  test('under another name: fingerprints, blocks, creation times and signatures survive', async () => {
    await harness.create('saved', { cipher: 'ecdsa-p256', 'openpgp-user-id': userId, 'allow-plaintext-backup': true });
    await harness.do('saved', 'rotate');
    await harness.create('saved-leaf', { cipher: 'ed25519', ...leafOf('saved'), 'allow-plaintext-backup': true });
    for (const name of ['saved', 'saved-leaf']) {
      const [keyblock, signature, { key }] = [await harness.block(name), await sign(name), await harness.do(name, 'backup')];
      harness.clock.advance(1000);
      const { cipher } = await harness.config(name);
      await harness.create(`${name}-again`, { cipher });
      await harness.do(`${name}-again`, 'restore', { key });
      expect(await harness.block(`${name}-again`)).toBe(keyblock);
      expect(await isValid(`${name}-again`, signature)).toBe(true);
      expect(await isValid(name, await sign(`${name}-again`))).toBe(true);
    }
  });

  test('a primary key with live subkeys is not replaced by one they do not know', async () => {
    await harness.create('other', { cipher: 'ecdsa-p256', 'openpgp-user-id': userId, 'allow-plaintext-backup': true });
    const [{ key: foreign }, { key: own }] = [await harness.do('other', 'backup'), await harness.do('saved', 'backup')];
    expect((await harness.patch('saved', { 'deletion-allowed': true })).status).toBe(204);
    expect(await codeOf(harness.act('saved', 'restore', { key: foreign }))).toEqual({ status: 409, code: 'in-use' });
    const keyblock = await harness.block('saved');
    await harness.do('saved', 'restore', { key: own });
    expect(await harness.block('saved')).toBe(keyblock);
  });
});

describe('a version of a primary key that bound subkeys does not go while they live: only it can revoke them', () => {
  const primary = { cipher: 'ed25519', 'openpgp-user-id': userId, 'allow-plaintext-backup': true, 'deletion-allowed': true };
  const leaf = (name: string): object => ({ cipher: 'ed25519', ...leafOf(name), 'allow-plaintext-backup': true, 'deletion-allowed': true });

  test('trim is 409 in-use and names them and the way out, which works', async () => {
    await harness.create('bind', primary);
    for (const name of ['bind-a', 'bind-b']) await harness.create(name, leaf('bind'));
    await harness.do('bind-a', 'rotate');
    await harness.do('bind', 'rotate');
    const { status, body } = await harness.act('bind', 'trim', { version: 2 });
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'in-use' });
    expect(body.detail).toMatch(
      /bind-a \(versions 1, 2\), bind-b \(version 1\)\..*Rotate each and trim it to its new version, or delete it/,
    );
    expect((await harness.state('bind'))['oldest-version']).toBe(1);
    const rules = [
      { path: '/v1/**', operations: { all: 'allow' } },
      { path: '/v1/*/keystore/transit-keys/bind-a', operations: { read: 'allow' }, 'hide-fields': ['openpgp-primary'] },
      { path: '/v1/*/keystore/transit-keys/bind-b', operations: { all: 'reject' } },
    ];
    await harness.send('POST', '/v1/config/policy/policies', { name: 'unbound', 'rest-api': { rules } });
    const { token } = (await harness.send('POST', '/v1/state/keystore/token/create', { policies: ['unbound'] })).body;
    for (const [method, path, sent] of [
      ['POST', '/v1/state/keystore/transit-keys/bind/trim', { version: 2 }],
      ['DELETE', '/v1/config/keystore/transit-keys/bind', undefined],
      ['PUT', '/v1/config/keystore/transit-keys/bind', { cipher: 'ed25519' }],
    ] as const) {
      const refused = await harness.send(method, path, sent, { token });
      expect([refused.status, refused.body.code]).toEqual([409, 'in-use']);
      expect(refused.body.detail).not.toMatch(/bind-[ab]/);
      expect(refused.body.detail).toContain('subkeys');
    }
    await harness.do('bind-a', 'rotate');
    await harness.do('bind-a', 'trim', { version: 3 });
    expect((await harness.act('bind', 'trim', { version: 2 })).body.detail).toMatch(/these subkeys: bind-b \(version 1\)\./);
    expect((await harness.remove('bind-b')).status).toBe(204);
    await harness.do('bind', 'trim', { version: 2 });
    await harness.do('bind-a', 'export-openpgp-revocation');
  });

  test('a version that bound nothing is trimmed', async () => {
    await harness.do('bind', 'rotate');
    await harness.do('bind', 'rotate');
    await harness.do('bind-a', 'rotate');
    await harness.do('bind-a', 'trim', { version: 4 });
    await harness.do('bind', 'trim', { version: 4 });
    expect((await harness.state('bind'))['oldest-version']).toBe(4);
  });

  test('a backup without it is not restored over the key (409 in-use), a backup with it is', async () => {
    const { key: older } = await harness.do('bind', 'backup');
    await harness.do('bind', 'rotate');
    const { key: newer } = await harness.do('bind', 'backup');
    await harness.do('bind-a', 'rotate');
    const { status, body } = await harness.act('bind', 'restore', { key: older });
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'in-use' });
    expect(body.detail).toContain('bind-a (version 5)');
    await harness.do('bind', 'restore', { key: newer });
    await harness.do('bind-a', 'export-openpgp-revocation');
    await harness.create('no-primary', { 'allow-plaintext-backup': true });
    const { key: symmetric } = await harness.do('no-primary', 'backup');
    expect(await codeOf(harness.act('bind', 'restore', { key: symmetric }))).toEqual({ status: 409, code: 'in-use' });
  });

  test('where earlier versions of the service trimmed it all the same, the own backup of the primary restores', async () => {
    await harness.create('cut', primary);
    await harness.create('cut-leaf', leaf('cut'));
    const { key: leafBackup } = await harness.do('cut-leaf', 'backup');
    expect((await harness.remove('cut-leaf')).status).toBe(204);
    await harness.do('cut', 'rotate');
    await harness.do('cut', 'trim', { version: 2 });
    await harness.create('cut-leaf', leaf('cut'));
    await harness.do('cut-leaf', 'restore', { key: leafBackup });
    const { key } = await harness.do('cut', 'backup');
    await harness.do('cut', 'restore', { key });
    expect(await isValid('cut-leaf', await sign('cut-leaf'))).toBe(true);
  });
});

describe('import-openpgp', () => {
  test.each([
    ['gpg-rsa2048', 'rsa-2048'],
    ['gpg-rsa4096', 'rsa-4096'],
    ['gpg-ed25519', 'ed25519'],
    ['gpg-nistp256', 'ecdsa-p256'],
    ['gpg-nistp384', 'ecdsa-p384'],
    ['gpg-nistp521', 'ecdsa-p521'],
    ['gpg-subkeys', 'ed25519'],
    ['gpg-expired', 'ed25519'],
    ['gpg-extended', 'ed25519'],
    ['sq-default', 'ed25519'],
    ['sq-rsa4k', 'rsa-4096'],
  ])('%s becomes a verification-only %s key', async (file, cipher) => {
    const name = `in-${file}`.toLowerCase();
    const answer = await harness.importBlock(name, corpus(`${file}.asc`));
    expect(answer.status).toBe(201);
    expect(answer.headers['location']).toBe(`/v1/config/keystore/transit-keys/${name}`);
    expect(answer.body).toMatchObject({ name, cipher, 'key-version': 1, fingerprints: [expect.stringMatching(/^[0-9A-F]{40}$/)] });
    expect(await harness.state(name)).toMatchObject({
      cipher,
      'supports-signing': false,
      keys: { 1: expect.stringContaining('BEGIN PUBLIC KEY') },
    });
    expect(await harness.verify(name, corpus(`${file}.sig`), document)).toMatchObject({
      valid: true,
      version: 1,
      fingerprint: answer.body.fingerprints[0],
    });
    expect(await isValid(name, corpus(`${file}.sig`), data)).toBe(false);
    expect(await harness.block(name)).toBe(corpus(`${file}.asc`));
  });

  test('a certificate whose keys rest on self-signatures with SHA-1 is imported with a warning, and others without', async () => {
    const date = new Date('2025-06-01T00:00:00Z');
    const made = async (hash: enums.hash, subkey?: enums.hash) => {
      const options = { type: 'rsa', rsaBits: 2048, userIDs: { name: 'Old' }, format: 'object', date } as const;
      const configOf = (one: enums.hash) => ({ preferredHashAlgorithm: one, nonDeterministicSignaturesViaNotation: false });
      const { privateKey } = await generateKey({ ...options, config: configOf(hash) });
      const whole = subkey === undefined ? privateKey : await privateKey.addSubkey({ sign: true, date, config: configOf(subkey) });
      return { block: whole.toPublic().armor(), fingerprints: whole.getKeys().map((key) => key.getFingerprint().toUpperCase()) };
    };
    const { sha1, sha256 } = enums.hash;
    const [old, mixed, good] = [await made(sha1), await made(sha256, sha1), await made(sha256, sha256)];
    const warned = await harness.importBlock('in-old', old.block);
    expect(warned.status).toBe(201);
    expect(warned.body.warnings).toEqual([
      expect.stringContaining(`The self-signatures of ${old.fingerprints[0]} are made with SHA-1: sqv`),
    ]);
    const { body } = await harness.importBlock('in-mixed', mixed.block);
    const [primary = '', , subkey = ''] = mixed.fingerprints;
    expect(body.fingerprints).toEqual([primary, subkey]);
    expect(body.warnings).toEqual([expect.stringContaining(subkey)]);
    expect(body.warnings[0]).not.toContain(primary);
    expect((await harness.importBlock('in-good', good.block)).body).not.toHaveProperty('warnings');
  });

  test('the key never signs, rotates or leaves', async () => {
    const name = 'in-gpg-ed25519';
    for (const [action, body] of Object.entries({
      sign: { text: '' },
      'openpgp-sign': { text: '' },
      rotate: {},
      export: {},
      'export-openpgp-revocation': {},
    })) {
      const { status, code } = await codeOf(harness.act(name, action, body));
      expect([action, status < 500 && status >= 400, code]).toEqual([
        action,
        true,
        expect.stringMatching(/not-supported|export-not-allowed/),
      ]);
    }
  });

  test('a name in use is 409; refused blocks are 400 and leave no key', async () => {
    expect(await codeOf(harness.importBlock('in-gpg-ed25519', corpus('gpg-ed25519.asc')))).toEqual({ status: 409, code: 'already-exists' });
    const refused = ['dsa2048', 'brainpoolP256r1', 'secp256k1', 'certify-only', 'revoked', 'private', 'two-certificates', 'two-blocks'];
    for (const file of refused) {
      const answer = await harness.importBlock('in-refused', corpus(`gpg-${file}.asc`));
      expect([file, answer.status, answer.body.code]).toEqual([file, 400, 'invalid-key-data']);
    }
    expect(await harness.exists('in-refused')).toBe(false);
    expect(await codeOf(harness.importBlock('No Name', corpus('gpg-ed25519.asc')))).toEqual({ status: 400, code: 'invalid-value' });
  });

  test('a backup of our own public block imports as well, and verifies what we sign', async () => {
    expect((await harness.importBlock('in-own', await harness.block('saved-leaf'))).status).toBe(201);
    expect(await isValid('in-own', await sign('saved-leaf'))).toBe(true);
  });
});

describe('export-openpgp-revocation', () => {
  test('of a primary key: openpgp.js applies it, and the reason decides about earlier signatures', async () => {
    const signature = await readSignature({ armoredSignature: await sign('inside') });
    harness.clock.advance(10);
    for (const [reason, code] of [
      ['superseded', enums.reasonForRevocation.keySuperseded],
      ['compromised', enums.reasonForRevocation.keyCompromised],
    ] as const) {
      const { revocation, 'key-version': version } = await harness.do('inside', 'export-openpgp-revocation', { reason, comment: 'Zürich' });
      expect(version).toBe(1);
      const key = await readKey({ armoredKey: await harness.block('inside') });
      const { publicKey } = await revokeKey({ key, revocationCertificate: revocation, date: harness.today(), format: 'object' });
      expect(publicKey.revocationSignatures[0]).toMatchObject({ reasonForRevocationFlag: code, reasonForRevocationString: 'Zürich' });
      const { signatures } = await verify({
        message: await createMessage({ binary: data }),
        signature,
        verificationKeys: publicKey,
        format: 'binary',
        date: harness.today(),
      });
      expect(await signatures[0]?.verified.catch(() => false)).toBe(reason === 'superseded');
    }
  });

  test('of a subkey: its block with the revocation; its own key goes on working here', async () => {
    const { revocation } = await harness.do('saved-leaf', 'export-openpgp-revocation', { reason: 'retired' });
    const key = await readKey({ armoredKey: revocation });
    expect(
      await key.subkeys[0]?.verify(harness.today()).then(
        () => 'good',
        ({ message }: Error) => message,
      ),
    ).toMatch(/revoked/);
    expect(key.getFingerprint()).toBe((await readKey({ armoredKey: await harness.block('saved-leaf') })).getFingerprint());
    expect(await isValid('saved-leaf', await sign('saved-leaf'))).toBe(true);
  });

  test('openpgp-verify of an imported block: signatures made before superseded and retired stay valid, others do not', async () => {
    const before = await sign('saved-leaf');
    harness.clock.advance(10);
    for (const [reason, valid] of Object.entries({ superseded: true, retired: true, compromised: false, 'no-reason': false })) {
      const { revocation } = await harness.do('saved-leaf', 'export-openpgp-revocation', { reason });
      expect((await harness.importBlock(`is-${reason}`, revocation)).status).toBe(201);
      harness.clock.advance(10);
      const after = await sign('saved-leaf');
      expect([reason, await isValid(`is-${reason}`, after), await isValid(`is-${reason}`, before)]).toEqual([reason, false, valid]);
    }
  });

  test('refuses other reasons and comments with control characters', async () => {
    for (const fields of [{ reason: 'bored' }, { comment: 'a\nb' }, { comment: 'x'.repeat(257) }]) {
      expect(await codeOf(harness.act('inside', 'export-openpgp-revocation', fields))).toEqual({ status: 400, code: 'invalid-value' });
    }
  });
});

test('the invariants hold after all of this', async () => {
  expect(await harness.findings()).toEqual([]);
});
