// Keys that come and go through the API of Vault: imports, exports, backups.
import {
  constants,
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  generateKeyPairSync,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import { acts } from '../../../core/approvals/acts.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestAppliance, type Answer, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { asVaultClient } from './vault-client.ts';

const at = temporaryDirectory();
let appliance: TestAppliance;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: at('vault'), configuration: { vault: { tenants: { system: {} } } } });
});
afterAll(async () => {
  expect(await appliance.check()).toEqual([]);
  await appliance.close();
});

const ask = asVaultClient(() => appliance);
const dataOf = ({ status, body }: Answer) => {
  expect([status, body.errors]).toEqual([200, undefined]);
  return body.data;
};
const made = async (name: string, fields: object = {}) => dataOf(await ask('PUT', `transit/keys/${name}`, fields));
const oaep = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' } as const;
const initial = Buffer.from('a65959a6', 'hex');

/** As the command line of Vault wraps: OAEP of an AES key, and AES-KWP of the material under that. */
function wrapFor(publicKey: string, material: Buffer, oaepHash = 'sha256'): string {
  const transport = randomBytes(32);
  const cipher = createCipheriv('id-aes256-wrap-pad', transport, initial);
  return Buffer.concat([publicEncrypt({ key: publicKey, ...oaep, oaepHash }, transport), cipher.update(material), cipher.final()]).toString(
    'base64',
  );
}

describe('imports', () => {
  test('of a version are wrapped under the key of wrapping_key, and encrypt from then on', async () => {
    await made('imported', { exportable: true });
    const material = randomBytes(32);
    const { public_key } = dataOf(await ask('GET', 'transit/wrapping_key'));
    const ciphertext = wrapFor(public_key, material);
    const imported = await ask('PUT', 'transit/keys/imported/import_version', { ciphertext, hash_function: 'SHA256', version: null });
    expect([imported.status, imported.text]).toEqual([204, '']);
    const value = dataOf(await ask('PUT', 'transit/encrypt/imported', { plaintext: Buffer.from('hello').toString('base64') }));
    expect(value.key_version).toBe(2);
    const octets = Buffer.from(value.ciphertext.split(':')[2], 'base64');
    const decipher = createDecipheriv('aes-256-gcm', material, octets.subarray(0, 12));
    decipher.setAuthTag(octets.subarray(-16));
    expect(decipher.update(octets.subarray(12, -16)).toString()).toBe('hello');
  });

  test('take the hash that they name', async () => {
    await made('hashed');
    const { public_key } = dataOf(await ask('GET', 'transit/wrapping_key'));
    for (const [hash_function, hash] of [
      ['SHA1', 'sha1'],
      ['SHA512', 'sha512'],
    ] as const) {
      const ciphertext = wrapFor(public_key, randomBytes(32), hash);
      expect((await ask('PUT', 'transit/keys/hashed/import_version', { ciphertext, hash_function })).status).toBe(204);
      const type = 'aes256-gcm96';
      expect((await ask('PUT', `transit/keys/hashed-${hash}/import`, { ciphertext, hash_function, type })).status).toBe(204);
    }
  });

  test.each([
    [{ ciphertext: 'AAAA', hash_function: 'SHA224' }, 'SHA256'],
    [{}, 'no ciphertext'],
    [{ ciphertext: 'AAAA' }, 'wrap'],
  ])('with %j are 400', async (body, words) => {
    await made('refusing');
    const { status, body: refused } = await ask('PUT', 'transit/keys/refusing/import_version', body);
    expect([status, refused.errors[0]]).toEqual([400, expect.stringContaining(words)]);
  });
});

describe('a key that is imported', () => {
  const foreign = (material: Buffer): string => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', material, nonce);
    const octets = Buffer.concat([nonce, cipher.update('elsewhere'), cipher.final(), cipher.getAuthTag()]);
    return `vault:v1:${octets.toString('base64')}`;
  };

  test('opens what was encrypted with it elsewhere', async () => {
    const material = randomBytes(32);
    const { public_key } = dataOf(await ask('GET', 'transit/wrapping_key'));
    const body = { ciphertext: wrapFor(public_key, material), type: 'aes256-gcm96', allow_rotation: true };
    expect((await ask('PUT', 'transit/keys/brought/import', body)).status).toBe(204);
    const { plaintext } = dataOf(await ask('PUT', 'transit/decrypt/brought', { ciphertext: foreign(material) }));
    expect(Buffer.from(plaintext, 'base64').toString()).toBe('elsewhere');
    expect((await ask('PUT', 'transit/keys/brought/import', body)).status).toBe(400);
    const next = { ciphertext: wrapFor(public_key, randomBytes(32)) };
    expect((await ask('PUT', 'transit/keys/brought/import_version', next)).status).toBe(204);
    expect(dataOf(await ask('GET', 'transit/keys/brought')).latest_version).toBe(2);
  });

  test('from a public key verifies', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = publicKey.export({ type: 'spki', format: 'pem' });
    expect((await ask('POST', 'transit/keys/of-others/import', { public_key: pem, type: 'ecdsa-p256' })).status).toBe(204);
    const signature = `vault:v1:${sign('sha256', Buffer.from('x'), privateKey).toString('base64')}`;
    const input = Buffer.from('x').toString('base64');
    expect(dataOf(await ask('PUT', 'transit/verify/of-others', { input, signature })).valid).toBe(true);
  });

  test.each([
    [{}, 'either ciphertext'],
    [{ ciphertext: 'AAAA', public_key: 'x' }, 'either ciphertext'],
    [{ ciphertext: 'AAAA' }, 'wrap'],
    [{ ciphertext: 'AAAA', hash_function: 'SHA224' }, 'SHA256'],
  ])('but not by %j, which leaves no key', async (body, words) => {
    const { status, body: refused } = await ask('PUT', 'transit/keys/unborn/import', body);
    expect([status, refused.errors[0]]).toEqual([400, expect.stringContaining(words)]);
    expect((await ask('GET', 'transit/keys/unborn')).status).toBe(404);
  });
});

describe('exports', () => {
  test('of a secret key open what it encrypted', async () => {
    await made('secret', { exportable: true });
    await ask('PUT', 'transit/keys/secret/rotate');
    const all = dataOf(await ask('GET', 'transit/export/encryption-key/secret'));
    expect([all.name, all.type, Object.keys(all.keys)]).toEqual(['secret', 'aes256-gcm96', ['1', '2']]);
    expect(Buffer.from(all.keys['1'], 'base64')).toHaveLength(32);
    expect(Object.keys(dataOf(await ask('GET', 'transit/export/encryption-key/secret/latest')).keys)).toEqual(['2']);
    expect(dataOf(await ask('GET', 'transit/export/encryption-key/secret/1')).keys).toEqual({ '1': all.keys['1'] });
  });

  test.each([
    ['ecdsa-p256', /^-----BEGIN EC PRIVATE KEY-----/],
    ['rsa-2048', /^-----BEGIN RSA PRIVATE KEY-----/],
    ['ed25519', /^[A-Za-z0-9+/]{86}==$/],
  ])('of %s have the usual form, or PKCS#8 when asked', async (type, form) => {
    await made(`signing-${type}`, { type, exportable: true });
    const { keys } = dataOf(await ask('GET', `transit/export/signing-key/signing-${type}`));
    expect(keys['1']).toMatch(form);
    expect(dataOf(await ask('GET', `transit/export/signing-key/signing-${type}?format=pem`)).keys['1']).toMatch(
      /^-----BEGIN PRIVATE KEY-----/,
    );
    const { keys: shown } = dataOf(await ask('GET', `transit/export/public-key/signing-${type}`));
    expect(createPublicKey(shown['1']).type).toBe('public');
  });

  test('of an Ed25519 key are seed and public key', async () => {
    const { keys } = dataOf(await ask('GET', 'transit/export/signing-key/signing-ed25519'));
    const raw = dataOf(await ask('GET', 'transit/keys/signing-ed25519')).keys['1'].public_key;
    expect(Buffer.from(keys['1'], 'base64').subarray(32).toString('base64')).toBe(raw);
  });

  test('are refused in the words of Vault', async () => {
    await made('kept-here');
    const { status, body } = await ask('GET', 'transit/export/encryption-key/kept-here');
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining('private key material is not exportable')]);
    expect((await ask('GET', 'transit/export/signing-key/kept-here')).status).toBe(400);
    expect((await ask('GET', 'transit/export/public-key/kept-here')).status).toBe(400);
    expect((await ask('GET', 'transit/export/encryption-key/nobody')).status).toBe(404);
    expect((await ask('GET', 'transit/export/encryption-key/secret/zero')).status).toBe(400);
    expect((await ask('GET', 'transit/export/certificate-chain/secret')).status).toBe(404);
  });

  test('under another key open with it alone', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 3072 });
    await appliance.request('POST', '/v1/config/keystore/transit-keys', {
      ...{ name: 'destination', cipher: 'rsa-3072', 'public-key': publicKey.export({ type: 'spki', format: 'pem' }) },
    });
    const { name, keys } = dataOf(await ask('GET', 'transit/byok-export/destination/signing-ecdsa-p256'));
    const blob = Buffer.from(keys['1'], 'base64');
    const transport = privateDecrypt({ key: privateKey, ...oaep }, blob.subarray(0, 384));
    const decipher = createDecipheriv('id-aes256-wrap-pad', transport, initial);
    const material = Buffer.concat([decipher.update(blob.subarray(384)), decipher.final()]);
    const signature = dataOf(await ask('PUT', 'transit/sign/signing-ecdsa-p256', { input: 'eA==' })).signature.split(':')[2];
    const key = createPublicKey({ key: material, format: 'der', type: 'pkcs8' } as never);
    expect([name, verify('sha256', Buffer.from('x'), key, Buffer.from(signature, 'base64'))]).toEqual(['signing-ecdsa-p256', true]);
    expect((await ask('GET', 'transit/byok-export/secret/signing-ecdsa-p256')).body.errors[0]).toContain('must be an RSA key');
    expect((await ask('GET', 'transit/byok-export/destination/kept-here')).body.errors[0]).toContain('not exportable');
  });
});

describe('backups', () => {
  test('bring a key back under another name, with what it encrypted', async () => {
    await made('backed', { exportable: true, allow_plaintext_backup: true });
    const { ciphertext } = dataOf(await ask('PUT', 'transit/encrypt/backed', { plaintext: 'eA==' }));
    const { backup } = dataOf(await ask('GET', 'transit/backup/backed'));
    expect((await ask('POST', 'transit/restore/again', { backup })).status).toBe(204);
    expect(dataOf(await ask('PUT', 'transit/decrypt/again', { ciphertext })).plaintext).toBe('eA==');
    const exists = await ask('POST', 'transit/restore/again', { backup });
    expect([exists.status, exists.body.errors[0]]).toEqual([400, expect.stringContaining('already exists')]);
    await ask('POST', 'transit/keys/again/config', { deletion_allowed: true });
    expect((await ask('POST', 'transit/restore/again', { backup, force: true })).status).toBe(204);
  });

  test('that are refused leave no key behind', async () => {
    for (const backup of ['AAAA', 5]) {
      const { status, body } = await ask('POST', 'transit/restore/left-behind', { backup });
      expect([status, body.errors]).toEqual([400, [expect.any(String)]]);
      expect((await ask('GET', 'transit/keys/left-behind')).status).toBe(404);
    }
    await made('no-backup', { exportable: true });
    expect((await ask('GET', 'transit/backup/no-backup')).body.errors[0]).toContain('exporting is disallowed');
  });

  test('need the rights of all that they do', async () => {
    const rules = [{ path: '/v1/config/keystore/transit-keys', operations: { create: 'allow' } }];
    await appliance.request('POST', '/v1/config/policy/policies', { name: 'creates', 'rest-api': { rules } });
    const { token } = (await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['creates'], ttl: '1h' })).body;
    const { backup } = dataOf(await ask('GET', 'transit/backup/backed'));
    expect((await ask('POST', 'transit/restore/mine', { backup }, token)).status).toBe(403);
    expect((await ask('GET', 'transit/keys/mine')).status).toBe(404);
  });
});

/** The last tests of the file: nobody takes the rule away. */
describe('under a rule of approvals', () => {
  const refused = (answer: Answer) => [answer.status, String(answer.body.errors?.[0])];
  const needed = [403, expect.stringContaining('Requests over vault cannot carry an approval')];

  test('keys neither come nor leave, whatever headers are sent, and nothing is left of what was refused', async () => {
    await made('ruled', { exportable: true, allow_plaintext_backup: true });
    await made('receiver', { type: 'rsa-2048' });
    const { backup } = dataOf(await ask('GET', 'transit/backup/ruled'));
    const { public_key } = dataOf(await ask('GET', 'transit/wrapping_key'));
    await appliance.request('POST', '/v1/config/keystore/authentication/approles', { name: 'anna' });
    const rule = { name: 'every', acts, needed: 1, approvers: { approles: ['anna'] }, force: true };
    expect((await appliance.request('POST', '/v1/config/approval/rules', rule)).status).toBe(201);
    const ciphertext = wrapFor(public_key, randomBytes(32));
    const tries: readonly (readonly [string, string, object?])[] = [
      ...['export/encryption-key/ruled', 'export/encryption-key/ruled/1', 'byok-export/receiver/ruled', 'backup/ruled'].map(
        (path) => ['GET', path] as const,
      ),
      ['PUT', 'restore/brought-back', { backup }],
      ['PUT', 'restore/ruled', { backup, force: true }],
      ['PUT', 'keys/imported-late/import', { ciphertext, type: 'aes256-gcm96' }],
      ['PUT', 'keys/ruled/import_version', { ciphertext }],
      ...[{ deletion_allowed: true }, { min_encryption_version: 1 }].map((fields) => ['PUT', 'keys/ruled/config', fields] as const),
      ['PUT', 'keys/receiver/config', { exportable: true }],
      ['PUT', 'keys/opened', { exportable: true }],
      ['PUT', 'keys/ruled/trim', { min_available_version: 1 }],
    ];
    const asking = { 'approval-reason': 'because%20of%20it', approval: randomUUID() };
    for (const headers of [{}, { 'x-vault-wrap-ttl': '60s' }, asking])
      for (const [method, path, body] of tries)
        expect(refused(await ask(method, `transit/${path}`, body, undefined, headers)), path).toEqual(needed);
    for (const name of ['brought-back', 'imported-late', 'opened']) expect((await ask('GET', `transit/keys/${name}`)).status).toBe(404);
  });
});
