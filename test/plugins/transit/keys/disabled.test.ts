// Disabled keys and versions, and deletions that can be taken back: every use is refused, recorded, counted and shown, whichever way it comes.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import openpgp from '../../../../plugins/openpgp/index.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, codeOf, ok, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
const config = '/v1/config/keystore/transit-keys';
const hello = base64('hello world');
const day = 24 * 3_600;
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'), { plugins: [openpgp] });
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

const change = (name: string, fields: object) => ok(204, harness.patch(name, fields));
const refusedAs = async (name: string, action: string, body?: object): Promise<string> =>
  (await harness.act(name, action, body)).body?.code;
const exists = async (name: string): Promise<boolean> => (await harness.request('GET', `${config}/${name}`)).status === 200;

describe('a disabled key', () => {
  test('refuses every use, alone and in a batch, and works again when it is enabled', async () => {
    await harness.create('sealing', { exportable: true, 'allow-plaintext-backup': true, 'deletion-allowed': true });
    const { ciphertext } = await harness.do('sealing', 'encrypt', { plaintext: hello });
    const { hmac } = await harness.do('sealing', 'hmac', { plaintext: hello });
    const { key: backup } = await harness.do('sealing', 'backup');
    await change('sealing', { disabled: true });
    const uses: readonly (readonly [string, object?])[] = [
      ['encrypt', { plaintext: hello }],
      ['decrypt', { ciphertext }],
      ['rewrap', { ciphertext }],
      ['generate-data-key', {}],
      ['hmac', { plaintext: hello }],
      ['verify', { text: hello, hmac }],
      ['export', {}],
      ['export', { version: 'latest' }],
      ['backup'],
      // A restore would enable it.
      ['restore', { key: backup }],
    ];
    for (const [action, body] of uses) expect([action, await refusedAs('sealing', action, body)]).toEqual([action, 'key-disabled']);
    const batch = await harness.do('sealing', 'decrypt-batch', { 'batch-input': [{ ciphertext }] });
    expect(batch).toMatchObject({ failed: 1, 'batch-results': [{ code: 'key-disabled', status: 409 }] });
    const problem = await harness.refused(409, 'key-disabled', 'sealing', 'decrypt', { ciphertext });
    expect(problem.detail).toContain('set disabled to false');
    expect((await harness.state('sealing')).versions['1'].status).toBe('disabled');
    await change('sealing', { disabled: false });
    expect((await harness.do('sealing', 'decrypt', { ciphertext })).plaintext).toBe(hello);
  });

  test('signs and verifies nothing, by OpenPGP neither', async () => {
    await harness.create('signing', { cipher: 'ed25519', 'openpgp-user-id': 'Archive <archive@example.com>' });
    const { signature } = await harness.do('signing', 'sign', { text: hello });
    const { signature: detached } = await harness.do('signing', 'openpgp-sign', { text: hello });
    await change('signing', { disabled: true });
    const uses: readonly (readonly [string, object])[] = [
      ['sign', { text: hello }],
      ['verify', { text: hello, signature }],
      ['openpgp-sign', { text: hello }],
      ['openpgp-verify', { text: hello, signature: detached }],
    ];
    for (const [action, body] of uses) expect([action, await refusedAs('signing', action, body)]).toEqual([action, 'key-disabled']);
  });

  test('certifies no other User ID, and can still be revoked', async () => {
    await harness.create('certified', { cipher: 'ed25519', 'openpgp-user-id': 'Archive <archive@example.com>' });
    const block = async (): Promise<unknown> => (await harness.do('certified', 'export-openpgp-public')).keys[0].keyblock;
    const before = await block();
    expect(before).toEqual(expect.stringContaining('PUBLIC KEY'));
    const other = { 'openpgp-user-id': 'Evil <evil@example.com>' };
    for (const disabling of [{ disabled: true }, { disabled: false, 'disabled-versions': [1] }]) {
      await change('certified', disabling);
      expect(await codeOf(harness.patch('certified', other))).toEqual({ status: 409, code: 'key-disabled' });
      await change('certified', { labels: { seen: 'disabled' } });
      expect(await block()).toBe(before);
      expect((await harness.do('certified', 'export-openpgp-revocation')).revocation).toContain('PUBLIC KEY');
    }
    await change('certified', { 'disabled-versions': [] });
    await change('certified', other);
    expect(await block()).not.toBe(before);
  });

  test('counts the refused uses of each version, tells the last, and has them in the audit trail', async () => {
    await harness.create('counted');
    const { ciphertext } = await harness.do('counted', 'encrypt', { plaintext: hello });
    await change('counted', { disabled: true });
    await harness.act('counted', 'decrypt', { ciphertext });
    await harness.act('counted', 'decrypt-batch', { 'batch-input': [{ ciphertext }, { ciphertext }] });
    const { usage } = await harness.state('counted');
    expect(usage['1']).toMatchObject({ uses: 1, refused: 3, 'last-refused': expect.any(String) });
    const recorded = harness.records().filter(({ path, code }) => String(path).includes('/counted/') && code === 'key-disabled');
    expect(recorded).toHaveLength(1);
  });

  test('is enabled by a replacement that does not say so, and stays so by one that does', async () => {
    await harness.create('replaced', { disabled: true });
    const replace = (fields: object): Promise<unknown> => ok(204, harness.request('PUT', `${config}/replaced`, fields));
    await replace({ disabled: true, labels: { seen: 'again' } });
    await harness.refused(409, 'key-disabled', 'replaced', 'encrypt', { plaintext: hello });
    await replace({ labels: { seen: 'again' } });
    expect((await harness.do('replaced', 'encrypt', { plaintext: hello }))['key-version']).toBe(1);
  });

  test('is in the list of the disabled ones', async () => {
    await harness.create('listed', { disabled: true });
    const names = (await ok(200, harness.request('GET', `${config}?disabled=true&contains=listed`))) as { name: string }[];
    expect(names.map(({ name }) => name)).toEqual(['listed']);
    expect(await ok(200, harness.request('GET', `${config}?disabled=false&contains=listed`))).toEqual([]);
  });
});

describe('a disabled version', () => {
  test('is refused, others go on, and no older one is used in its place', async () => {
    await harness.create('versions');
    const { ciphertext } = await harness.do('versions', 'encrypt', { plaintext: hello });
    await harness.do('versions', 'rotate');
    const { ciphertext: second } = await harness.do('versions', 'encrypt', { plaintext: hello });
    await change('versions', { 'disabled-versions': [1] });
    await harness.refused(409, 'key-disabled', 'versions', 'decrypt', { ciphertext });
    expect((await harness.do('versions', 'decrypt', { ciphertext: second })).plaintext).toBe(hello);
    await change('versions', { 'disabled-versions': [2] });
    expect((await harness.do('versions', 'decrypt', { ciphertext })).plaintext).toBe(hello);
    const { detail } = await harness.refused(409, 'key-disabled', 'versions', 'encrypt', { plaintext: hello });
    expect(detail).toContain('rotate the key');
    await harness.do('versions', 'rotate');
    expect((await harness.do('versions', 'encrypt', { plaintext: hello }))['key-version']).toBe(3);
    const { versions } = await harness.state('versions');
    expect(['1', '2', '3'].map((one) => versions[one].status)).toEqual(['active', 'disabled', 'active']);
  });

  test('does not leave in a backup of its key', async () => {
    await harness.create('backed', { 'allow-plaintext-backup': true });
    await harness.do('backed', 'rotate');
    await change('backed', { 'disabled-versions': [1] });
    await harness.refused(409, 'key-disabled', 'backed', 'backup', {});
    await change('backed', { 'disabled-versions': [] });
    expect((await harness.do('backed', 'backup'))['key-version']).toBe(2);
  });

  test('must be there, once, and leaves the list with a trim', async () => {
    await harness.create('trimmed');
    await harness.do('trimmed', 'rotate');
    for (const versions of [[3], [0], [1, 1]])
      expect(await codeOf(harness.patch('trimmed', { 'disabled-versions': versions }))).toMatchObject({ status: 400 });
    await change('trimmed', { 'disabled-versions': [1, 2] });
    await harness.do('trimmed', 'trim', { version: 2 });
    expect((await harness.config('trimmed'))['disabled-versions']).toEqual([2]);
  });
});

describe('delete-after', () => {
  test('deletes the key when its time has passed, not before, and records it', async () => {
    await harness.create('leaving', { 'deletion-allowed': true });
    const { ciphertext } = await harness.do('leaving', 'encrypt', { plaintext: hello });
    await change('leaving', { 'delete-after': '7d' });
    await harness.refused(409, 'key-disabled', 'leaving', 'decrypt', { ciphertext });
    const { deletes } = await harness.state('leaving');
    harness.clock.advance(6 * day);
    await harness.runJobs();
    expect(await exists('leaving')).toBe(true);
    // The same document again does not put it off.
    await change('leaving', { 'delete-after': '7d', labels: { seen: 'again' } });
    expect((await harness.state('leaving')).deletes).toBe(deletes);
    harness.clock.advance(day);
    await harness.runJobs();
    expect(await exists('leaving')).toBe(false);
    expect(harness.records().filter(({ kind, path }) => kind === 'deletion' && path === `${config}/leaving`)).toHaveLength(1);
  });

  test('can be taken back until then, and begins again when it is set again', async () => {
    await harness.create('kept', { 'deletion-allowed': true });
    const { ciphertext } = await harness.do('kept', 'encrypt', { plaintext: hello });
    await change('kept', { 'delete-after': '2d' });
    harness.clock.advance(1.5 * day);
    await change('kept', { 'delete-after': null });
    harness.clock.advance(day);
    await harness.runJobs();
    expect((await harness.do('kept', 'decrypt', { ciphertext })).plaintext).toBe(hello);
    await change('kept', { 'delete-after': '2d' });
    harness.clock.advance(1.5 * day);
    await harness.runJobs();
    expect(await exists('kept')).toBe(true);
    await change('kept', { 'delete-after': '10d' });
    harness.clock.advance(5 * day);
    await harness.runJobs();
    expect(await exists('kept')).toBe(true);
  });

  test('needs deletion-allowed, a day, a key that is there, and the right to delete it', async () => {
    await harness.create('guarded');
    expect(await codeOf(harness.patch('guarded', { 'delete-after': '7d' }))).toEqual({ status: 409, code: 'deletion-not-allowed' });
    await change('guarded', { 'deletion-allowed': true });
    expect(await codeOf(harness.patch('guarded', { 'delete-after': '23h' }))).toMatchObject({ status: 400 });
    const born = harness.request('POST', config, { name: 'born', 'deletion-allowed': true, 'delete-after': '7d' });
    expect(await codeOf(born)).toMatchObject({ status: 400, code: 'invalid-value' });
    await change('guarded', { 'delete-after': '7d' });
    expect(await codeOf(harness.patch('guarded', { 'deletion-allowed': false }))).toEqual({ status: 409, code: 'deletion-not-allowed' });
  });

  test('waits while a subkey needs the key', async () => {
    await harness.create('primary', { cipher: 'ed25519', 'openpgp-user-id': 'Archive <archive@example.com>', 'deletion-allowed': true });
    await harness.create('subkey', { cipher: 'ed25519', 'openpgp-primary': 'primary', 'openpgp-key-usage': ['sign'] });
    expect(await codeOf(harness.patch('primary', { 'delete-after': '7d' }))).toEqual({ status: 409, code: 'in-use' });
  });

  test('of a key that was deleted and made again meanwhile deletes nothing', async () => {
    await harness.create('reborn', { 'deletion-allowed': true });
    await change('reborn', { 'delete-after': '2d' });
    await ok(204, harness.remove('reborn'));
    await harness.create('reborn');
    harness.clock.advance(3 * day);
    await harness.runJobs();
    expect(await exists('reborn')).toBe(true);
  });
});
