// A fresh directory for one test file, gone when its tests are done.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { endChildren } from './children.ts';

/** Answers paths below one temporary directory. Call it at the top of a test file. */
export function temporaryDirectory(): (...names: string[]) => string {
  const directory = mkdtempSync(join(tmpdir(), 'keystored-test-'));
  afterAll(() => removeWithWriters(directory));
  return (...names) => join(directory, ...names);
}

/** What the tests started and did not end writes there until it is killed, and for a moment after. */
export function removeWithWriters(directory: string): void {
  endChildren();
  rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
