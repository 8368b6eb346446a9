// The member of etcd as a child of the supervisor: started again when it ends, its lines in the log of the appliance.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Log } from '../../../core/base/context.ts';
import { versionProblem } from '../../../core/etcd/version.ts';
import { logLines } from './etcd-lines.ts';
import { StartRefused } from '../../start-refused.ts';

const run = promisify(execFile);
const versionMs = 10_000;
const [firstDelayMs, longestDelayMs, calmMs] = [200, 10_000, 30_000];
/** It hands leadership over and closes its files. */
const stopMs = 10_000;

/** Reason for which the program cannot be used, in one sentence; undefined if it can. */
export async function programProblem(program: string): Promise<string | undefined> {
  const fix = 'cluster/member/program names etcd 3.6.14 or later';
  try {
    const { stdout } = await run(program, ['--version'], { timeout: versionMs, env: environment() });
    const version = /^etcd Version: (\S+)$/m.exec(stdout)?.[1];
    return version === undefined ? `${program} does not say its version as etcd does: ${fix}` : versionProblem(version);
  } catch (error) {
    return `${program} cannot be run (${(error as NodeJS.ErrnoException).code ?? 'it failed'}): ${fix}`;
  }
}

export type EtcdProcess = {
  readonly pid: number | undefined;
  /** true if the others have removed it permanently; it is not started again */
  readonly isRemoved: boolean;
  /** Ends it and starts it again. */
  restart(): Promise<void>;
  /** Stops it. Call it when no process of this appliance uses it any longer. */
  stop(): Promise<void>;
};

/** `flags` are asked for at each start. Throws StartRefused for a program that is not fit. */
export async function keepEtcd(program: string, flags: () => readonly string[], processIdFile: string, log: Log): Promise<EtcdProcess> {
  const problem = await programProblem(program);
  if (problem !== undefined) throw new StartRefused(`cluster: ${problem}`);
  await endOrphan(processIdFile, program);
  const stopping = new AbortController();
  let [isRemoved, delayMs] = [false, firstDelayMs];
  let child: ChildProcess | undefined;

  const take = logLines(log);

  const start = (): void => {
    const begunMs = performance.now();
    const started = spawn(program, flags(), { stdio: ['ignore', 'ignore', 'pipe'], env: environment() });
    child = started;
    if (started.pid !== undefined) writeFileSync(processIdFile, String(started.pid), { mode: 0o600 });
    createInterface({ input: started.stderr }).on('line', (line) => {
      if (!stopping.signal.aborted) take(line);
    });
    const ended = (how: string): void => {
      if (child !== started) return;
      child = undefined;
      if (stopping.signal.aborted) return;
      if (how === 'exit code 0') {
        isRemoved = true;
        return log.error('etcd says that this member was removed from its cluster: start this appliance with an empty data directory');
      }
      delayMs = performance.now() - begunMs > calmMs ? firstDelayMs : Math.min(2 * delayMs, longestDelayMs);
      log.error('etcd has ended and is started again', { how, afterMilliseconds: delayMs });
      setTimeout(delayMs, undefined, { signal: stopping.signal }).then(start, () => undefined);
    };
    started.once('error', (error) => ended(error.message));
    started.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`));
  };
  const end = async (): Promise<void> => {
    const last = child;
    if (last === undefined || last.exitCode !== null || last.signalCode !== null) return;
    // An exit on request is not a failure.
    child = undefined;
    const gone = once(last, 'exit');
    last.kill('SIGTERM');
    await Promise.race([gone, setTimeout(stopMs, undefined, { ref: false }).then(() => last.kill('SIGKILL'))]);
    await gone;
  };
  start();
  return {
    get pid() {
      return child?.pid;
    },
    get isRemoved() {
      return isRemoved;
    },
    async restart() {
      await end();
      if (!stopping.signal.aborted && !isRemoved && child === undefined) start();
    },
    async stop() {
      stopping.abort();
      await end();
      rmSync(processIdFile, { force: true });
    },
  };
}

/** One that a killed supervisor has left behind has our ports and our data. */
async function endOrphan(processIdFile: string, program: string): Promise<void> {
  let pid: number;
  try {
    pid = Number(readFileSync(processIdFile, 'utf8'));
  } catch {
    return;
  }
  const isOurs = (): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(`${program}\0--name=`);
    } catch {
      return false;
    }
  };
  for (const deadlineMs = performance.now() + stopMs; isOurs(); await setTimeout(50)) {
    try {
      process.kill(pid, performance.now() > deadlineMs ? 'SIGKILL' : 'SIGTERM');
    } catch {
      return;
    }
  }
}

/** Without the variables that etcd would take for flags. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => name === 'PATH' || name === 'TMPDIR'));
}
