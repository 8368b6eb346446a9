// npm test -- image secure: Secure Boot and a TPM. The machine takes the keys of the image, and only the TPM opens its state.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runTool } from '../../appliance/packaging/image/tools.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { provideImage } from './build.ts';
import { Machine } from './machine.ts';

const path = temporaryDirectory();
const actions = '/v1/state/keystore/transit-keys/kept';

let image = '';
let machine: Machine;
let rootToken = '';
let ciphertext: unknown;

beforeAll(() => {
  image = provideImage(path('image'));
});

afterAll(() => Machine.endAll());

test('a new machine takes the keys of the image, starts again and serves; no key of its state is on the disk', async () => {
  machine = await Machine.start({ directory: path(), image, secure: true });
  await machine.serves();
  expect(machine.console()).toContain('Enrolling');
  rootToken = await machine.claim();
  await machine.ask('POST', '/v1/config/keystore/transit-keys', { name: 'kept' }, rootToken);
  ({ ciphertext } = await machine.ask('POST', `${actions}/encrypt`, { plaintext: 'aGVsbG8=' }, rootToken));
  await machine.powerOff();
  runTool('qemu-img', ['convert', '-O', 'raw', path('disk.qcow2'), path('disk.raw')]);
  expect(runTool('mdir', ['-b', '-i', `${path('disk.raw')}@@1M`, '::/'])).not.toContain('keystored/');
});

test('the next start opens the state with the TPM', async () => {
  machine = await Machine.start({ directory: path(), image, secure: true });
  await machine.serves();
  expect(await machine.ask('POST', `${actions}/decrypt`, { ciphertext }, rootToken)).toMatchObject({ plaintext: 'aGVsbG8=' });
  await machine.powerOff();
});
