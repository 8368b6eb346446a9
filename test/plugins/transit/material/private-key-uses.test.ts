// One private key does one job (NIST SP 800-57 part 1, section 5.2), under whatever names and by whichever API it is brought in.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Store, Table, WriteTransaction } from '../../../../core/store/store.ts';
import { notePrivateKeysOfBefore } from '../../../../plugins/transit/records/private-key-uses.ts';
import { openTables } from '../../../../plugins/transit/records/records.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { codeOf, ok, startTransitHarness, type TransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
const config = '/v1/config/keystore/transit-keys';
let harness: TransitHarness;
let count = 0;

beforeAll(async () => {
  harness = await startTransitHarness(directory('appliance'));
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' });
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const refused = { status: 409, code: 'private-key-in-use' };

/** How many versions with a private key are noted. */
function noted(): number {
  harness.store.refresh();
  return Array.from(harness.store.prefixed('transit').tenantTable('private-key-uses').keys([])).length;
}

/** A new key of that use. */
async function made(use: string, cipher = 'rsa-2048', fields = {}): Promise<string> {
  const name = `${use}-${(count += 1)}`;
  await harness.create(name, { cipher, use, 'deletion-allowed': true, ...fields });
  return name;
}
const bring = (name: string, data: string) => codeOf(harness.act(name, 'import', { data }));
const done = { status: 204, code: undefined };

describe('the same private key is refused for a second use', () => {
  test.each([
    ['rsa-2048', 'sign', 'encrypt', rsa],
    ['rsa-2048', 'encrypt', 'sign', rsa],
    ['ecdsa-p256', 'sign', 'agree', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['ecdsa-p384', 'agree', 'sign', () => generateKeyPairSync('ec', { namedCurve: 'P-384' })],
  ])('%s: for %s, then for %s', async (cipher, first, second, generate) => {
    const data = pem(generate().privateKey);
    const [one, other] = [await made(first, cipher), await made(second, cipher)];
    expect(await bring(one, data)).toEqual(done);
    const answer = await harness.act(other, 'import', { data });
    expect({ status: answer.status, code: answer.body.code }).toEqual(refused);
    expect(answer.body.detail).toContain(`The key "${one}" has this private key for the use "${first}"`);
    expect((await harness.state(other))['latest-version']).toBe(1);
    // Copies and versions for the same use are none of this.
    expect(await bring(await made(first, cipher), data)).toEqual(done);
    expect(await bring(one, data)).toEqual(done);
  });

  test('under another name of RSA (RSASSA-PSS), too', async () => {
    const { privateKey } = rsa();
    const { n, e, d, p, q, dp, dq, qi } = privateKey.export({ format: 'jwk' });
    expect(await bring(await made('encrypt'), pem(privateKey))).toEqual(done);
    expect(await bring(await made('sign'), JSON.stringify({ kty: 'RSA', alg: 'PS256', n, e, d, p, q, dp, dq, qi }))).toEqual(refused);
  });

  test('one that was made here, exported and brought back', async () => {
    const name = await made('sign', 'ecdsa-p256', { exportable: true });
    const { keys } = await harness.do(name, 'export', {});
    expect(await bring(await made('agree', 'ecdsa-p256'), Object.values<string>(keys)[0] ?? '')).toEqual(refused);
  });

  test('a backup is no way around it, and puts its own key back', async () => {
    const data = pem(rsa().privateKey);
    const name = await made('sign', 'rsa-2048', { 'allow-plaintext-backup': true });
    expect(await bring(name, data)).toEqual(done);
    const { key } = await harness.do(name, 'backup', {});
    expect((await harness.act(name, 'restore', { key })).status).toBe(204);
    expect((await harness.act(await made('encrypt'), 'restore', { key })).status).toBe(204);
    await harness.remove(name);
    // The copy of the backup has it still.
    expect(await bring(await made('encrypt'), data)).toEqual(refused);
    const other = await made('encrypt', 'rsa-2048', { 'allow-plaintext-backup': true });
    const second = pem(rsa().privateKey);
    expect(await bring(other, second)).toEqual(done);
    const backup = await harness.do(other, 'backup', {});
    await harness.remove(other);
    expect(await bring(await made('sign'), second)).toEqual(done);
    expect(await codeOf(harness.act(await made('sign'), 'restore', { key: backup.key }))).toEqual(refused);
  });

  test('two requests at once: one of them', async () => {
    const data = pem(rsa().privateKey);
    const names = await Promise.all(['sign', 'encrypt', 'sign', 'encrypt'].map((use) => made(use)));
    const answers = await Promise.all(names.map((name) => bring(name, data)));
    const uses = answers.flatMap(({ status }, at) => (status === 204 ? [names[at]?.split('-')[0]] : []));
    expect(new Set(uses).size).toBe(1);
    expect(answers.filter(({ status }) => status !== 204)).toEqual([refused, refused]);
  });
});

describe('the private key is free again', () => {
  test('when its key is deleted, and when its version is trimmed', async () => {
    const data = pem(rsa().privateKey);
    const name = await made('sign');
    expect(await bring(name, data)).toEqual(done);
    await harness.do(name, 'rotate');
    expect(await bring(await made('encrypt'), data)).toEqual(refused);
    await harness.do(name, 'trim', { version: 3 });
    const other = await made('encrypt');
    expect(await bring(other, data)).toEqual(done);
    expect(await bring(name, data)).toEqual(refused);
    const before = noted();
    expect((await harness.remove(other)).status).toBe(204);
    // The version that the key was made with, and the one that was brought in.
    expect(before - noted()).toBe(2);
    expect(await bring(name, data)).toEqual(done);
  });
});

test('other tenants are not asked', async () => {
  const data = pem(rsa().privateKey);
  expect(await bring(await made('sign'), data)).toEqual(done);
  await ok(201, harness.request('POST', '/v1/config/tenants', { name: 'other' }));
  const { token } = await ok(200, harness.request('POST', '/v1/state/keystore/token/create-root', { name: 'other' }));
  const as = (to: string, sent: object) => harness.request('POST', to, sent, { token });
  expect((await as(config, { name: 'theirs', cipher: 'rsa-2048', use: 'encrypt' })).status).toBe(201);
  expect((await as('/v1/state/keystore/transit-keys/theirs/import', { data })).status).toBe(204);
});

describe('private keys that an earlier version of the appliance has left', () => {
  const forget = async () => {
    const store = harness.store.prefixed('transit');
    const tables = [store.tenantTable('private-key-uses'), store.tenantTable('private-keys-noted')];
    await store.write((transaction) => {
      for (const table of tables) for (const key of Array.from(transaction.keys(table, []))) transaction.delete(table, key);
    });
    harness.store.refresh();
    return store;
  };

  test('are found', async () => {
    const data = pem(rsa().privateKey);
    expect(await bring(await made('sign'), data)).toEqual(done);
    await forget();
    expect(await bring(await made('encrypt'), data)).toEqual(refused);
    await harness.expectSound();
  });

  test('are noted once for all who wait for it, with others in between', async () => {
    await ok(201, harness.request('POST', '/v1/config/tenants', { name: 'crowded' }));
    const { uuid: tenantId } = await ok(200, harness.request('GET', '/v1/state/tenants/crowded'));
    const store = await forget();
    const tables = openTables(store);
    const publicKey = new Uint8Array(generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }));
    const names = Array.from({ length: 1_000 }, (_, at) => `key-${at}`);
    await store.write((transaction) => {
      for (const name of names) {
        transaction.put(store.table('keys'), [tenantId, name], { id: name, cipher: 'ed25519' });
        transaction.put(store.table('versions'), [tenantId, name, 1], { stored: {}, publicKey });
      }
    });
    store.refresh();
    let [commits, turns] = [0, 0];
    const counted = { ...store, write: (change: (transaction: WriteTransaction) => unknown) => ((commits += 1), store.write(change)) };
    const turn = setInterval(() => (turns += 1), 0);
    const parts = { tables, store: counted as unknown as Store };
    await Promise.all(Array.from({ length: 8 }, () => notePrivateKeysOfBefore(parts, tenantId)));
    clearInterval(turn);
    store.refresh();
    expect(Array.from(tables.privateKeyUses.keys([tenantId]))).toHaveLength(names.length);
    // Ten in each, and the mark that it is done: of one walk.
    expect(commits).toBe(names.length / 10 + 1);
    expect(turns).toBeGreaterThan(5);
    await store.write((transaction) => {
      const filled: readonly Table<unknown>[] = [tables.keys, tables.versions, tables.privateKeyUses, tables.privateKeysNoted];
      for (const table of filled) for (const key of Array.from(transaction.keys(table, [tenantId]))) transaction.delete(table, key);
    });
  });
});

describe('allow-dual-use', () => {
  test('lets the tenants that it names have both, and custody statements say so', async () => {
    const own = await startTransitHarness(directory('dual'), { configuration: { transit: { allowDualUse: ['system'] } } });
    try {
      const data = pem(rsa().privateKey);
      for (const use of ['sign', 'encrypt']) {
        await own.create(`both-${use}`, { cipher: 'rsa-2048', use });
        await own.do(`both-${use}`, 'import', { data });
      }
      const { statement } = await ok(200, own.request('GET', '/v1/state/keystore/transit-keys/both-sign/custody'));
      const claims = JSON.parse(Buffer.from(String(statement).split('.')[1] ?? '', 'base64url').toString());
      expect(claims.key).toMatchObject({ use: 'sign', 'other-uses': ['encrypt'] });
      await own.expectSound();
    } finally {
      await own.stop();
    }
  });

  test('taken back: each of a pair is restored in its own place from its own backup, and nowhere else', async () => {
    const at = directory('taken-back');
    const before = await startTransitHarness(at, { configuration: { transit: { allowDualUse: ['system'] } } });
    const data = pem(rsa().privateKey);
    const backups: string[] = [];
    for (const use of ['sign', 'encrypt']) {
      const name = `both-${use}`;
      await before.create(name, { cipher: 'rsa-2048', use, 'deletion-allowed': true, 'allow-plaintext-backup': true });
      await before.do(name, 'import', { data });
      backups.push((await before.do(name, 'backup')).key);
    }
    const [sign, encrypt] = backups;
    await before.stop();
    const own = await startTransitHarness(at, { token: before.token, rootToken: before.rootToken });
    try {
      await own.do('both-sign', 'rotate');
      await own.do('both-sign', 'restore', { key: sign });
      await own.do('both-encrypt', 'restore', { key: encrypt });
      expect((await own.do('both-sign', 'sign', { text: 'aGVsbG8=' }))['key-version']).toBe(2);
      await own.create('elsewhere', { 'deletion-allowed': true });
      for (const key of backups) expect(await codeOf(own.act('elsewhere', 'restore', { key }))).toEqual(refused);
      // In the place of the other it would have a use that this key had not.
      expect(await codeOf(own.act('both-encrypt', 'restore', { key: sign }))).toEqual(done);
      expect(await codeOf(own.act('both-encrypt', 'restore', { key: encrypt }))).toEqual(refused);
      await own.do('both-sign', 'rotate');
      await own.do('both-sign', 'trim', { version: 3 });
      expect(await codeOf(own.act('both-sign', 'restore', { key: sign }))).toEqual(done);
      await own.expectSound();
    } finally {
      await own.stop();
    }
  });
});
