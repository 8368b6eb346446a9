// npm test -- image full: Secure Boot and a TPM; updates that are refused, kept, cut off and left again; a factory reset. An hour.
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runTool } from '../../appliance/packaging/image/tools.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { buildImage, partsOf } from './build.ts';
import { Machine, mediumSlots, shownSecret } from './machine.ts';
import { expectRefused, install, makeUpdateMedium, testSigners, type Update } from './updates.ts';

const path = temporaryDirectory();
const actions = '/v1/state/keystore/transit-keys/kept';
const operations = '/v1/state/system/operate';

let image = '';
let machine: Machine;
let rootToken = '';
let ciphertext: unknown;

beforeAll(async () => {
  image = buildImage(path('image'), '0.1.0');
  for (const [version, extra] of [
    ['0.2.0', []],
    ['0.3.0', brokenTree()],
  ] as const) {
    buildImage(path('image'), version, { extra });
    await makeMedium(version, { parts: partsOf(path('image'), version) });
  }
});

afterAll(() => Machine.endAll());

test('an update is refused that is older, or that not every key has signed; the screen says why', async () => {
  machine = await start();
  await machine.serves();
  rootToken = await machine.claim();
  await machine.ask('POST', '/v1/config/keystore/transit-keys', { name: 'kept' }, rootToken);
  ({ ciphertext } = await machine.ask('POST', `${actions}/encrypt`, { plaintext: 'aGVsbG8=' }, rootToken));
  await expectRefused(machine, await makeMedium('0.0.9'), 'its version 0.0.9 is not newer than 0.1.0, which runs');
  await expectRefused(
    machine,
    await makeMedium('0.9.0', { keys: testSigners.slice(0, 1) }),
    'it is not signed with the ml-dsa-65 key of this appliance',
  );
  await expectRefused(machine, await makeMedium('0.9.1', { spoil: 's/"bytes": 5/"bytes": 6/' }), 'its (ec|ml-dsa-65) signature is wrong');
});

test('an update is taken from a medium, tried and kept', async () => {
  await install(machine, mediumOf('0.2.0'), '0.2.0');
  await reboot();
  await expectServing('0.2.0');
});

test('the mains fail while an update is written: the version that ran serves, and the update can be taken again', async () => {
  await machine.powerOff();
  machine = await start();
  await expectServing('0.2.0');
  await machine.plugIn(mediumOf('0.3.0'));
  // Once for /var, and then a good part of the other slot.
  await machine.written(statSync(bundleOf('0.3.0')).size * 1.5);
  await machine.cutPower();
  machine = await start();
  await expectServing('0.2.0');
});

test('an update that does not serve is left after two trials, and the version before serves again', async () => {
  await install(machine, mediumOf('0.3.0'), '0.3.0');
  await reboot();
  await machine.shown(/^keystored +0\.3\.0$/);
  machine.forgetConsole();
  await expectServing('0.2.0');
  await machine.shown(/^\* Version 0\.3\.0 was abandoned, because it did not serve in its trials\./);
});

test('a factory reset leaves nothing: another CA, another credential, no key, no old token', async () => {
  const { caPem } = machine;
  machine.forgetConsole();
  await machine.ask('POST', operations, { operation: 'factory-reset' }, rootToken);
  // Until it is off, the screen may still show the CA of before.
  await machine.shown(/^CA SHA-256 +not made yet$/);
  machine.forgetConsole();
  await machine.shown(shownSecret);
  await machine.serves();
  expect(machine.caPem).not.toBe(caPem);
  expect((await machine.exchange('GET', '/v1/config/keystore/transit-keys', undefined, rootToken)).status).toBe(401);
  const again = await machine.claim();
  expect(await machine.exchange('GET', '/v1/config/keystore/transit-keys/kept', undefined, again)).toMatchObject({ status: 404 });
});

test('on the boot partition lie the version that proved itself and the one of which no trial is left', async () => {
  await machine.powerOff();
  runTool('qemu-img', ['convert', '-O', 'raw', path('disk.qcow2'), path('disk.raw')]);
  const files = runTool('mdir', ['-b', '-i', `${path('disk.raw')}@@1M`, '::/EFI/Linux'])
    .trim()
    .split('\n');
  expect(files.map((file) => basename(file)).sort()).toEqual(['keystored_0.2.0.efi', 'keystored_0.3.0+0-2.efi']);
});

function start(): Promise<Machine> {
  return Machine.start({ directory: path(), image, secure: true, more: mediumSlots });
}

async function reboot(): Promise<void> {
  machine.forgetConsole();
  await machine.ask('POST', operations, { operation: 'reboot' }, rootToken);
}

async function expectServing(version: string): Promise<void> {
  await machine.shown(new RegExp(`^keystored +${RegExp.escape(version)}$`));
  await machine.serves();
  expect(await machine.ask('POST', `${actions}/decrypt`, { ciphertext }, rootToken)).toMatchObject({ plaintext: 'aGVsbG8=' });
}

const mediumOf = (version: string): string => path(`${version}.medium`);
const bundleOf = (version: string): string => path(`${version}.update`);

function makeMedium(version: string, options: Pick<Update, 'parts' | 'keys' | 'spoil'> = {}): Promise<string> {
  return makeUpdateMedium({ directory: path(), version, ...options });
}

/** A daemon that ends at once, and a gate that does not wait for long. */
function brokenTree(): string[] {
  const units = path('broken/usr/lib/systemd/system');
  const dropIns = { keystored: 'ExecStart=\nExecStart=/usr/bin/false', 'keystored-healthy': 'TimeoutStartSec=60' };
  for (const [unit, settings] of Object.entries(dropIns)) {
    mkdirSync(join(units, `${unit}.service.d`), { recursive: true });
    writeFileSync(join(units, `${unit}.service.d/zz-broken.conf`), `[Service]\n${settings}\n`);
  }
  return [path('broken')];
}
