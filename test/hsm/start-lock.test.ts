// The lock of the starts on one token, on a disk that has no room.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { withPassingStartLock, withStartLock } from '../../hsm/files/start-lock.ts';
import { mayMount, mountSmallDisk } from '../harness/small-disk.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
let unmount: (() => void) | undefined;
afterEach(() => {
  unmount?.();
  unmount = undefined;
});
if (!mayMount) console.warn('SKIPPED: a start lock on a full disk, because mounting needs root');

test.skipIf(!mayMount)('is held on a disk without a free block', () => {
  unmount = mountSmallDisk(path('disk/tokens'), 64);
  writeFileSync(path('softhsm.conf'), `directories.tokendir = ${path('disk/tokens')}\n`);
  expect(() => writeFileSync(path('disk/tokens/filler'), Buffer.alloc(1 << 20))).toThrow('ENOSPC');
  const token = {
    module: '/usr/lib/softhsm/libsofthsm2.so',
    name: 'main',
    label: 'main',
    environment: { SOFTHSM2_CONF: path('softhsm.conf') },
  };
  expect(withStartLock(token, () => 'held')).toBe('held');
  expect(existsSync(path('disk/tokens/start.lock'))).toBe(true);
});

test('is held by one at a time, also where each removes its file', async () => {
  mkdirSync(path('passing/tokens'), { recursive: true });
  writeFileSync(path('passing/softhsm.conf'), `directories.tokendir = ${path('passing/tokens')}\n`);
  const token = {
    ...{ module: '/usr/lib/softhsm/libsofthsm2.so', name: 'main', label: 'main' },
    environment: { SOFTHSM2_CONF: path('passing/softhsm.conf') },
  };
  const program = `
    import { rmSync, writeFileSync } from 'node:fs';
    import { withPassingStartLock, withStartLock } from ${JSON.stringify(new URL('../../hsm/files/start-lock.ts', import.meta.url).href)};
    for (let round = 0; round < 60; round++)
      (round % 3 === 0 ? withStartLock : withPassingStartLock)(${JSON.stringify(token)}, () => {
        writeFileSync(${JSON.stringify(path('passing/inside'))}, '', { flag: 'wx' });
        rmSync(${JSON.stringify(path('passing/inside'))});
      });`;
  const run = promisify(execFile);
  await Promise.all(Array.from({ length: 4 }, () => run(process.execPath, ['--input-type=module', '--eval', program])));
  withPassingStartLock(token, () => undefined);
  expect(readdirSync(path('passing/tokens'))).toEqual([]);
}, 60_000);
