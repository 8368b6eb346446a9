// The openssl command line, as second opinion on what was issued.
import { spawn, spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { writeFileSync } from 'node:fs';

/** Runs `openssl …`; answers both outputs together and the exit code. */
export function openssl(...args: readonly string[]): { readonly code: number; readonly output: string } {
  const { status, stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  return { code: status ?? -1, output: `${stdout}${stderr}` };
}

/** The same without blocking: for clients of a server in this very process. */
export async function opensslClient(...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn('openssl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number>((done) => child.once('exit', (code) => done(code ?? -1)));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, output: `${stdout}${stderr}` };
}

/** Writes a file and answers its path. */
export function file(path: string, contents: string | Buffer): string {
  writeFileSync(path, contents);
  return path;
}
