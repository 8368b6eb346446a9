// npm test -- image metal: an image for real machines with signing keys made for it is written to a disk and booted; two versions forward, none
// back; a backup of it fills another machine. An hour and a half in emulation.
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { provideTools, runTool } from '../../appliance/packaging/image/tools.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { buildImage, partsOf } from './build.ts';
import { Machine, mediumSlots, mediumWith } from './machine.ts';
import { expectRefused, install, makeUpdateMedium } from './updates.ts';

const path = temporaryDirectory();
const keystorectl = resolve(import.meta.dirname, '../../appliance/cli/keystorectl.ts');
const actions = '/v1/state/keystore/transit-keys/kept';
const passphrase = 'a passphrase of the drill';
const keys = path('keys');
const versions = ['0.1.0', '0.2.0', '0.3.0'] as const;

let signers: readonly string[];
let machine: Machine;
let rootToken = '';
let ciphertext: unknown;

beforeAll(async () => {
  makeKeys();
  for (const version of versions) {
    buildImage(path('image'), version, { flavour: ['metal'], keys: [keys] });
    await makeUpdateMedium({ directory: path(), version, parts: partsOf(path('image'), version), keys: signers });
  }
});

afterAll(() => Machine.endAll());

test('a real machine takes the keys of the image for Secure Boot, its settings from a USB medium, and serves from its NVMe disk', async () => {
  const medium = mediumWith(path('medium'), { hostname: 'keys-1' }).map((word) => word.replace('virtio-blk-pci,', 'usb-storage,'));
  machine = await start('first', '0.1.0', ['-device', 'qemu-xhci', ...medium]);
  await machine.serves();
  expect(machine.console()).toContain('Enrolling');
  await machine.shown(/^host name +keys-1$/);
  runTool('mcopy', ['-i', `${path('first/written.raw')}@@1M`, '::/loader/keys/auto/db.auth', path('db.auth')]);
  expect(readFileSync(path('db.auth')).includes(new X509Certificate(readFileSync(join(keys, 'secure-boot.crt'))).raw)).toBe(true);
  rootToken = await machine.claim();
  await machine.ask('POST', '/v1/config/keystore/transit-keys', { name: 'kept' }, rootToken);
  ({ ciphertext } = await machine.ask('POST', `${actions}/encrypt`, { plaintext: 'aGVsbG8=' }, rootToken));
});

test('an update that other keys of the same kinds have signed is refused', async () => {
  mkdirSync(path('foreign'));
  const foreign = await makeUpdateMedium({ directory: path('foreign'), version: '0.9.0', keys: makeSigners(path('foreign')) });
  await expectRefused(machine, foreign, 'it is not signed with the (ec|ml-dsa-65) key of this appliance');
});

test('it goes two versions forward, and none back', async () => {
  for (const version of versions.slice(1)) {
    await install(machine, path(`${version}.medium`), version);
    machine.forgetConsole();
    await machine.ask('POST', '/v1/state/system/operate', { operation: 'reboot' }, rootToken);
    await machine.shown(new RegExp(`^keystored +${RegExp.escape(version)}$`));
    await machine.serves();
    await expectKept();
    // While it is on trial no update is taken.
    await expect.poll(async () => (await imageState())['trial'], { timeout: 900_000, interval: 5000 }).toBe('confirmed');
  }
  await expectRefused(machine, path('0.2.0.medium'), 'its version 0.2.0 is not newer than 0.3.0, which runs');
  expect(await imageState()).toMatchObject({
    version: '0.3.0',
    slots: [
      { version: '0.2.0', running: false },
      { version: '0.3.0', running: true },
    ],
    'last-update': expect.stringContaining('0.2.0 is not newer than 0.3.0'),
  });
});

test('a backup, made by command, fills a new machine from a settings medium, with the CA, the tokens and the keys', async () => {
  for (const [name, text] of Object.entries({ passphrase, token: rootToken, 'ca.pem': machine.caPem }))
    writeFileSync(path(name), text, { mode: 0o600 });
  const access = {
    KEYSTORED_URL: `https://127.0.0.1:${machine.port}`,
    KEYSTORED_CA: path('ca.pem'),
    KEYSTORED_TOKEN_FILE: path('token'),
    KEYSTORED_NO_CACHE: '1',
  };
  const command = [keystorectl, 'backup', '--out', path('keystored.backup'), '--passphrase', `@${path('passphrase')}`];
  execFileSync(process.execPath, command, { env: { ...process.env, ...access } });
  await machine.powerOff();
  const { caPem } = machine;

  const settings = { hostname: 'keys-2', restore: { passphrase } };
  machine = await start('second', '0.3.0', mediumWith(path('medium'), settings, [path('keystored.backup')]));
  await machine.serves();
  expect(machine.caPem).toBe(caPem);
  expect(machine.console()).not.toContain('secret-id');
  await expectKept();
  await machine.powerOff();

  // The medium was forgotten in the machine.
  machine = await start('second', '0.3.0', mediumWith(path('medium'), settings, [path('keystored.backup')]));
  await machine.shown(/^\* Nothing is restored from the medium KEYSTORED/);
  await machine.serves();
  await expectKept();
  await machine.powerOff();
});

function start(name: string, version: string, more: readonly string[]): Promise<Machine> {
  mkdirSync(path(name), { recursive: true });
  const image = path(`image/keystored_${version}.raw`);
  return Machine.start({ directory: path(name), image, real: true, secure: true, more: [...mediumSlots, ...more] });
}

async function expectKept(): Promise<void> {
  expect(await machine.ask('POST', `${actions}/decrypt`, { ciphertext }, rootToken)).toMatchObject({ plaintext: 'aGVsbG8=' });
}

/** As the appliance says it over the network. */
function imageState(): Promise<Readonly<Record<string, unknown>>> {
  return machine.ask('GET', '/v1/state/system/image', undefined, rootToken);
}

/** As docs/administer/image.md has it, and a second key for updates. */
function makeKeys(): void {
  provideTools();
  mkdirSync(keys);
  const subject = (name: string): string[] => ['-days', '3650', '-subj', `/CN=keystored ${name}`];
  for (const name of ['secure-boot', 'pcr']) {
    const files = ['-keyout', join(keys, `${name}.key`), '-out', join(keys, `${name}.crt`)];
    runTool('openssl', ['req', '-x509', '-newkey', 'rsa:3072', '-noenc', ...subject(name), ...files]);
  }
  signers = makeSigners(keys);
  for (const file of signers) runTool('openssl', ['pkey', '-in', file, '-pubout', '-out', file.replace('.key', '.pub')]);
}

/** The private keys of updates, one of each kind. */
function makeSigners(directory: string): readonly string[] {
  const [ec, mlDsa] = [join(directory, 'update-ec.key'), join(directory, 'update-ml-dsa.key')] as const;
  runTool('openssl', ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-384', '-out', ec]);
  runTool('openssl', ['genpkey', '-algorithm', 'ML-DSA-65', '-out', mlDsa]);
  return [ec, mlDsa];
}
