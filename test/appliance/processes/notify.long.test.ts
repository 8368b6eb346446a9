// What systemd hears from the daemon: ready and alive only on the word of the tokens, and when it stops.
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openNotify } from '../../../appliance/processes/watch/notify.ts';
import { freePort } from '../../harness/daemon.ts';
import { processesBelow } from '../../harness/processes.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { serviceUnderTest } from '../../harness/service-program.ts';

const path = temporaryDirectory();
const entry = await serviceUnderTest();
const alive = 'READY=1\nWATCHDOG=1\nSTATUS=serving';
let running: ChildProcess | undefined;

afterEach(() => {
  if (running?.exitCode === null && running.pid !== undefined) process.kill(-running.pid, 'SIGKILL');
});

/** Starts the daemon as PID 1 does: descriptor 3 is named `notify`. Here it is a file, so that messages can be read back. */
async function startNotifying(name: string, watchdogMs: number) {
  const directory = path(name);
  mkdirSync(directory);
  const heard = join(directory, 'notify');
  const configuration = join(directory, 'keystored.yaml');
  writeFileSync(configuration, 'hsm:\n  job-timeout: 3s\n');
  const descriptor = openSync(heard, 'a');
  const args = [entry, '--config', configuration, '--data', join(directory, 'data'), '--workers', '1'];
  args.push('--listen', `127.0.0.1:${await freePort()}`, '--est-listen', `127.0.0.1:${await freePort()}`);
  const child = spawn('sh', ['-c', 'LISTEN_PID=$$ exec "$0" "$@"', process.execPath, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', descriptor],
    env: {
      ...process.env,
      NOTIFY_SOCKET: '/run/systemd/notify',
      LISTEN_FDS: '1',
      LISTEN_FDNAMES: 'notify',
      WATCHDOG_USEC: String(watchdogMs * 1000),
    },
    detached: true,
  });
  closeSync(descriptor);
  running = child;
  const messages = (): string => readFileSync(heard, 'utf8');
  const hear = (text: string | RegExp): Promise<unknown> => expect.poll(messages, { timeout: 120_000, interval: 50 }).toMatch(text);
  return { child, messages, hear, count: () => messages().split(alive).length - 1 };
}

/** The process below `parent` whose command line has the word. */
function findProcess(parent: number, word: string): number {
  const [pid] = processesBelow(parent, word);
  if (pid === undefined) throw new Error(`no process ${word} below ${parent}`);
  return pid;
}

/** Signals a process that may have ended since it was found. */
function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

test('READY comes once the tokens have answered, WATCHDOG keeps coming, STOPPING comes before an orderly end', async () => {
  const daemon = await startNotifying('life', 600);
  await daemon.hear(alive);
  await expect.poll(daemon.count, { timeout: 120_000 }).toBeGreaterThan(3);
  daemon.child.kill('SIGTERM');
  const code = await new Promise((done) => daemon.child.once('exit', done));
  expect(code).toBe(0);
  expect(daemon.messages()).toMatch(/STOPPING=1\nSTATUS=letting running requests finish$/);
});

test('a token that hangs keeps the watchdog silent and shows its reason; once it is healed the word comes again', async () => {
  const daemon = await startNotifying('hang', 600);
  await daemon.hear(alive);
  // The supervisor had an HSM host of its own during the start, which may not have ended yet: only those of the worker are meant.
  const worker = findProcess(daemon.child.pid as number, '/worker.');
  const signalHosts = (name: 'SIGSTOP' | 'SIGCONT'): void => {
    for (const host of processesBelow(worker, '/host.')) signal(host, name);
  };
  // A host that hangs alone is replaced, and an examination may outlive it unharmed: the token hangs when every successor does.
  const hang = (): string => {
    signalHosts('SIGSTOP');
    return daemon.messages();
  };
  await expect.poll(hang, { timeout: 120_000, interval: 50 }).toMatch(/STATUS=worker 1 is not fit: \S/);
  signalHosts('SIGCONT');
  const before = daemon.count();
  await expect.poll(daemon.count, { timeout: 120_000 }).toBeGreaterThan(before);
});

test('a worker that dies is seen as such until its successor serves', async () => {
  const daemon = await startNotifying('death', 150);
  await daemon.hear(alive);
  process.kill(findProcess(daemon.child.pid as number, '/worker.'), 'SIGKILL');
  await daemon.hear(/STATUS=worker 1 (?:is being started again|is starting|has just ended)/);
  const before = daemon.count();
  await expect.poll(daemon.count, { timeout: 120_000 }).toBeGreaterThan(before);
});

test('a service manager that cannot be told is no reason to end', async () => {
  const descriptor = openSync('/dev/null', 'r');
  const names = [...Array.from({ length: descriptor - 3 }, () => 'other'), 'notify'];
  const handed = { LISTEN_PID: String(process.pid), LISTEN_FDS: String(names.length), LISTEN_FDNAMES: names.join(':') };
  const notify = await openNotify({ NOTIFY_SOCKET: '/run/systemd/notify', ...handed });
  expect(() => notify?.('WATCHDOG=1')).not.toThrow();
  closeSync(descriptor);
});
