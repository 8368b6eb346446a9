// What is wrong with a data directory that can be used all the same: rights of others and a disk with hardly any room, each with what helps.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { examineDirectory } from '../../../appliance/data-directory/data-directory.ts';
import { mayMount, mountSmallDisk } from '../../harness/small-disk.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const closing: (() => void)[] = [];
afterAll(() => closing.forEach((close) => close()));
const aboutRights = (directory: string) => examineDirectory(directory).filter((text) => text.startsWith('others may use'));

test('others who may write into the directory or read a secret are warned of, with the command that mends it', () => {
  const data = path('data');
  for (const name of ['store', 'tls']) mkdirSync(join(data, name), { recursive: true, mode: 0o755 });
  for (const name of ['pin', 'store-key.json', 'root-token', 'store/data.mdb']) writeFileSync(join(data, name), 'x', { mode: 0o600 });
  chmodSync(data, 0o755);
  expect(aboutRights(data)).toEqual([]);
  chmodSync(data, 0o777);
  chmodSync(join(data, 'store'), 0o775);
  chmodSync(join(data, 'pin'), 0o640);
  expect(aboutRights(data)).toEqual([
    `others may use ${data} (mode 777), and can exchange files in it: chmod 700 ${data}`,
    `others may use ${data}/store (mode 775), and can exchange files in it: chmod 700 ${data}/store`,
    `others may use ${data}/pin (mode 640), and the secrets in it are theirs, too: chmod 600 ${data}/pin`,
  ]);
});

test.skipIf(!mayMount)('a disk with hardly any room is warned of, and that changes are refused any moment', () => {
  closing.push(mountSmallDisk(path('small'), 4_096));
  expect(examineDirectory(path('small'))).toEqual([
    expect.stringMatching(/less than 16 MiB left: make room now, or changes .* any moment$/),
  ]);
});
