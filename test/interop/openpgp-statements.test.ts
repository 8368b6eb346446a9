// What a key says of itself over its life, in other people's programs: expiry extended and shortened, User IDs revoked, notations, hashes;
// keys of elsewhere with all they have; what gpg signs in one document, verified here; a key server asked by gpg.
// Needs the Debian packages dirmngr, gnupg, gosop, rnp, sq, sqop and sqv.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readKey } from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { base64, type OpenpgpHarness, startOpenpgpHarness } from '../plugins/openpgp/harness.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { gpgSays, judgements, Workbench } from './openpgp-tools.ts';

const path = temporaryDirectory();
const data = Buffer.from('A release of something.\n');
const day = 86_400;
let harness: OpenpgpHarness;
beforeAll(async () => {
  // In the past: other people's programs know no other time than now.
  harness = await startOpenpgpHarness(
    path(),
    Temporal.Now.instant()
      .subtract({ hours: 24 * 40 })
      .toString(),
  );
});
afterAll(() => harness.close());

const whole = async (name: string): Promise<string> =>
  (await harness.do(name, 'export-openpgp-public', { version: 'all', subkeys: true })).keys[0].keyblock;

const judges = (keyblock: string, signature: string) => judgements(keyblock, signature, data);

const good = { gpg: 'GOODSIG', gpgv: 'GOODSIG', sq: true, sqv: true, sqop: true, gosop: true, rnp: true };
const ciphers = ['rsa-2048', 'ed25519', 'ecdsa-p384'];

describe.each(ciphers)('%s', (cipher) => {
  test('extended: what was signed before and after is good everywhere, also for gpg that had the first block', async () => {
    const [name, leaf] = [`extended-${cipher}`, `extended-leaf-${cipher}`];
    await harness.create(name, { cipher, 'openpgp-user-id': 'Ada <ada@example.org>', 'openpgp-expires-after': '2d' });
    const role = { 'openpgp-primary': name, 'openpgp-key-usage': ['sign'] };
    await harness.create(leaf, { cipher, ...role, 'openpgp-expires-after': '2d' });
    const former = await whole(name);
    const signatures = [await harness.sign(name, data), await harness.sign(leaf, data)];
    harness.clock.advance(5 * day);
    for (const one of [name, leaf]) expect((await harness.patch(one, { 'openpgp-expires-after': '5y' })).status).toBe(204);
    signatures.push(await harness.sign(name, data), await harness.sign(leaf, data));
    const block = await whole(name);
    for (const signature of signatures) {
      expect(await judges(block, signature)).toEqual(good);
      for (const blocks of [
        [former, block],
        [block, former],
      ]) {
        await using bench = new Workbench();
        for (const one of blocks) await bench.gpg('--import', bench.file('one.asc', one));
        expect(await gpgSays(bench, former, signature, data)).toBe('GOODSIG');
      }
    }
  });

  test('shortened, so that it has expired: earlier signatures are good, and gpg says that the key has expired', async () => {
    const name = `shortened-${cipher}`;
    await harness.create(name, { cipher, 'openpgp-user-id': 'Ada <ada@example.org>' });
    const signature = await harness.sign(name, data);
    const former = await harness.block(name);
    harness.clock.advance(2 * day);
    expect((await harness.patch(name, { 'openpgp-expires-after': '1d' })).status).toBe(204);
    const expired = { ...good, gpg: 'EXPKEYSIG', gpgv: 'EXPKEYSIG' };
    expect(await judges(await harness.block(name), signature)).toMatchObject({ ...expired, rnp: expect.any(Boolean) });
    await using bench = new Workbench();
    expect(await gpgSays(bench, former, signature, data)).toBe('GOODSIG');
    expect(await gpgSays(bench, await harness.block(name), signature, data)).toBe('EXPKEYSIG');
  });

  test('User IDs: gpg shows the primary one and the revoked one, and all signatures stay good', async () => {
    const name = `users-${cipher}`;
    await harness.create(name, { cipher, 'openpgp-user-id': 'Ada <a@example.org>', 'openpgp-user-ids': ['Ada <b@example.org>'] });
    const [former, signature] = [await harness.block(name), await harness.sign(name, data)];
    harness.clock.advance(3600);
    const change = {
      'openpgp-user-id': 'Ada <b@example.org>',
      'openpgp-user-ids': [],
      'openpgp-revoked-user-ids': ['Ada <a@example.org>'],
    };
    expect((await harness.put(name, { ...(await harness.config(name)), ...change })).status).toBe(204);
    const later = await harness.sign(name, data);
    for (const one of [signature, later]) expect(await judges(await harness.block(name), one)).toEqual(good);
    await using bench = new Workbench();
    for (const one of [former, await harness.block(name)]) await bench.gpg('--import', bench.file('one.asc', one));
    const { stdout } = await bench.gpg('--with-colons', '--list-keys');
    const users = stdout.split('\n').flatMap((line) => (line.startsWith('uid:') ? [[line.split(':')[1], line.split(':')[9]]] : []));
    expect(users).toEqual([
      ['-', 'Ada <b@example.org>'],
      ['r', 'Ada <a@example.org>'],
    ]);
  });

  test('each hash and a notation are read everywhere', async () => {
    const name = `wishes-${cipher}`;
    await harness.create(name, { cipher, 'openpgp-user-id': 'Ada <ada@example.org>' });
    for (const hash of cipher === 'ecdsa-p384' ? ['sha384', 'sha512'] : ['sha256', 'sha384', 'sha512']) {
      const notations = [{ name: 'build@example.org', value: 'job 4711' }];
      const signature = await harness.sign(name, data, { 'hash-algorithm': hash, notations });
      expect(await judges(await harness.block(name), signature)).toEqual(good);
      await using bench = new Workbench();
      await gpgSays(bench, await harness.block(name), signature, data);
      const { stdout } = await bench.gpg('--verify', bench.path('signature.asc'), bench.path('data'));
      expect(stdout).toMatch(/NOTATION_NAME build@example\.org\n(.*\n)*.*NOTATION_DATA job%204711/);
    }
  });
});

describe('a key of gpg that moves in', () => {
  test('keeps its User IDs, its subkeys and what it signed; gpg that had it takes the new expiry', async () => {
    await using bench = new Workbench();
    const created = ['--faked-system-time', '20240101T000000'];
    await bench.gpg(...created, '--quick-generate-key', 'Old <old@example.org>', 'rsa2048', 'sign', '2y');
    const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec((await bench.gpg('--with-colons', '--list-keys')).stdout)?.[1] ?? '';
    await bench.gpg(...created, '--quick-add-uid', fingerprint, 'Old <other@example.org>');
    await bench.gpg(...created, '--quick-add-key', fingerprint, 'rsa2048', 'encr', 'never');
    await bench.gpg(
      '--faked-system-time',
      '20250301T000000',
      '--yes',
      '--armor',
      '--output',
      bench.path('before.asc'),
      '--detach-sign',
      bench.file('data', data),
    );
    await bench.gpg('--armor', '--output', bench.path('secret.asc'), '--export-secret-keys', fingerprint);
    await bench.gpg('--armor', '--output', bench.path('public.asc'), '--export', fingerprint);
    await harness.create('old', { cipher: 'rsa-2048', 'openpgp-user-id': 'Old <old@example.org>' });
    await harness.do('old', 'import', { data: readFileSync(bench.path('secret.asc'), 'utf8'), 'as-version': 1 });
    const block = await whole('old');
    const read = await readKey({ armoredKey: block });
    expect([read.getFingerprint().toUpperCase(), read.getUserIDs(), read.subkeys.length]).toEqual([
      fingerprint,
      ['Old <old@example.org>', 'Old <other@example.org>'],
      1,
    ]);
    for (const signature of [readFileSync(bench.path('before.asc'), 'utf8'), await harness.sign('old', data)]) {
      expect(await judges(block, signature)).toEqual(good);
      await using later = new Workbench();
      await later.gpg('--import', later.file('had.asc', readFileSync(bench.path('public.asc'))));
      expect(await gpgSays(later, block, signature, data)).toBe('GOODSIG');
      expect((await later.gpg('--with-colons', '--list-keys')).stdout).toMatch(/^sub:/m);
    }
  });
});

describe('documents that gpg has signed', () => {
  test.each([
    ['cleartext', ['--clearsign']],
    ['message', ['--armor', '--sign']],
    ['message', ['--sign', '--compress-algo', 'none']],
    ['message', ['--sign', '--compress-algo', 'zlib']],
  ])('as %s by gpg %j verify here', async (form, options) => {
    const name = `reads-${options.join('').replaceAll(/[^a-z]/g, '')}`;
    await harness.create(name, { cipher: 'ed25519', exportable: true, 'openpgp-user-id': 'Ada <ada@example.org>' });
    await using bench = new Workbench();
    const { keys } = await harness.do(name, 'export', { format: 'openpgp' });
    await bench.gpg('--import', bench.file('secret.asc', keys[0].value));
    const text = Buffer.from('one\n- two \nthree\n');
    await bench.gpg('--yes', '--output', bench.path('signed'), ...options, bench.file('text', text));
    // The clock of the appliance follows that of the machine for it, and back.
    const ahead = (Date.now() - harness.today().getTime()) / 1000;
    harness.clock.advance(ahead);
    const answer = await harness.do(name, 'openpgp-verify', { text: base64(readFileSync(bench.path('signed'))), form });
    harness.clock.advance(-ahead);
    const signed = Buffer.from(String(answer['signed-text']), 'base64').toString();
    expect([answer.valid, signed]).toEqual([true, form === 'cleartext' ? 'one\n- two\nthree\n' : text.toString()]);
  });
});

describe('a key server', () => {
  let server: Server;
  let address: string;
  let fingerprint: string;
  beforeAll(async () => {
    await harness.create('served', { cipher: 'ed25519', 'openpgp-user-id': 'Served <served@example.org>', 'openpgp-published': true });
    await harness.create('served-leaf', { cipher: 'ed25519', 'openpgp-primary': 'served', 'openpgp-key-usage': ['sign'] });
    const { 'public-path': path } = await harness.do('served', 'export-openpgp-public');
    fingerprint = (await readKey({ armoredKey: await harness.block('served') })).getFingerprint().toUpperCase();
    // What the web server in front of the appliance does: one rule for /pks/lookup.
    server = createServer((request, response) => {
      const { search } = new URL(request.url ?? '', 'http://localhost');
      const target = `${String(path).split('/').slice(0, 4).join('/')}/pks/lookup${search}`;
      void (async () => {
        const { status, headers, text } = await harness.send('GET', target, undefined, { token: '' });
        response.writeHead(status, { 'content-type': String(headers['content-type']) }).end(text);
      })();
    });
    await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
    address = `hkp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  test('gpg fetches a key by fingerprint and by key ID of a subkey, and finds it by address', async () => {
    const leaf = (await readKey({ armoredKey: await harness.block('served-leaf') })).subkeys[0]?.getKeyID().toHex().toUpperCase();
    for (const search of [fingerprint, `0x${leaf}`]) {
      await using bench = new Workbench();
      const received = await bench.gpg('--keyserver', address, '--recv-keys', search);
      expect(received.stdout).toMatch(new RegExp(`IMPORT_OK 1 ${fingerprint}`));
      expect((await bench.gpg('--with-colons', '--list-keys')).stdout).toMatch(/^sub:/m);
    }
    await using bench = new Workbench();
    const found = await bench.gpg('--with-colons', '--keyserver', address, '--search-keys', 'served@example.org');
    expect(found.stdout).toMatch(new RegExp(`^pub:${fingerprint}:`, 'm'));
    const none = await bench.gpg('--keyserver', address, '--recv-keys', '0'.repeat(40));
    expect(none.stdout).not.toMatch(/IMPORT_OK/);
  });
});

test('the invariants hold after all of this', async () => {
  expect(await harness.findings()).toEqual([]);
});
