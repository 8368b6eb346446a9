// A start that is to end by itself: what it said, and what a directory is before and after it.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { endWithTests } from './children.ts';
import { freePort } from './daemon.ts';
import { serviceUnderTest } from './service-program.ts';

const root = resolve(import.meta.dirname, '../..');

export type Refusal = { readonly status: number | null; readonly last: string; readonly stderr: string };

export type RefusedStart = {
  readonly args?: readonly string[];
  readonly uid?: number;
  readonly program?: string;
  readonly within?: readonly string[];
};

/** Waits for the end. One that becomes ready is stopped; its status is 0 then. */
export async function startAndEnd(directory: string, { args = [], uid, program, within = [] }: RefusedStart = {}): Promise<Refusal> {
  const [port, estPort] = [await freePort(), await freePort()];
  const [command, ...words] = [...within, process.execPath] as const;
  const child = spawn(
    command,
    [
      ...words,
      program ?? (await serviceUnderTest()),
      ...['--data', directory, '--workers', '1', '--listen', `127.0.0.1:${port}`, '--est-listen', `127.0.0.1:${estPort}`, ...args],
    ],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...(uid === undefined ? {} : { uid, gid: uid }), detached: true },
  );
  endWithTests(child);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdout.on('data', (chunk: Buffer) => {
    if (chunk.toString().includes('ready https://')) process.kill(-(child.pid as number), 'SIGTERM');
  });
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, stderr, last: stderr.trim().split('\n').at(-1) ?? '' };
}

/** Every name below a directory with what it is: mode and content. Without the names that `isLeftOut` knows. */
export function contentsOf(directory: string, isLeftOut: (name: string) => boolean = () => false): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(directory, path);
    if (isLeftOut(name)) continue;
    const what = entry.isSymbolicLink() ? readlinkSync(path) : entry.isFile() ? digest(readFileSync(path)) : 'other';
    found[name] = `${(lstatSync(path).mode & 0o777).toString(8)} ${what}`;
  }
  return found;
}

function digest(octets: Uint8Array): string {
  return createHash('sha256').update(octets).digest('hex').slice(0, 16);
}
