// Runs the programs that packages are made with.
import { spawnSync } from 'node:child_process';

export type Where = { readonly cwd?: string; readonly environment?: Readonly<Record<string, string>> };

/** Answers what the program printed; throws with the end of what it said when it ends with another code than 0, or is not there. */
export function run(command: string, args: readonly string[], { cwd, environment }: Where = {}): string {
  const env = { ...process.env, ...environment };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status === 0) return stdout;
  throw new Error(`${[command, ...args].join(' ').slice(-400)}: ${error?.message ?? `${stdout}${stderr}`.slice(-6_000)}`);
}
