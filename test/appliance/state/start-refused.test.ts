// What a start that ends says: which file, what is wrong with it and what helps; never another remedy than the one for its cause.
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseFile, refusalFor, StartRefused } from '../../../appliance/state/start-refused.ts';
import { HsmError } from '../../../hsm/api.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

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
  expect(refusalFor(unreadable, path())?.message).toMatch(/^the disk of .*EISDIR.*: examine the disk/);
});

test('an error of the token is told with what helps against its kind', () => {
  const messageOf = (error: HsmError): string | undefined => refusalFor(error, path())?.message;
  expect(messageOf(new HsmError('pin-refused', 'the PIN is wrong'))).toMatch(/^the PIN is wrong: correct the PIN/);
  expect(messageOf(new HsmError('unavailable', 'C_Login returned CKR_DEVICE_ERROR', { rv: 0x30 }))).toMatch(/: see that the HSM works/);
  expect(messageOf(new HsmError('refused', 'it says itself what helps'))).toBe('it says itself what helps');
});

test('a fault of this software has no refusal', () => {
  expect(refusalFor(new TypeError('x is not a function'), path())).toBeUndefined();
});
