// OpenPGP keys of the token against other people's programs: gpg, sq, sqv, and the sop programs that are installed.
// Needs the Debian packages gnupg, sq and sqv; sqop and gosop are used where they are found.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { base64, type OpenpgpHarness, startOpenpgpHarness } from '../plugins/openpgp/harness.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { gpgSays, sqAccepts, sqvAccepts, Workbench } from './openpgp-tools.ts';

const path = temporaryDirectory();
let harness: OpenpgpHarness;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), Temporal.Now.instant().toString());
});
afterAll(() => harness.close());

// Programs of the Stateless OpenPGP interface, as far as this machine has them.
const sopPrograms = ['sqop', 'gosop', 'rsop'].filter((program) => spawnSync(program, ['version']).status === 0);

const data = Buffer.from('A release of something.\n');
const block = async (name: string): Promise<string> => (await harness.do(name, 'export-openpgp-public')).keys[0].keyblock;
const sign = async (name: string, octets: Uint8Array = data): Promise<string> =>
  (await harness.do(name, 'openpgp-sign', { text: base64(octets) })).signature;
/** Of a signature that a program has just made by the clock of the machine, which the clock of the appliance follows for it. */
const isValid = async (name: string, signature: string): Promise<boolean> => {
  harness.clock.advance(Math.max(0, (Date.now() - harness.today().getTime()) / 1_000));
  return (await harness.do(name, 'openpgp-verify', { text: base64(data), signature })).valid;
};

// One in 128 or 256 signatures has a leading zero octet, which a sloppy writer gets wrong for Sequoia only.
const signaturesPerKey = 300;
const ciphers = ['rsa-2048', 'rsa-3072', 'rsa-4096', 'ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521'];

describe.each(ciphers)('%s', (cipher) => {
  const roles = [
    { name: `primary-${cipher}`, fields: { 'openpgp-user-id': `Ünïcode ${cipher} <${cipher}@example.org>` } },
    { name: `subkey-${cipher}`, fields: { 'openpgp-primary': `primary-${cipher}`, 'openpgp-key-usage': ['sign'] } },
  ];

  test.each(roles)('$name: gpg says GOODSIG, sq and sqv verify, wrong data and wrong key fail', async ({ name, fields }) => {
    await harness.create(name, { cipher, exportable: true, ...fields });
    await harness.create(`${name}-other`, { cipher: 'ed25519', 'openpgp-user-id': 'Other' });
    const [keyblock, other, signature] = [await block(name), await block(`${name}-other`), await sign(name)];
    const wrong = Buffer.from('B release of something.\n');
    await using bench = new Workbench();
    expect(await gpgSays(bench, keyblock, signature, data)).toBe('GOODSIG');
    expect(await gpgSays(bench, keyblock, signature, wrong)).toBe('BADSIG');
    for (const accepts of [sqAccepts, sqvAccepts]) {
      expect(await accepts(bench, keyblock, signature, data)).toBe(true);
      expect(await accepts(bench, keyblock, signature, wrong)).toBe(false);
      expect(await accepts(bench, other, signature, data)).toBe(false);
    }
    await using newcomer = new Workbench();
    expect(await gpgSays(newcomer, other, signature, data)).toBe('ERRSIG');
  });

  test.each(roles)(`$name: ${signaturesPerKey} signatures pass in sq and gpg`, { timeout: 180_000 }, async ({ name }) => {
    const keyblock = await block(name);
    await using bench = new Workbench();
    const refused: string[] = [];
    for (let number = 0; number < signaturesPerKey; number += 1) {
      const octets = Buffer.from(`data ${number}`);
      const signature = await sign(name, octets);
      if (!(await sqAccepts(bench, keyblock, signature, octets))) refused.push(`sq ${signature}`);
      if (number % 10 === 0 && (await gpgSays(bench, keyblock, signature, octets)) !== 'GOODSIG') refused.push(`gpg ${signature}`);
    }
    expect(refused).toEqual([]);
  });

  test.each(roles)('$name: exported, it signs in gpg; what it signs verifies here', async ({ name, fields }) => {
    const { keys } = await harness.do(name, 'export', { format: 'openpgp' });
    await using bench = new Workbench();
    const secret = bench.file('secret.asc', keys[0].value);
    await bench.gpg('--import', secret);
    const { stdout } = await bench.gpg('--with-colons', '--list-secret-keys');
    // "#" in field 15: the secret of the primary key is not there.
    const tokens = stdout.split('\n').flatMap((line) => (/^(sec|ssb):/.test(line) ? [line.split(':')[14]] : []));
    expect(tokens).toEqual('openpgp-primary' in fields ? ['#', '+'] : ['+']);
    await bench.gpg('--yes', '--armor', '--output', bench.path('out.asc'), '--detach-sign', bench.file('data', data));
    expect(await isValid(name, readFileSync(bench.path('out.asc'), 'utf8'))).toBe(true);
  });

  // Debian 12's sq 0.27 asks for a passphrase where a primary key has no secret; sq 1.x signs with such a subkey.
  test('exported as primary key, it signs in sq', async () => {
    const name = `primary-${cipher}`;
    const { keys } = await harness.do(name, 'export', { format: 'openpgp' });
    await using bench = new Workbench();
    const files = [bench.file('secret.asc', keys[0].value), bench.file('data', data)] as const;
    const { stdout } = await bench.run('sq', ['sign', '--signer-key', files[0], '--detached', files[1]]);
    expect(await isValid(name, stdout)).toBe(true);
  });

  test.each(roles)('$name: gpg applies the revocation certificate', async ({ name }) => {
    const { revocation } = await harness.do(name, 'export-openpgp-revocation', { reason: 'compromised' });
    await using bench = new Workbench();
    const [keyblock, signature] = [await block(name), await sign(name)];
    expect(await gpgSays(bench, keyblock, signature, data)).toBe('GOODSIG');
    await bench.gpg('--import', bench.file('revocation.asc', revocation));
    expect(await gpgSays(bench, keyblock, signature, data)).toBe('REVKEYSIG');
  });

  test.each(sopPrograms)('%s verifies', async (program) => {
    await using bench = new Workbench();
    for (const { name } of roles) {
      const certificate = bench.file('certificate.asc', await block(name));
      const signature = bench.file('signature.asc', await sign(name));
      expect((await bench.run(program, ['verify', signature, certificate], data)).code).toBe(0);
      expect((await bench.run(program, ['verify', signature, certificate], 'other')).code).not.toBe(0);
    }
  });
});

describe('over time', () => {
  test('two versions of a subkey become one certificate with two subkeys in gpg', async () => {
    await harness.create('root', { cipher: 'ed25519', 'openpgp-user-id': 'Root' });
    await harness.create('leaf', { cipher: 'ed25519', 'openpgp-primary': 'root', 'openpgp-key-usage': ['sign'] });
    const [first, signature] = [await block('leaf'), await sign('leaf')];
    await harness.do('leaf', 'rotate');
    const [second, later] = [await block('leaf'), await sign('leaf')];
    await using bench = new Workbench();
    expect(await gpgSays(bench, first, signature, data)).toBe('GOODSIG');
    expect(await gpgSays(bench, second, later, data)).toBe('GOODSIG');
    expect(await gpgSays(bench, second, signature, data)).toBe('GOODSIG');
    const { stdout } = await bench.gpg('--with-colons', '--list-keys');
    expect(stdout.match(/^pub:/gm)).toHaveLength(1);
    expect(stdout.match(/^sub:/gm)).toHaveLength(2);
  });

  test('one block with version all and subkeys verifies what every version signed, in gpg, sq, sqv and sop', async () => {
    await harness.create('whole', { cipher: 'ed25519', 'openpgp-user-id': 'Whole' });
    await harness.create('whole-leaf', { cipher: 'ecdsa-p256', 'openpgp-primary': 'whole', 'openpgp-key-usage': ['sign'] });
    const signatures = [await sign('whole'), await sign('whole-leaf')];
    for (const name of ['whole-leaf', 'whole', 'whole-leaf']) {
      await harness.do(name, 'rotate');
      signatures.push(await sign(name));
    }
    const { keys } = await harness.do('whole', 'export-openpgp-public', { version: 'all', subkeys: true });
    for (const signature of signatures) {
      await using bench = new Workbench();
      expect(await gpgSays(bench, keys[0].keyblock, signature, data)).toBe('GOODSIG');
      expect(await sqAccepts(bench, keys[0].keyblock, signature, data)).toBe(true);
      expect(await sqvAccepts(bench, keys[0].keyblock, signature, data)).toBe(true);
      const [certificate, detached] = [bench.file('whole.asc', keys[0].keyblock), bench.file('one.asc', signature)];
      // gosop of Debian 12 refuses armor around several certificates.
      for (const program of sopPrograms.filter((one) => one !== 'gosop')) {
        const { code, stderr } = await bench.run(program, ['verify', detached, certificate], data);
        expect([program, code, stderr]).toEqual([program, 0, expect.any(String)]);
      }
    }
  });

  test('after another User ID, signatures made before verify with the new block and with the old one', async () => {
    await harness.create('named', { cipher: 'ecdsa-p256', 'openpgp-user-id': 'Before <a@example.org>' });
    const [before, signature] = [await block('named'), await sign('named')];
    harness.clock.advance(2);
    expect((await harness.patch('named', { 'openpgp-user-id': 'After <a@example.org>' })).status).toBe(204);
    const after = await block('named');
    for (const keyblock of [before, after]) {
      await using bench = new Workbench();
      expect(await gpgSays(bench, keyblock, signature, data)).toBe('GOODSIG');
      expect(await sqAccepts(bench, keyblock, signature, data)).toBe(true);
    }
  });

  test('a User ID of 1,024 octets is imported by gpg', async () => {
    await harness.create('longest', { cipher: 'ed25519', 'openpgp-user-id': 'é'.repeat(512) });
    await using bench = new Workbench();
    expect(await gpgSays(bench, await block('longest'), await sign('longest'), data)).toBe('GOODSIG');
  });
});

describe('what a subkey signed before it was revoked', () => {
  let earlier: OpenpgpHarness;
  beforeAll(async () => {
    // In the past: other people's programs know no other time than now.
    earlier = await startOpenpgpHarness(path('earlier'), Temporal.Now.instant().subtract({ hours: 1 }).toString());
    await earlier.create('root', { cipher: 'ed25519', 'openpgp-user-id': 'Root' });
    await earlier.create('leaf', { cipher: 'ed25519', 'openpgp-primary': 'root', 'openpgp-key-usage': ['sign'] });
  });
  afterAll(() => earlier.close());

  test.each([
    ['superseded', true],
    ['retired', true],
    ['compromised', false],
    ['no-reason', false],
  ])('gpg says REVKEYSIG after %s as after any reason; sq and sqv go by the reason', async (reason, keeps) => {
    const signature = await earlier.sign('leaf', data);
    earlier.clock.advance(60);
    const { revocation } = await earlier.do('leaf', 'export-openpgp-revocation', { reason });
    await using bench = new Workbench();
    expect(await gpgSays(bench, revocation, signature, data)).toBe('REVKEYSIG');
    expect(await sqAccepts(bench, revocation, signature, data)).toBe(keeps);
    expect(await sqvAccepts(bench, revocation, signature, data)).toBe(keeps);
  });
});

test('the invariants hold after all of this', async () => {
  expect(await harness.findings()).toEqual([]);
});
