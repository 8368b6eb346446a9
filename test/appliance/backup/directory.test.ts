// Writing into a directory: whole or not at all, whatever the directory does.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { writeToDirectory } from '../../../appliance/backup/targets/directory.ts';
import { mayMount, mountSmallDisk } from '../../harness/small-disk.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const prefix = 'keystored-a-';
const nameOf = (day: number): string => `${prefix}202601${String(day).padStart(2, '0')}T023000Z.tar.age`;

function write(
  directory: string,
  content: Buffer,
  options: { day?: number; keep?: number; bytes?: number; pause?: () => Promise<void>; signal?: AbortSignal; limitMs?: number } = {},
): Promise<void> {
  const { day = 1, keep = 0, bytes = content.length, pause, signal = new AbortController().signal, limitMs } = options;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < content.length; at += 65_536) {
      if (at > 0) await pause?.();
      yield content.subarray(at, at + 65_536);
    }
  }
  const target = { kind: 'directory', directory, keep, keepMonthly: 0 } as const;
  return writeToDirectory(target, { name: nameOf(day), prefix, bytes, pieces: pieces() }, signal, limitMs);
}

test('the file is whole, for its owner alone, and older ones go', async () => {
  mkdirSync(path('good'));
  writeFileSync(path('good', `.${nameOf(9)}.partial`), 'of a writer that was killed');
  writeFileSync(path('good', 'notes.txt'), 'of a person');
  const content = randomBytes(300_000);
  for (const day of [1, 2, 3]) await write(path('good'), content, { day, keep: 2 });
  expect(readdirSync(path('good')).toSorted()).toEqual([nameOf(2), nameOf(3), 'notes.txt']);
  expect(readFileSync(path('good', nameOf(3))).equals(content)).toBe(true);
  expect(statSync(path('good', nameOf(3))).mode & 0o777).toBe(0o600);
  await expect(write(path('good'), content, { day: 3 })).rejects.toThrow(/exists already/);
});

test('what is missing, no directory, or fails while it is read leaves nothing behind', async () => {
  mkdirSync(path('bad'));
  await expect(write(path('absent'), randomBytes(10))).rejects.toThrow(/does not exist: is the share mounted/);
  writeFileSync(path('file'), '');
  await expect(write(path('file'), randomBytes(10))).rejects.toThrow(/is not a directory/);
  await expect(write(path('bad'), randomBytes(10), { bytes: 11 })).rejects.toThrow(/10 of 11 octets arrived/);
  const failing = (): Promise<void> => Promise.reject(new Error('the copy cannot be read'));
  await expect(write(path('bad'), randomBytes(100_000), { pause: failing })).rejects.toThrow(/the copy cannot be read/);
  const stop = new AbortController();
  const stopping = write(path('bad'), randomBytes(200_000), { signal: stop.signal, pause: async () => stop.abort() });
  await expect(stopping).rejects.toThrow(/is being stopped/);
  await expect.poll(() => readdirSync(path('bad')).filter((name) => !name.startsWith('.'))).toEqual([]);
  // The writer that was killed could not tidy; the next one does.
  await write(path('bad'), randomBytes(10), { day: 2 });
  expect(readdirSync(path('bad'))).toEqual([nameOf(2)]);
});

test('a writer that hangs is given up in time, and as long as it does there is no second one', async () => {
  mkdirSync(path('hangs'));
  const content = randomBytes(2_000_000);
  const hang = async (): Promise<void> => {
    const [writer] = execFileSync('pgrep', ['-P', String(process.pid), '-f', 'directory-writer'], { encoding: 'utf8' }).split('\n');
    process.kill(Number(writer), 'SIGSTOP');
    await setTimeout(10);
  };
  let isHanging = false;
  const once = async (): Promise<void> => {
    if (!isHanging) await hang();
    isHanging = true;
  };
  await expect(write(path('hangs'), content, { pause: once, limitMs: 700 })).rejects.toThrow(/does not answer for 0.7 seconds/);
  await expect.poll(() => write(path('hangs'), content, { day: 2 }).then(() => 'written'), { timeout: 20_000 }).toBe('written');
  expect(readdirSync(path('hangs'))).toEqual([nameOf(2)]);
});

test.runIf(process.getuid?.() !== 0)('a directory without the right to write says so', async () => {
  mkdirSync(path('closed'));
  chmodSync(path('closed'), 0o500);
  await expect(write(path('closed'), randomBytes(10))).rejects.toThrow(/cannot be written: give the user of the service the right to/);
});

test.runIf(mayMount)('a full disk is told, and nothing of the file stays on it', async () => {
  const unmount = mountSmallDisk(path('full'), 256);
  try {
    await expect(write(path('full'), randomBytes(1_000_000))).rejects.toThrow(/is full/);
    expect(readdirSync(path('full'))).toEqual([]);
  } finally {
    unmount();
  }
});
