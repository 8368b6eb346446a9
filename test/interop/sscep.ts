// sscep, which no registry has: built from the sources of its release 0.10.0, in seconds.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const origin = 'https://github.com/certnanny/sscep';
/** Pins every file: git verifies what it fetches against it. */
const commit = 'b3f9798d56d0f6474b491204ff426d80fd4010a7';
const cache = resolve(import.meta.dirname, '../../node_modules/.cache/sscep');

/** Returns the path of the program, built at the first use; undefined, with a line on stderr, where its sources cannot be had or built. */
export function buildSscep(): string | undefined {
  const directory = join(cache, commit);
  const program = join(directory, 'build', 'sscep');
  if (existsSync(program)) return program;
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const run = (command: string, ...args: readonly string[]): string =>
    execFileSync(command, args, {
      cwd: directory,
      stdio: 'pipe',
      timeout: 120_000,
      env: { ...process.env, GIT_TERMINAL_PROMPT: '0' },
    }).toString();
  try {
    run('git', 'init', '--quiet');
    run('git', 'fetch', '--quiet', '--depth', '1', origin, commit);
    run('git', 'checkout', '--quiet', '--detach', commit);
    run('cmake', '-S', '.', '-B', 'build', '-DCMAKE_BUILD_TYPE=Release', '-DCMAKE_POLICY_VERSION_MINIMUM=3.5');
    run('cmake', '--build', 'build');
    return program;
  } catch (error) {
    process.stderr.write(`sscep is not tried: ${(error as Error).message}\n`);
    return undefined;
  }
}
