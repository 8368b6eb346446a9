// npm test -- image attended: a machine that waits for a person's PIN at every start, and is reset by a medium. A quarter of an hour.
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary.ts';
import { provideImage } from './build.ts';
import { extractState, foundIn, openState } from './disk.ts';
import { Machine, mediumWith, shownSecret } from './machine.ts';

const path = temporaryDirectory();
const directory = path();
const actions = '/v1/state/keystore/transit-keys/kept';
const pin = 'a PIN of the drill';

let image = '';
let machine: Machine;
let rootToken = '';
let ciphertext: unknown;

beforeAll(() => {
  image = provideImage(path('image'));
});

afterAll(() => Machine.endAll());

test('a new machine with an attended start is sealed, refuses a wrong PIN, and serves with the one on its medium', async () => {
  machine = await Machine.start({ directory, image, more: mediumWith(path('medium'), { start: 'attended', pin }) });
  await machine.shown(/^service +sealed: waiting for the PIN$/);
  await machine.trustShownCa();
  expect((await machine.exchange('GET', actions, undefined, 'none')).status).toBe(503);
  const [, code = ''] = await machine.shown(/^unseal code +([A-Z-]{14})$/);
  expect((await unseal(pin, 'BCDF-GHJK-LMNP')).status).toBe(403);
  expect((await unseal('another PIN', code)).status).toBe(403);
  await expect.poll(async () => (await unseal(pin, code)).status, { timeout: 60_000, interval: 4_000 }).toBe(204);
  await machine.serves();
  rootToken = await machine.claim();
  await machine.ask('POST', '/v1/config/keystore/transit-keys', { name: 'kept' }, rootToken);
  ({ ciphertext } = await machine.ask('POST', `${actions}/encrypt`, { plaintext: 'aGVsbG8=' }, rootToken));
  await machine.cutPower();
});

test('the next start without the medium is sealed as well; the PIN opens it, and is nowhere on the disk', async () => {
  machine = await Machine.start({ directory, image });
  await machine.shown(/^service +sealed: waiting for the PIN$/);
  await machine.trustShownCa();
  const [, code = ''] = await machine.shown(/^unseal code +([A-Z-]{14})$/);
  expect((await unseal(pin, code)).status).toBe(204);
  await machine.serves();
  expect(await machine.ask('POST', `${actions}/decrypt`, { ciphertext }, rootToken)).toMatchObject({ plaintext: 'aGVsbG8=' });
  await machine.powerOff();
  const state = openState(directory);
  extractState(state, '/lib/keystored', path('state'));
  expect(readdirSync(path('state/keystored')).filter((name) => /pin/.test(name))).toEqual([]);
  expect(foundIn(state, new Map([['pin', pin]]))).toEqual([]);
});

test('a medium with the fingerprint of the CA resets the machine, once', async () => {
  machine = await Machine.start({ directory, image });
  const [, fingerprint] = await machine.shown(/^CA SHA-256 +([0-9A-F:]{95})$/);
  await machine.powerOff();
  const medium = mediumWith(path('medium'), { 'factory-reset': fingerprint });
  machine = await Machine.start({ directory, image, more: medium });
  await machine.shown(/^CA SHA-256 +not made yet$/);
  machine.forgetConsole();
  await machine.shown(shownSecret);
  await machine.serves();
  expect((await machine.exchange('GET', actions, undefined, rootToken)).status).toBe(401);
  rootToken = await machine.claim();
  expect((await machine.exchange('GET', actions, undefined, rootToken)).status).toBe(404);
  await machine.powerOff();
});

function unseal(given: string, code: string): Promise<{ readonly status: number }> {
  return machine.exchange('POST', '/v1/state/keystore/system/unseal', { pin: given, 'unseal-code': code });
}
