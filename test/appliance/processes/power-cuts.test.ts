// The disk in memory with which losses of power are simulated: what was synced stays, what was not may be lost, torn and reordered.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Dice } from '../../fuzz/cases.ts';
import { Disk, File } from '../../harness/power/disk.ts';
import { octetsOf, parseCall, pathOf } from '../../harness/power/syscalls.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const tries = 60;

/** A disk with one file of 2,048 times `a`, and what may be left of it after `change`: names, and the content of the file. */
function leftAfter(
  name: string,
  change: (disk: Disk, root: string, file: File) => void,
): readonly (readonly [names: string, content: string])[] {
  const root = path(name);
  mkdirSync(root);
  writeFileSync(`${root}/file`, 'a'.repeat(2_048));
  const disk = new Disk(root);
  change(disk, root, disk.file(`${root}/file`));
  return Array.from({ length: tries }, (_, seed) => {
    const to = path(`${name}-${seed}`);
    disk.survive(new Dice(seed), to);
    const names = readdirSync(to);
    const content = names.map((one) => readFileSync(`${to}/${one}`, 'utf8')).join('|');
    return [names.join(' '), content] as const;
  });
}

const soon = { begin: 1, end: 2 };
const later = { begin: 3, end: 4 };
const b = Buffer.alloc(2_048, 'b');

test('a write that nobody synced is there whole, in some of its sectors, or not at all', () => {
  const left = leftAfter('unsynced', (_disk, _root, file) => file.write(0, b, soon)).map(([, content]) => content);
  expect(left).toContain('a'.repeat(2_048));
  expect(left).toContain('b'.repeat(2_048));
  expect(left.some((content) => content.includes('a') && content.includes('b'))).toBe(true);
  expect(left.every((content) => /^(?:a{512}|b{512}){4}$/.test(content))).toBe(true);
});

test('a write is there when a sync began after its end and has ended', () => {
  const synced = leftAfter('synced', (disk, root, file) => {
    file.write(0, b, soon);
    disk.sync(`${root}/file`, later);
  });
  expect(new Set(synced.map(([, content]) => content))).toEqual(new Set(['b'.repeat(2_048)]));
  const cutOff = leftAfter('sync-cut-off', (disk, root, file) => {
    file.write(0, b, soon);
    disk.sync(`${root}/file`, { begin: 3, end: Number.POSITIVE_INFINITY });
  });
  expect(cutOff.some(([, content]) => content.includes('a'))).toBe(true);
  const early = leftAfter('sync-too-early', (disk, root, file) => {
    file.write(0, b, soon);
    disk.sync(`${root}/file`, { begin: 1.5, end: 4 });
  });
  expect(early.some(([, content]) => content.includes('a'))).toBe(true);
});

test('a synchronous write is there when it has ended, and an earlier one does not overwrite it', () => {
  const left = leftAfter('synchronous', (disk, root, file) => {
    file.write(0, Buffer.alloc(512, 'c'), soon);
    file.write(0, b, later, disk.syncOfWrite(`${root}/file`, later));
  });
  expect(new Set(left.map(([, content]) => content))).toEqual(new Set(['b'.repeat(2_048)]));
});

test('a name is there when its directory was synced; a rename happens whole or not at all', () => {
  const rename = (disk: Disk, root: string): void => {
    const made = new File(0o600);
    disk.name([[`${root}/new`, made]], soon);
    made.write(0, b, soon);
    disk.sync(`${root}/new`, later);
    disk.name([[`${root}/new`, undefined], [`${root}/file`, made]], later); // prettier-ignore
  };
  const unsynced = leftAfter('renamed', rename).map(([names, content]) => `${names} ${content[0]}`);
  expect(new Set(unsynced)).toEqual(new Set(['file a', 'file new a', 'file b']));
  const synced = leftAfter('renamed-synced', (disk, root) => {
    rename(disk, root);
    disk.sync(root, { begin: 5, end: 6 });
  });
  expect(new Set(synced.map(([names, content]) => `${names} ${content[0]}`))).toEqual(new Set(['file b']));
});

test('what a lying sync should have written is lost, but for pages that were written again before a true one', () => {
  const pageOctets = 4_096;
  const left = new Set<string>();
  const changed = (disk: Disk, root: string, file: File): void => {
    file.write(0, Buffer.alloc(2 * pageOctets, 'b'), soon);
    disk.sync(`${root}/file`, later);
    file.write(0, Buffer.from('c'), { begin: 5, end: 6 });
    disk.sync(`${root}/file`, { begin: 7, end: 8 });
  };
  const root = path('lied');
  mkdirSync(root);
  writeFileSync(`${root}/file`, 'a'.repeat(2 * pageOctets));
  const disk = new Disk(root);
  changed(disk, root, disk.file(`${root}/file`));
  for (let seed = 0; seed < tries; seed++) {
    const to = path(`lied-${seed}`);
    disk.survive(new Dice(seed), to, disk.syncs[0]);
    left.add(readFileSync(`${to}/file`, 'utf8').replaceAll(/(.)\1*/g, '$1'));
  }
  expect(left).toContain('cba');
  expect([...left].every((runs) => runs.startsWith('cb'))).toBe(true);
});

test('calls are read from a recording', () => {
  const write = '1795424355.992359855 write(1<\\x2f\\x74>, "\\x68\\x0a", 2) = 2 <0.000028574>';
  const call = parseCall(write, 7);
  expect(call).toMatchObject({ thread: 7, name: 'write', result: 2 });
  expect(pathOf(call?.args[0])).toBe('/t');
  expect(octetsOf(call?.args[1] ?? '').toString()).toBe('h\n');
  expect((call?.end ?? 0) - (call?.begin ?? 0)).toBeCloseTo(0.000028574, 6);
  expect(parseCall('1795424355.99 unlink("\\x2f\\x74") = -1 ENOENT (No such file or directory) <0.000028574>', 7)).toBeUndefined();
  expect(parseCall('1795424355.99 fdatasync(3<\\x2f\\x74> <unfinished ...>) = ?', 7)).toMatchObject({
    args: ['3<\\x2f\\x74>'],
    result: undefined,
  });
  expect(() => octetsOf('"\\x68"...')).toThrow('cut an argument short');
});
