// hsm/embedded-pin: a PIN that a person has chosen for the embedded token, kept in no file when the start is attended.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys/kept';
const pinFiles = ['pin', 'so-pin', 'pin.new', 'pin.chosen'];

/** Starts with a configuration of this `hsm` section; `PIN` is in its environment. */
function start(directory: string, hsm: string, pin = '', abandonAfterMs?: number): Promise<Daemon> {
  const config = path('keystored.yaml');
  writeFileSync(config, `hsm: {${hsm}}\n`);
  const limit = defined({ abandonAfterMs });
  return startDaemon({ directory, args: ['--config', config], environment: { CHOSEN: pin }, ...limit });
}

const attended = 'start: attended';
const chosen = 'embedded-pin: {environment: CHOSEN}';

async function unseal(daemon: Daemon, pin: string): Promise<number> {
  return (await daemon.exchange('POST', '/v1/state/keystore/system/unseal', { pin }, '')).status;
}

async function opens(daemon: Daemon, pin: string): Promise<void> {
  expect(await unseal(daemon, pin)).toBe(204);
  await expect.poll(async () => (await daemon.exchange('GET', '/v1/state/system/health', undefined, '')).status).toBe(200);
}

const filesOf = (directory: string): string[] => pinFiles.filter((name) => existsSync(join(directory, name)));

test('a new attended appliance waits for the PIN that was chosen, and no file holds a PIN', async () => {
  const directory = path('new');
  const first = await start(directory, `${attended}, ${chosen}`, 'chosen by a person');
  expect(filesOf(directory)).toEqual([]);
  expect(first.output()).not.toMatch(/so-pin|chosen by a person/);
  expect(await unseal(first, 'another')).toBe(403);
  await first.stop();
  const second = await start(directory, attended);
  await opens(second, 'chosen by a person');
  await second.request('POST', keys, { name: 'kept' });
  await second.stop();
});

test('an appliance becomes attended with all its keys, and unattended again only with the right PIN', async () => {
  const directory = path('both-ways');
  const first = await start(directory, '');
  await first.request('POST', keys, { name: 'kept' });
  const { ciphertext } = (await first.request('POST', `${actions}/encrypt`, { plaintext: 'aGVsbG8=' })) as { ciphertext: string };
  await first.stop();

  const second = await start(directory, `${attended}, ${chosen}`, 'chosen-1');
  await opens(second, 'chosen-1');
  expect(filesOf(directory)).toEqual([]);
  expect(await second.request('POST', `${actions}/decrypt`, { ciphertext })).toMatchObject({ plaintext: 'aGVsbG8=' });
  await second.stop();
  // Another one on a later medium is not taken: the present one is known to people only.
  const third = await start(directory, `${attended}, ${chosen}`, 'chosen-2');
  await opens(third, 'chosen-1');
  await third.stop();

  await expect(start(directory, chosen, 'chosen-2')).rejects.toThrow(/ended with 1:[^]*keystored: .*PIN/);
  expect(filesOf(directory)).toEqual([]);
  await (await start(directory, chosen, 'chosen-1')).stop();
  expect(filesOf(directory)).toEqual(['pin']);
  expect(readFileSync(join(directory, 'pin'), 'utf8')).toBe('chosen-1');
  const last = await start(directory, '');
  expect(await last.request('POST', `${actions}/decrypt`, { ciphertext })).toMatchObject({ plaintext: 'aGVsbG8=' });
  await last.stop();
});

test('a first attended start that is cut at any moment is finished by the next one', async () => {
  const directory = path('cut');
  for (const afterMs of [500, 700, 900, 1_100, 1_300, 1_600, 2_000, 2_500]) {
    await start(directory, `${attended}, ${chosen}`, 'chosen', afterMs).then(
      (daemon) => daemon.kill(),
      () => undefined,
    );
  }
  // Once the PIN is taken, the medium that it was on may be gone. On a busy machine every start may have been cut before it made the token.
  const isTaken = existsSync(join(directory, 'softhsm')) && !existsSync(join(directory, 'pin'));
  const last = await start(directory, isTaken ? attended : `${attended}, ${chosen}`, 'chosen');
  expect(filesOf(directory)).toEqual([]);
  await opens(last, 'chosen');
  await last.stop();
});

test('it is refused beside configured tokens, and when the token does not accept it', async () => {
  const own = 'tokens: [{name: own, module: /usr/lib/none.so, label: a, pin: {environment: CHOSEN}}]';
  await expect(start(path('tokens'), `${own}, ${chosen}`, '1234')).rejects.toThrow('must not have both tokens and embedded-pin');
  await expect(start(path('short'), `${attended}, ${chosen}`, '1')).rejects.toThrow('does not accept the new PIN');
  await expect(start(path('none'), `${attended}, ${chosen}`)).rejects.toThrow('environment variable CHOSEN is empty');
});
