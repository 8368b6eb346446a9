// The lock of the starts on one token, on a disk that has no room.
import { existsSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { withStartLock } from '../../hsm/files/start-lock.ts';
import { mayMount, mountSmallDisk } from '../harness/small-disk.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
let unmount: (() => void) | undefined;
afterEach(() => unmount?.());
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
