// The way of a serving process to its follower, which may end at any moment.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();

test('a follower that ends in the middle of a message holds up nothing: its successor answers', () => {
  // A process that asks again and again in one turn of its event loop does not even see a time limit of its own.
  const { stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'ending-follower.ts'), path('socket')], {
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  expect({ stdout, stderr }).toEqual({ stdout: 'answered\n', stderr: '' });
});
