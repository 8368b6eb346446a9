// Keys of X-Wing: two private keys in the token, whose secrets are combined outside. The vectors of its draft, what others have sealed, and the life of the pair.
import {
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  encapsulate,
  generateKeyPairSync,
  hash,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readPem } from '../../../../core/base/texts/pem.ts';
import { rawOfXWingSpki } from '../../../../core/der/x-wing.ts';
import { type Backup, formatBackup, parseBackup } from '../../../../plugins/transit/backup/format.ts';
import { Attachments } from '../../../../plugins/transit/records/attachments.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { findModules } from '../../../harness/token/modules.ts';
import { claimsOf } from '../custody/statements.ts';
import { type TransitHarness, base64, codeOf, startTransitHarness } from '../harness.ts';
import others from './x-wing.json' with { type: 'json' };

const cipher = 'mlkem768-x25519';
const [, ...modules] = await findModules();
const directory = temporaryDirectory();
const octetsOf = (text: string): Buffer => Buffer.from(String(text.split(':').at(-1)), 'base64');
const flipped = (octets: Buffer, at: number): string =>
  base64(Buffer.from(octets.map((octet, index) => (index === at ? octet ^ 1 : octet))));
const spki = (key: KeyObject) => new Uint8Array(createPublicKey(key).export({ format: 'der', type: 'spki' }));
const pkcs8 = (key: KeyObject) => new Uint8Array(key.export({ format: 'der', type: 'pkcs8' }));

/** Both private keys that follow from a seed. */
function expanded(seed: string): readonly [KeyObject, KeyObject] {
  const octets = createHash('shake256', { outputLength: 96 }).update(Buffer.from(seed, 'hex')).digest();
  return [
    createPrivateKey({ key: octets.subarray(0, 64), format: 'raw-seed', asymmetricKeyType: 'ml-kem-768' }),
    createPrivateKey({ key: octets.subarray(64), format: 'raw-private', asymmetricKeyType: 'x25519' }),
  ];
}

describe.each(modules)('in $name', (module) => {
  let harness: TransitHarness;
  beforeAll(async () => {
    const [own, more] = ['harness', 'token'].map((name) => directory(`${module.name.replaceAll(' ', '-')}-${name}`)) as [string, string];
    mkdirSync(more);
    harness = await startTransitHarness(own, { moreTokens: [await module.make(more)] });
  });
  afterEach(() => harness.expectSound());
  afterAll(() => harness.stop());

  const rawKeyOf = async (name: string, version = '1') =>
    rawOfXWingSpki(readPem((await harness.state(name)).keys[version])[0]?.der ?? new Uint8Array()) as Uint8Array;
  const backupOf = async (name: string): Promise<Backup> =>
    parseBackup(new Uint8Array(octetsOf((await harness.do(name, 'backup')).key)), new Attachments(harness.store.prefixed('transit')));
  const restored = (backup: Backup) => ({ key: base64(formatBackup(backup)) });
  const changed = (backup: Backup, fields: object): Backup => ({
    ...backup,
    versions: backup.versions.map((one) => ({ ...one, ...fields })),
  });

  /** A key whose first version has the keys of a seed, which come in no other way. */
  async function createOf(name: string, seed: string): Promise<void> {
    await harness.create(name, { cipher, 'allow-plaintext-backup': true, 'allow-shared-secret': true });
    const [kem, agreement] = expanded(seed);
    const fields = { material: pkcs8(kem), publicKey: spki(kem), agreement: pkcs8(agreement) };
    await harness.do(name, 'restore', restored(changed(await backupOf(name), fields)));
  }

  test('gives the secrets of the vectors of the draft, opens what Go and age have sealed, and nothing that differs from it', async () => {
    for (const [at, { seed, publicKey, ciphertext, secret }] of others.vectors.entries()) {
      await createOf(`draft-${at}`, seed);
      expect(base64(await rawKeyOf(`draft-${at}`))).toBe(publicKey);
      const answer = { 'shared-secret': Buffer.from(secret, 'hex').toString('base64'), 'key-version': 1 };
      expect(await harness.do(`draft-${at}`, 'decapsulate', { ciphertext })).toEqual(answer);
    }
    const byGo = { ciphertext: others.byGo, format: 'hpke', kdf: 'hkdf-sha512', info: base64('info'), 'associated-data': base64('aad') };
    expect(await harness.do('draft-0', 'decrypt', byGo)).toEqual({ plaintext: base64('sealed by Go'), 'key-version': 1 });
    await harness.do('draft-0', 'rotate');
    const octets = octetsOf(others.byGo);
    const lowOrder = [Buffer.alloc(32), Buffer.from(`01${'00'.repeat(31)}`, 'hex')].map((point) =>
      base64(Buffer.concat([octets.subarray(0, 1088), point, octets.subarray(1120)])),
    );
    const wrong = [
      ...[0, 1087, 1088, 1119, 1120, octets.length - 1].map((at) => flipped(octets, at)),
      ...lowOrder,
      base64(Buffer.alloc(octets.length)),
    ];
    const requests = [
      ...wrong.map((one) => ({ ...byGo, ciphertext: one, 'key-version': 1 })),
      { ...byGo, info: base64('another'), 'key-version': 1 },
      // The newest version is meant, and no other is tried.
      byGo,
    ];
    const answers = await Promise.all(requests.map((one) => harness.refused(400, 'decryption-failed', 'draft-0', 'decrypt', one)));
    expect(new Set(answers.map(({ detail }) => detail)).size).toBe(1);
    const short = { ...byGo, ciphertext: base64(octets.subarray(0, 1120 + 15)) };
    await harness.refused(400, 'invalid-format', 'draft-0', 'decrypt', short);
    for (const format of ['raw', 'jwe']) await harness.refused(400, 'invalid-value', 'draft-0', 'decrypt', { ...byGo, format });
    const batch = [...requests.slice(0, 8), { ...byGo, 'key-version': 1 }].map((one) => ({ ...one }));
    const { 'batch-results': results } = await harness.do('draft-0', 'decrypt', { 'batch-input': batch });
    expect(results.map(({ code = 'opened' }: { code?: string }) => code)).toEqual([
      ...Array<string>(8).fill('decryption-failed'),
      'opened',
    ]);

    const [, , stanza = '', body = ''] = /^(.*)\n(-> .*)\n(.{43})\n---/.exec(octetsOf(others.byAge).toString('latin1')) ?? [];
    const toAge = { ciphertext: `${stanza}\n${body}\n`, format: 'age', 'key-version': 1 };
    const { plaintext: fileKey } = await harness.do('draft-0', 'decrypt', toAge);
    expect(openAge(octetsOf(others.byAge), octetsOf(fileKey))).toBe('a post-quantum backup');
    await harness.refused(400, 'decryption-failed', 'draft-0', 'decrypt', { ...toAge, 'key-version': 2 });
    const misshapen = [
      `${stanza} x\n${body}\n`,
      `${stanza.slice(0, -1)}\n${body}\n`,
      `${stanza}\n${body.slice(1)}\n`,
      `-> X25519 ${body}\n${body}\n`,
    ];
    for (const one of misshapen) await harness.refused(400, 'invalid-format', 'draft-0', 'decrypt', { ...toAge, ciphertext: one });
  });

  test('encapsulates as everybody can, and decapsulates by both keys', async () => {
    await harness.create('pair', { cipher, 'allow-shared-secret': true });
    expect(await harness.state('pair')).toMatchObject({ use: 'decapsulate', 'supports-decryption': true, 'supports-encryption': false });
    const raw = await rawKeyOf('pair');
    expect(raw).toHaveLength(1_216);
    const { ciphertext, 'shared-secret': secret } = await harness.do('pair', 'encapsulate');
    const given = { 'shared-secret': secret, 'key-version': 1 };
    expect(await harness.do('pair', 'decapsulate', { ciphertext })).toEqual(given);
    await harness.do('pair', 'rotate');
    expect(await harness.do('pair', 'decapsulate', { ciphertext })).toEqual(given);

    // Computed apart from the product.
    const { sharedKey, ciphertext: ofKem } = encapsulate(
      createPublicKey({ key: Buffer.from(raw.subarray(0, 1184)), format: 'raw-public', asymmetricKeyType: 'ml-kem-768' }),
    );
    const { privateKey, publicKey } = generateKeyPairSync('x25519');
    const point = publicKey.export({ format: 'raw-public' });
    const own = Buffer.from(raw.subarray(1184));
    const agreed = diffieHellman({
      privateKey,
      publicKey: createPublicKey({ key: own, format: 'raw-public', asymmetricKeyType: 'x25519' }),
    });
    const outside = hash('sha3-256', Buffer.concat([sharedKey, agreed, point, own, Buffer.from('5c2e2f2f5e5c', 'hex')]), 'base64');
    const octets = Buffer.concat([ofKem, point]);
    const item = { ciphertext: base64(octets), 'key-version': 1 };
    expect((await harness.do('pair', 'decapsulate', item))['shared-secret']).toBe(outside);
    for (const at of [3, 1100])
      expect((await harness.do('pair', 'decapsulate', { ...item, ciphertext: flipped(octets, at) }))['shared-secret']).not.toBe(outside);
    const lowOrder = base64(Buffer.concat([ofKem, Buffer.alloc(32)]));
    await harness.refused(400, 'decryption-failed', 'pair', 'decapsulate', { ...item, ciphertext: lowOrder });
    for (const bytes of [0, 32, 1_088, 1_119, 1_121])
      await harness.refused(400, 'invalid-format', 'pair', 'decapsulate', { ciphertext: base64(Buffer.alloc(bytes, 1)) });
    expect(harness.written()).not.toContain(secret);
  });

  test.each(['wrapped', 'token'] as const)('has a life as other keys have, with custody %s', async (custody) => {
    const name = `life-${custody}`;
    await harness.create(name, { cipher, custody, 'allow-shared-secret': true, 'deletion-allowed': true });
    const { ciphertext, 'shared-secret': secret } = await harness.do(name, 'encapsulate');
    const opens = async () => (await harness.do(name, 'decapsulate', { ciphertext }))['shared-secret'];
    expect(await opens()).toBe(secret);
    const claims = await claimsOf(harness, name);
    expect(claims['custody']).toMatchObject({ kept: custody, object: { uses: ['decapsulate'] } });
    expect(claims['second-key']).toMatchObject({
      thumbprint: expect.any(String),
      custody: { kept: custody, object: { uses: ['derive'] } },
    });
    await harness.patch(name, { disabled: true });
    await harness.refused(409, 'key-disabled', name, 'decapsulate', { ciphertext });
    await harness.patch(name, { disabled: false });
    await harness.do(name, 'rotate');
    expect(await opens()).toBe(secret);
    await harness.patch(name, { 'min-decryption-version': 2, 'min-encryption-version': 2 });
    await harness.do(name, 'trim', { version: 2 });
    await harness.refused(400, 'version-unknown', name, 'decapsulate', { ciphertext });
    expect((await harness.remove(name)).status).toBe(204);
    await harness.runJobs();
  });

  test('comes back from its backup, beside itself and in its own place', async () => {
    await harness.create('kept', { cipher, 'allow-shared-secret': true, 'deletion-allowed': true, 'allow-plaintext-backup': true });
    await harness.do('kept', 'rotate');
    const { ciphertext, 'shared-secret': secret } = await harness.do('kept', 'encapsulate');
    const { key } = await harness.do('kept', 'backup');
    await harness.create('copy', { cipher: 'aes256-gcm96' });
    await harness.do('copy', 'restore', { key });
    expect(await rawKeyOf('copy', '2')).toEqual(await rawKeyOf('kept', '2'));
    await harness.do('kept', 'restore', { key });
    for (const name of ['copy', 'kept']) expect((await harness.do(name, 'decapsulate', { ciphertext }))['shared-secret']).toBe(secret);
    await harness.do('copy', 'rotate');
    for (const version of ['1', '2', '3']) expect(await rawKeyOf('copy', version)).toHaveLength(1_216);
  });

  test('goes along when the wrapping key of its token is rotated', async () => {
    await harness.create('rewrapped', { cipher, custody: 'wrapped', 'allow-shared-secret': true });
    const { ciphertext, 'shared-secret': secret } = await harness.do('rewrapped', 'encapsulate');
    // Each half may be in a token of its own.
    for (const { name } of harness.hsm.status()) {
      const rotated = await harness.request('POST', '/v1/state/system/rotate-wrapping-key', { token: name });
      expect(rotated).toMatchObject({ status: 200, body: { number: 2 } });
    }
    await harness.runJobs();
    const { body } = await harness.request('GET', '/v1/state/system/hsm');
    const ended = { 'wrapping-key': { number: 2, state: 'in-use', failed: 0 } };
    expect(body.tokens).toMatchObject([ended, ended]);
    expect((await harness.do('rewrapped', 'decapsulate', { ciphertext }))['shared-secret']).toBe(secret);
  });

  test('takes no key from outside, gives none out, and is in no JWKS', async () => {
    const misfit = { status: 400, code: 'invalid-value' };
    const made = (fields: object) =>
      codeOf(harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'refused', cipher, ...fields }));
    const [kem, agreement] = expanded('00'.repeat(32));
    const publicKey = createPublicKey(agreement).export({ format: 'pem', type: 'spki' });
    for (const fields of [{ exportable: true }, { publish: true }, { 'public-key': publicKey }, { use: 'agree' }])
      expect(await made(fields)).toEqual(misfit);
    await harness.create('closed', { cipher });
    const { actions, versions } = await harness.state('closed');
    for (const action of ['import', 'import-wrapping-key', 'export', 'decapsulate', 'encrypt', 'sign'])
      expect(actions).not.toContain(action);
    expect(versions['1']).not.toHaveProperty('kid');
    for (const fields of [{ exportable: true }, { publish: true }]) expect(await codeOf(harness.patch('closed', fields))).toEqual(misfit);
    for (const one of [kem, agreement]) {
      const data = one.export({ format: 'pem', type: 'pkcs8' });
      await harness.refused(400, 'operation-not-supported', 'closed', 'import', { data });
    }
    await harness.refused(400, 'operation-not-supported', 'closed', 'decapsulate', { ciphertext: base64(Buffer.alloc(1_120)) });
    expect((await harness.act('closed', 'export', {})).status).toBeGreaterThanOrEqual(400);
  });

  test('is refused from a backup that is not whole, or whose second key does another job', async () => {
    await harness.create('whole', { cipher, 'allow-plaintext-backup': true });
    const backup = await backupOf('whole');
    await harness.create('target', { 'deletion-allowed': true });
    const [kem, agreement] = expanded('11'.repeat(32));
    const contradictions = [
      changed(backup, { agreement: undefined }),
      changed(backup, { agreement: pkcs8(kem) }),
      changed(backup, { agreement: new Uint8Array(48) }),
      changed(backup, { publicKey: spki(kem) }),
      changed(backup, { material: pkcs8(agreement) }),
      { ...backup, document: { ...backup.document, cipher: 'ml-kem-768' } },
    ];
    for (const one of contradictions) expect((await harness.act('target', 'restore', restored(one))).status).toBe(400);
    await harness.create('agrees', { cipher: 'x25519' });
    await harness.do('agrees', 'import', { data: agreement.export({ format: 'pem', type: 'pkcs8' }) });
    const other = changed(backup, { agreement: pkcs8(agreement) });
    await harness.refused(409, 'private-key-in-use', 'target', 'restore', restored(other));
  });
});

test('a token without ML-KEM makes no such key, and the refusal names the mechanism', async () => {
  const harness = await startTransitHarness(directory('without'));
  const { status, body } = await harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'none', cipher });
  expect({ status, code: body.code }).toEqual({ status: 400, code: 'unsupported-cipher' });
  expect(body.detail).toContain('ML_KEM');
  await harness.stop();
});

/** The text of an age file of one chunk (C2SP, age): the header ends with its MAC, and the nonce of the payload follows. */
function openAge(file: Buffer, fileKey: Buffer): string {
  const payload = file.subarray(file.indexOf('\n', file.indexOf('\n---') + 1) + 1);
  const key = Buffer.from(hkdfSync('sha256', fileKey, payload.subarray(0, 16), 'payload', 32));
  const decipher = createDecipheriv('chacha20-poly1305', key, Buffer.from(`${'00'.repeat(11)}01`, 'hex'), { authTagLength: 16 });
  decipher.setAuthTag(payload.subarray(-16));
  return Buffer.concat([decipher.update(payload.subarray(16, -16)), decipher.final()]).toString();
}
