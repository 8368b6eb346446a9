// The client libraries of the present sources, in dist/clients, before the first test of a run.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** Vitest's global set-up. Where the API cannot be described, that is said, and only the tests of the clients fail: nothing is there for them. */
export default function clientLibraries(): void {
  spawnSync(process.execPath, [join(root, 'appliance/clients/provide.ts')], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
}
