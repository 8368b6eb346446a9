// A fresh directory for one test file, gone when its tests are done.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Answers paths below one temporary directory. Call it at the top of a test file. */
export function temporaryDirectory(): (...names: string[]) => string {
  const directory = mkdtempSync(join(tmpdir(), 'keystored-test-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return (...names) => join(directory, ...names);
}
