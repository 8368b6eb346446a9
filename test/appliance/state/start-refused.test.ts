// What a start that ends says: which file, what is wrong with it and what helps; never another remedy than the one for its cause.
import { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { loadConfiguration } from '../../../appliance/configuration.ts';
import { openRuntime } from '../../../appliance/runtime.ts';
import { requireWhole } from '../../../appliance/data-directory/traces.ts';
import { parseFile, refusalFor, StartRefused } from '../../../appliance/start-refused.ts';
import { startPlugins } from '../../../core/plugin/lifecycle.ts';
import { definePlugin } from '../../../core/plugin/plugin.ts';
import { StartError } from '../../../core/plugin/registry.ts';
import { systemClock } from '../../../core/base/time.ts';
import { HsmError } from '../../../hsm/api.ts';
import { silentLog } from '../../harness/log.ts';
import { makeSoftToken, testHsmConfig } from '../../harness/token/softhsm.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { openTrail } from '../../core/audit/trail.ts';

const path = temporaryDirectory();
const parse = (text: string): unknown => JSON.parse(text);
const thrownBy = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error;
  }
};

test('a file that is not what was written is damaged; one that the disk does not give is not', () => {
  writeFileSync(path('damaged'), '{"id":');
  const damaged = thrownBy(() => parseFile(path('damaged'), parse, 'put it back'));
  expect(damaged).toBeInstanceOf(StartRefused);
  expect((damaged as Error).message).toBe(`${path('damaged')} is damaged (SyntaxError): put it back`);
  mkdirSync(path('unreadable'));
  const unreadable = thrownBy(() => parseFile(path('unreadable'), parse, 'put it back'));
  expect(unreadable).not.toBeInstanceOf(StartRefused);
  expect(refusalFor(unreadable, path())?.message).toMatch(
    /^the disk of .*ENOTFILE.*\/unreadable'\): move away what is in the place of this file/,
  );
});

test('an error of the token is told with what helps against its kind', () => {
  const messageOf = (error: HsmError): string | undefined => refusalFor(error, path())?.message;
  expect(messageOf(new HsmError('pin-refused', 'the PIN is wrong'))).toMatch(/^the PIN is wrong: correct the PIN/);
  expect(messageOf(new HsmError('unavailable', 'C_Login returned CKR_DEVICE_ERROR', { rv: 0x30 }))).toMatch(/: see that the HSM works/);
  expect(messageOf(new HsmError('refused', 'it says itself what helps'))).toBe('it says itself what helps');
});

test('a store that may not be changed because of its token is told as the token, whichever plugin changes it first', async () => {
  const token = await makeSoftToken(path());
  mkdirSync(path('data'));
  requireWhole(path('data'), { token: false, store: true });
  const runtime = await openRuntime(loadConfiguration(['--data', path('data')]), testHsmConfig(token), silentLog);
  onTestFinished(() => runtime.close());
  const migrations = [{ version: 1, level: 1, describe: 'nothing', run: () => undefined }];
  const plugin = definePlugin({ name: 'first', contract: 1, config: z.undefined(), migrations, provision: () => ({}) });
  const { store, hsm } = runtime;
  const parts = { store, hsm, clock: systemClock, log: silentLog, audit: await openTrail(path('audit')), configurationOf: () => undefined };
  const refusals = async (): Promise<readonly (string | undefined)[]> => {
    const writing = store.write(() => undefined).catch((error: unknown) => error);
    const starting = startPlugins([plugin], parts).catch((error: unknown) => error);
    return (await Promise.all([writing, starting])).map((error) => refusalFor(error, path('data'))?.message);
  };
  const tokens = path('main-tokens');
  renameSync(tokens, path('away'));
  const gone = "the token's own keys are missing: put its files or objects back";
  expect(await refusals()).toEqual([gone, gone]);
  symlinkSync(tokens, tokens);
  const away = 'the token cannot be reached: see that the HSM works, its module reaches it and its files can be read';
  expect(await refusals()).toEqual([away, away]);
  unlinkSync(tokens);
  renameSync(path('away'), tokens);
  await startPlugins([plugin], parts);
});

test('what a plugin finds wrong by itself stays the message of that plugin', () => {
  expect(refusalFor(new StartError('validate', 'first', 'wants this'), path())).toBeUndefined();
  expect(
    refusalFor(new StartError('provision', 'first', 'x is not a function', new TypeError('x is not a function')), path()),
  ).toBeUndefined();
});

test('a fault of this software has no refusal', () => {
  expect(refusalFor(new TypeError('x is not a function'), path())).toBeUndefined();
});

test('nothing is founded where only the place of the shipper is left of an appliance', () => {
  mkdirSync(path('left/shipping'), { recursive: true });
  writeFileSync(path('left/shipping/siem.json'), '{}');
  const refusal = thrownBy(() => requireWhole(path('left'), { token: true, store: true }));
  expect(refusal).toBeInstanceOf(StartRefused);
  expect((refusal as Error).message).toContain(`${path('left/shipping')} is of an appliance that has it: nothing was made in its place`);
});
