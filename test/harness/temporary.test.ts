// The directory of a test file goes with whatever still writes into it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endWithTests } from './children.ts';
import { removeWithWriters } from './temporary.ts';

/** Makes files without an end, in as many directories as there are, and says when there are some. */
const writer = `
const { mkdirSync, writeFileSync } = require('node:fs');
for (let n = 0; ; n++) {
  try {
    mkdirSync(process.argv[1] + '/' + (n % 8), { recursive: true });
    writeFileSync(process.argv[1] + '/' + (n % 8) + '/' + n, '');
  } catch {}
  if (n === 2_000) process.stdout.write('.');
}`;

test('a directory is removed although children that nobody ended write into it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'keystored-test-'));
  const children = [1, 2].map(() =>
    spawn(process.execPath, ['-e', writer, directory], { stdio: ['ignore', 'pipe', 'ignore'], detached: true }),
  );
  for (const child of children) endWithTests(child);
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const ends = Promise.all(children.map((child) => once(child, 'exit')));
  removeWithWriters(directory);
  await ends;
  expect(existsSync(directory)).toBe(false);
});
