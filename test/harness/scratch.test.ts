// What a run leaves behind ends with it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { endProcessesIn } from './scratch.ts';
import { temporaryDirectory } from './temporary.ts';

const path = temporaryDirectory();

test('a process that works in the directory of a run is ended, and no other', async () => {
  mkdirSync(path('run'));
  const waits = 'process.stdin.resume();process.stdout.write("waits")';
  const [left, other] = [path('run', 'data'), path('elsewhere')].map((data) =>
    spawn(process.execPath, ['-e', waits, data], { stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, TMPDIR: path('run') } }),
  ) as [ReturnType<typeof spawn>, ReturnType<typeof spawn>];
  await Promise.all([left, other].map((child) => once(child.stdout as Readable, 'data')));
  const ended = once(left, 'exit');
  endProcessesIn(path('run'));
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect(other.exitCode ?? other.signalCode).toBeNull();
  const gone = once(other, 'exit');
  other.stdin?.end();
  expect(await gone).toEqual([0, null]);
});
