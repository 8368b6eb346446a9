// Runs the programs that packages are made with.
import { spawnSync } from 'node:child_process';

export type Where = { readonly cwd?: string; readonly environment?: Readonly<Record<string, string>> };

/** Answers the output of the program; throws with the end of its messages if it exits with another code than 0, or does not exist. */
export function run(command: string, args: readonly string[], { cwd, environment }: Where = {}): string {
  const env = { ...process.env, ...environment };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status === 0) return stdout;
  throw new Error(`${[command, ...args].join(' ').slice(-400)}: ${error?.message ?? `${stdout}${stderr}`.slice(-6_000)}`);
}
