// Connections to an HSM host: a child process behind a pipe, or the same service inline in this process.
import { spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { withoutWarning } from '../without-warning.ts';
import { encodeMessages, MessageReader, type Message, type ReceivedMessage } from '../protocol/wire.ts';

/** A running host. */
export type Link = {
  /** process id of the host; undefined inline */
  readonly pid: number | undefined;
  send(jobs: readonly Message[]): void;
  kill(): void;
};

/** Callbacks of a link. `onExit` is called once. */
export type LinkListener = {
  onResults(results: readonly ReceivedMessage[]): void;
  onExit(reason: string): void;
};

const hostFile = fileURLToPath(new URL('../host/host.ts', import.meta.url));
/**
 * Settings of glibc's malloc. More cached free chunks of a size for each thread: a use of a key makes and frees dozens of small
 * objects in the module; with the default of seven an AES-GCM encryption took a fifth more processor time. Huge pages where the
 * kernel offers them on request: SoftHSM follows dozens of pointers through the 9 KiB of a key, with 100,000 keys each to another page.
 */
const mallocSettings = ['glibc.malloc.tcache_count=100', 'glibc.malloc.hugetlb=1'];

/** Starts a host process with the token's environment. */
export function spawnHost(environment: Readonly<Record<string, string>>, listener: LinkListener): Link {
  // The last value of a tunable counts, so an administrator's setting wins.
  const tunables = [...mallocSettings, process.env['GLIBC_TUNABLES']].filter(Boolean).join(':');
  const env = { ...process.env, GLIBC_TUNABLES: tunables, ...environment };
  // Output of a vendor's library goes to standard error, because standard output belongs to the service.
  // In a group of its own: until it has loaded, Ctrl-C would end it. Its pipe ends it with the service.
  const child = spawn(process.execPath, [withoutWarning, hostFile], {
    env,
    stdio: ['ignore', 2, 2, 'pipe'],
    detached: true,
  });
  const channel = child.stdio[3] as Duplex;
  const reader = new MessageReader();
  let fault: string | undefined;
  channel.on('data', (chunk: Buffer) => {
    if (fault !== undefined) return;
    try {
      listener.onResults(reader.push(chunk));
    } catch (error) {
      // Rethrown, it would end the service. After a framing error the start of the next message is unknown.
      fault = `sent an unreadable message (${(error as Error).message}) and was killed`;
      child.kill('SIGKILL');
    }
  });
  channel.on('error', () => {});
  child.once('error', (error) => listener.onExit(`cannot be started: ${error.message}`));
  // 'close', not 'exit': the last results may still be in the pipe.
  child.once('close', (code, signal) =>
    listener.onExit(fault ?? (signal === null ? `exited with code ${code}` : `was killed by ${signal}`)),
  );
  return {
    pid: child.pid,
    send: (jobs) => {
      const frame = encodeMessages(jobs);
      channel.write(frame, () => frame.fill(0));
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

/** The same service in this process, for unit tests: calls block the event loop, and a crash of the module ends the process. */
export function inlineHost(environment: Readonly<Record<string, string>>, listener: LinkListener): Link {
  Object.assign(process.env, environment);
  let alive = true;
  const fromService = new MessageReader();
  const toService = new MessageReader();
  const end = (reason: string): void => {
    if (alive) listener.onExit(reason);
    alive = false;
  };
  // Loaded on demand: the service's process must not load the PKCS#11 binding.
  const loading = import('../host/token-service.ts').then(
    ({ TokenService }) =>
      new TokenService(
        (results) => listener.onResults(fromService.push(encodeMessages(results))),
        (code) => end(`exited with code ${code}`),
        false,
      ),
  );
  return {
    pid: undefined,
    send: (jobs) => {
      const batch = encodeMessages(jobs);
      void loading.then((service) => alive && service.take(toService.push(batch)));
    },
    kill: () => setImmediate(() => end('was killed')),
  };
}
