// One directory for all that a run writes, gone when the run ends, whatever a test left behind.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onceVariable } from './once.ts';

/** Vitest's global set-up: the processes of the tests inherit the environment. Short, because sockets below it have short names. */
export default function scratch(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'ks-'));
  process.env['TMPDIR'] = directory;
  process.env[onceVariable] = join(directory, 'once');
  mkdirSync(join(directory, 'once'));
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
