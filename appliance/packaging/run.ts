// Runs the programs that packages are made with.
import { spawnSync } from 'node:child_process';

export type Where = { readonly cwd?: string; readonly environment?: Readonly<Record<string, string>> };

/** Answers what the program printed; throws with all that it said when it ends with another code than 0, or is not there. */
export function run(command: string, args: readonly string[], { cwd, environment }: Where = {}): string {
  const env = { ...process.env, ...environment };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `${stdout}${stderr}`}`);
  return stdout;
}
