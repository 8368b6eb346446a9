// What is wrong with a data directory that can be used all the same: rights of others are taken from them, and a disk with hardly any room is said.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { finishRestore } from '../../../appliance/backup/restore.ts';
import { isTrace } from '../../../appliance/data-directory/traces.ts';
import { holdDataDirectory, mendDirectory } from '../../../appliance/data-directory/data-directory.ts';
import { mayMount, mountSmallDisk } from '../../harness/small-disk.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const closing: (() => void)[] = [];
afterAll(() => closing.forEach((close) => close()));
const aboutRights = (directory: string) => mendDirectory(directory).filter((text) => text.startsWith('others could use'));

test('others who may write into the directory or read a secret may not any more, and it is said that they could', () => {
  const data = path('data');
  for (const name of ['store', 'tls']) mkdirSync(join(data, name), { recursive: true, mode: 0o755 });
  for (const name of ['pin', 'store-key.json', 'root-token', 'store/data.mdb']) writeFileSync(join(data, name), 'x', { mode: 0o600 });
  chmodSync(data, 0o755);
  expect(aboutRights(data)).toEqual([]);
  chmodSync(data, 0o777);
  chmodSync(join(data, 'store'), 0o775);
  chmodSync(join(data, 'pin'), 0o640);
  expect(aboutRights(data)).toEqual([
    `others could use ${data} (mode 777), and files in it could be exchanged; they no longer may`,
    `others could use ${data}/store (mode 775), and files in it could be exchanged; they no longer may`,
    `others could use ${data}/pin (mode 640), and the secrets in it may be known to them: rotate what it holds if others were on this machine; they no longer may`,
  ]);
  const modes = ['.', 'store', 'pin', 'tls'].map((name) => statSync(join(data, name)).mode & 0o777);
  expect(modes).toEqual([0o755, 0o755, 0o600, 0o755]);
  expect(aboutRights(data)).toEqual([]);
});

test('what a link leads to keeps its rights, and so does what is below one', () => {
  const data = path('linked');
  const foreign = path('foreign');
  for (const directory of [data, join(foreign, 'store')]) mkdirSync(directory, { recursive: true, mode: 0o755 });
  for (const name of ['program', 'store/data.mdb']) {
    writeFileSync(join(foreign, name), 'x');
    chmodSync(join(foreign, name), 0o755);
  }
  symlinkSync(join(foreign, 'program'), join(data, 'root-token'));
  symlinkSync(join(foreign, 'store'), join(data, 'store'));
  expect(aboutRights(data)).toEqual([expect.stringMatching(/root-token .* it could not be taken from them \(it is a link\): chmod 600 /)]);
  expect(['program', 'store/data.mdb'].map((name) => statSync(join(foreign, name)).mode & 0o777)).toEqual([0o755, 0o755]);
});

test('a directory for the files of everybody is refused, and stays as it is', async () => {
  mkdirSync(path('everybody', 'of-somebody'), { recursive: true });
  chmodSync(path('everybody'), 0o1777);
  await expect(holdDataDirectory(path('everybody'), '--data')).rejects.toThrow(
    /is a directory for the files of everybody .*give one below it/,
  );
  expect(statSync(path('everybody')).mode & 0o7777).toBe(0o1777);
  rmdirSync(path('everybody', 'of-somebody'));
  await holdDataDirectory(path('everybody'), '--data');
});

test.skipIf(!mayMount)('a disk with hardly any room is warned of, and that changes are refused any moment', () => {
  closing.push(mountSmallDisk(path('small'), 4_096));
  expect(mendDirectory(path('small'))).toEqual([expect.stringMatching(/less than 16 MiB left: make room now, or changes .* any moment$/)]);
});

test.skipIf(!mayMount)('a file system without inodes is refused by what it lacks, and one with few is warned of', async () => {
  const mount = (name: string, inodes: number): string => {
    closing.push(mountSmallDisk(path(name), 600 << 10));
    execFileSync('mount', ['-o', `remount,nr_inodes=${inodes}`, path(name)]);
    return path(name);
  };
  await expect(holdDataDirectory(mount('none', 40), '--data')).rejects.toThrow(
    /^the file system of --data \S+ has \d+ inodes left \(df -i\), and a start needs 128: remove files there, or make it with more/,
  );
  const few = mount('few', 200);
  await holdDataDirectory(few, '--data');
  expect(mendDirectory(few)).toEqual([expect.stringMatching(/fewer than 256 inodes left \(df -i\): remove files there/)]);
});

test('what a link in the place of a restore leads to is not emptied', () => {
  const data = path('cut');
  for (const name of ['restoring', 'restored']) {
    mkdirSync(join(data, name), { recursive: true });
    rmdirSync(join(data, name));
    mkdirSync(path(`leads-to-${name}`, 'precious'), { recursive: true });
    symlinkSync(path(`leads-to-${name}`), join(data, name));
    expect(() => finishRestore(data)).toThrow(`${join(data, name)} is a link, and not the directory of a restore: move it away`);
    expect(readdirSync(path(`leads-to-${name}`))).toEqual(['precious']);
    rmSync(join(data, name));
  }
});

test.skipIf(process.getuid?.() !== 0)('a part that nobody may look into is a trace, and no reason to take another directory', () => {
  mkdirSync(path('closed', 'store'), { recursive: true });
  chmodSync(path('closed', 'store'), 0);
  const shown = [path('closed'), dirname(path('closed')), dirname(dirname(path('closed')))];
  for (const directory of shown) chmodSync(directory, 0o755);
  process.seteuid?.(65_534);
  try {
    expect(isTrace(path('closed', 'store'))).toBe(true);
  } finally {
    process.seteuid?.(0);
  }
});
