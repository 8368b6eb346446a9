// The etcd that appliances of a cluster run: built from its module with a pinned Go, once for each state of its sources.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const here = import.meta.dirname;
const sources = ['go.mod', 'go.sum', 'main.go'];

/** The Go that builds it: any Go from 1.21 on fetches that one, with the sum that Go's own log of sums has of it. */
const toolchain = /^toolchain (go[\d.]+)$/m.exec(readFileSync(join(here, 'go.mod'), 'utf8'))?.[1] ?? '';

/** The same octets on every machine: no paths, no state of a repository, no C. */
const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags=-s -w -buildid='];

/**
 * Path of the program, which is kept below the home of the user; the first build takes minutes. Throws without Go, and with the messages of
 * Go.
 */
export function etcdProgram(): string {
  const digest = createHash('sha256').update(flags.join(' '));
  for (const name of sources) digest.update(readFileSync(join(here, name)));
  const directory = join(homedir(), '.cache', 'keystored-etcd', digest.digest('hex').slice(0, 16));
  const program = join(directory, 'etcd');
  if (existsSync(program)) return program;
  console.error('building etcd (minutes) …');
  mkdirSync(directory, { recursive: true });
  const unfinished = `${program}.${process.pid}`;
  runGo('build', ...flags, '-o', unfinished, '.');
  renameSync(unfinished, program);
  return program;
}

/** Runs a command of the pinned Go; returns its output. */
export function runGo(...args: readonly string[]): string {
  const env = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: toolchain, GOFLAGS: '-modcacherw', GOAMD64: 'v1', GOARM64: 'v8.0' };
  const { status, stdout, stderr, error } = spawnSync('go', args, { cwd: here, env, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status === 0) return stdout;
  const reason = error === undefined ? stderr : `${error.message}: building etcd needs Go 1.21 or later, which fetches ${toolchain}`;
  throw new Error(`go ${args[0]} in ${here}: ${reason}`);
}
