// A PIN change is atomic over token and file for every start, whenever a crash comes; a wrong PIN is tried once.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Secret, type HsmError, type PinSource, type TokenConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { encodeWithPins } from '../../hsm/protocol/pins.ts';
import type { HsmEvent } from '../../hsm/client/options.ts';
import { changePin } from '../../hsm/setup/setup.ts';
import { makeKey } from '../harness/keys.ts';
import { makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const message = Buffer.from('message');
let number = 0;
let directory: string;
/** with PIN files that the appliance may change */
let token: TokenConfig;

beforeEach(async () => {
  directory = path(`token-${++number}`);
  const made = await makeSoftToken(directory);
  token = { ...made, pin: { file: join(directory, 'main-pin'), next: join(directory, 'main-pin.new') } };
});

const file = (name = 'main-pin'): string => readFileSync(join(directory, name), 'utf8');
const nextIsThere = (): boolean => existsSync(join(directory, 'main-pin.new'));
const soPin = (): PinSource => ({ file: join(directory, 'main-so-pin'), next: join(directory, 'main-so-pin.new') });

/** Whether a fresh process logs in with the PIN of this source. */
async function opens(pin: PinSource = token.pin): Promise<string> {
  try {
    const hsm = await openHsm(testHsmConfig({ ...token, pin }));
    await hsm.selfTest();
    await hsm.close();
    return 'opens';
  } catch (error) {
    return (error as HsmError).kind;
  }
}

describe('the user PIN', () => {
  test('is changed in token and file; a process that is logged in stays so, a new one uses the new PIN', async () => {
    const before = file();
    const events: HsmEvent[] = [];
    const hsm = await openHsm(testHsmConfig(token), { onEvent: (event) => events.push(event) });
    const { key } = await makeKey(hsm, 'aes-256', 'key');
    const sealed = await hsm.encrypt(key, message);
    await changePin({ ...token, user: 'user', newPin: { given: new Secret('another-pin') } });
    expect([file(), nextIsThere()]).toEqual(['another-pin', false]);
    expect(Buffer.from(await hsm.decrypt(key, sealed))).toEqual(message);
    const { key: later } = await makeKey(hsm, 'aes-256', 'later', { custody: 'token' });
    process.kill(events[0]?.pid as number, 'SIGKILL');
    await vi.waitFor(() => expect(events.map(({ kind }) => kind)).toEqual(['token-up', 'token-down', 'token-up']), { timeout: 60_000 });
    expect(Buffer.from(await hsm.decrypt(key, sealed))).toEqual(message);
    await hsm.encrypt(later, message);
    await hsm.close();
    expect([await opens(), await opens({ given: new Secret(before) })]).toEqual(['opens', 'pin-refused']);
  });

  test('is not changed without the present PIN, and no file is touched', async () => {
    const before = file();
    const wrong = {
      ...token,
      pin: { given: new Secret('wrong-pin') },
      user: 'user',
      newPin: { given: new Secret('another-pin') },
    } as const;
    await expect(changePin(wrong)).rejects.toMatchObject({ kind: 'pin-refused' });
    expect([file(), nextIsThere(), await opens()]).toEqual([before, false, 'opens']);
  });

  test('stays as it was when the token does not accept the new one', async () => {
    const before = file();
    await expect(changePin({ ...token, user: 'user', newPin: { given: new Secret('1') } })).rejects.toMatchObject({ kind: 'refused' });
    expect([file(), nextIsThere(), await opens()]).toEqual([before, false, 'opens']);
  });

  test('in a file of an administrator: the file stays unchanged', async () => {
    const before = file();
    const foreign = { ...token, pin: { file: join(directory, 'main-pin') } };
    await changePin({ ...foreign, user: 'user', newPin: { given: new Secret('another-pin') } });
    expect([file(), await opens(foreign.pin), await opens({ given: new Secret('another-pin') })]).toEqual([before, 'pin-refused', 'opens']);
  });
});

test.runIf(process.getuid?.() === 0)(
  'by root leaves every file with the user the appliance runs as, who could not read it else',
  async () => {
    const nobody = 65_534;
    const filesOf = (): string[] =>
      ['', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })].map((name) => join(directory, name));
    for (const one of filesOf()) chownSync(one, nobody, nobody);
    await changePin({ ...token, user: 'user', newPin: { given: new Secret('another-pin') } });
    await changePin({ ...token, user: 'so', pin: soPin(), newPin: { given: new Secret('another-so-pin') } });
    expect(filesOf().filter((one) => statSync(one).uid !== nobody)).toEqual([]);
  },
);

describe('an interrupted change', () => {
  test('before the token got the PIN leaves the old one', async () => {
    const before = file();
    writeFileSync(join(directory, 'main-pin.new'), 'never-set-pin');
    expect([await opens(), file(), nextIsThere()]).toEqual(['opens', before, false]);
  });

  test('after the token got the PIN leaves the new one', async () => {
    await changePin({ ...token, pin: { given: new Secret(file()) }, user: 'user', newPin: { given: new Secret('another-pin') } });
    writeFileSync(join(directory, 'main-pin.new'), 'another-pin');
    expect([await opens(), file(), nextIsThere()]).toEqual(['opens', 'another-pin', false]);
  });

  test('is completed by the next change', async () => {
    await changePin({ ...token, pin: { given: new Secret(file()) }, user: 'user', newPin: { given: new Secret('another-pin') } });
    writeFileSync(join(directory, 'main-pin.new'), 'another-pin');
    await changePin({ ...token, user: 'user', newPin: { given: new Secret('third-pin') } });
    expect([await opens(), file(), nextIsThere()]).toEqual(['opens', 'third-pin', false]);
  });

  test('with no valid PIN in either file is refused, and both files stay for a person to examine', async () => {
    const before = file();
    await changePin({ ...token, pin: { given: new Secret(before) }, user: 'user', newPin: { given: new Secret('another-pin') } });
    writeFileSync(join(directory, 'main-pin.new'), 'unknown-pin');
    expect([await opens(), file(), nextIsThere()]).toEqual(['pin-refused', before, true]);
  });

  test('by kill -9 at any moment leaves a token that opens, with the old or the new PIN', async () => {
    const task = new URL('../../hsm/setup/setup-task.ts', import.meta.url).pathname;
    let changed = 0;
    for (let round = 0; round < 8; round++) {
      const before = file();
      const newPin = `pin-of-round-${round}`;
      const child = spawn(process.execPath, [task], { env: { ...process.env, ...token.environment }, stdio: ['pipe', 2, 2, 'pipe'] });
      child.stdin?.end(encodeWithPins({ task: 'changePin', input: { ...token, user: 'user', newPin: { given: new Secret(newPin) } } }));
      const ended = once(child, 'exit');
      // The second file is the first sign of the change; the steps after it take a few milliseconds.
      while (child.exitCode === null && !nextIsThere() && file() === before) await setTimeout(1);
      await setTimeout(Math.random() * 12);
      // The last rounds end late also on a machine that takes longer for these steps.
      if (round >= 6) while (child.exitCode === null && file() === before) await setTimeout(1);
      child.kill('SIGKILL');
      await ended;
      expect(await opens()).toBe('opens');
      expect([before, newPin]).toContain(file());
      expect(nextIsThere()).toBe(false);
      changed += file() === newPin ? 1 : 0;
    }
    expect(changed).toBeGreaterThan(0);
  });
});

test('the SO PIN is changed in the same way, and does not open the token to users', async () => {
  const before = file('main-so-pin');
  const change = { ...token, user: 'so', newPin: { given: new Secret('another-so-pin') } } as const;
  await expect(changePin({ ...change, pin: { given: new Secret('wrong-pin') } })).rejects.toMatchObject({ kind: 'pin-refused' });
  await changePin({ ...change, pin: soPin() });
  expect(file('main-so-pin')).toBe('another-so-pin');
  await expect(changePin({ ...change, pin: { given: new Secret(before) } })).rejects.toMatchObject({ kind: 'pin-refused' });
  await changePin({ ...change, pin: soPin(), newPin: { given: new Secret('third-so-pin') } });
  expect([file('main-so-pin'), await opens()]).toEqual(['third-so-pin', 'opens']);
});
