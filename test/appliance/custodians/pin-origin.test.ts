// Where the PIN of a token comes from, as the configuration and the files of the machine say it; no PIN is read for that.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pinOrigin } from '../../../appliance/custodians/pin-origin.ts';
import { noticesOfMachine } from '../../../appliance/notices/notices.ts';
import type { PinSource } from '../../../hsm/api.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const inData = (name: string): string => join(path(), name);

function originOf(attended: boolean, ...pins: readonly PinSource[]) {
  const tokens = pins.map((pin, index) => ({ name: `token-${index}`, module: '/m.so', label: 'a', pin }));
  return pinOrigin({ data: path(), attended, hsm: { tokens, defaultCustody: 'wrapped', cacheKeys: 1, jobTimeoutSeconds: 1 } as never });
}

const noticesOf = async (origin: ReturnType<typeof originOf>): Promise<readonly string[]> => {
  const parts: Parameters<typeof noticesOfMachine>[0] = { store: {} as never, health: async () => [], pinOrigin: () => origin };
  return (await noticesOfMachine(parts)).map(({ name }) => name);
};

test('the embedded token opens by itself while its file is there, and nobody needs to act on that', async () => {
  writeFileSync(inData('pin'), 'secret-of-the-token');
  writeFileSync(inData('so-pin'), 'secret-of-the-officer');
  const origin = originOf(false);
  expect(origin).toEqual({
    opensByItself: true,
    pins: [{ token: 'default', source: 'own-file', place: inData('pin') }],
    pinFiles: [inData('pin'), inData('so-pin')],
  });
  expect(await noticesOf(origin)).toEqual([]);
  rmSync(inData('pin'));
  expect(originOf(false)).toMatchObject({ opensByItself: false, pinFiles: [inData('so-pin')] });
});

test('files beside an attended start need a person, until they are gone', async () => {
  writeFileSync(inData('pin'), 'secret-of-the-token');
  expect(originOf(true)).toMatchObject({ opensByItself: false, pins: [{ token: 'default', source: 'person' }] });
  expect(await noticesOf(originOf(true))).toEqual(['pin-file']);
  rmSync(inData('pin'));
  expect(await noticesOf(originOf(true))).toEqual(['pin-file']);
  rmSync(inData('so-pin'));
  expect(await noticesOf(originOf(true))).toEqual([]);
});

test('each configured token says its own source, and no PIN', () => {
  writeFileSync(inData('of-hsm'), 'secret-of-the-hsm');
  const origin = originOf(false, { file: inData('of-hsm') }, { environment: 'HSM_PIN' }, { credential: 'hsm-pin' });
  expect(origin).toEqual({
    opensByItself: true,
    pins: [
      { token: 'token-0', source: 'file', place: inData('of-hsm') },
      { token: 'token-1', source: 'environment', place: 'HSM_PIN' },
      { token: 'token-2', source: 'credential', place: 'hsm-pin' },
    ],
    pinFiles: [inData('of-hsm')],
  });
});

test('custodians are told apart from one person with the PIN', () => {
  writeFileSync(inData('custodians.json'), '{}');
  expect(originOf(true).pins).toEqual([{ token: 'default', source: 'custodians' }]);
});
