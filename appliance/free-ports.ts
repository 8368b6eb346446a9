// Looks at both ports before anything is made, so that a start that cannot serve leaves nothing behind.
import { createServer } from 'node:net';
import type { Address } from '../core/config.ts';
import { StartRefused } from './start-refused.ts';

/** A killed appliance lets go of its ports a moment after it is gone. */
const patienceMs = 3_000;

/** Throws StartRefused naming the option when its address cannot be listened on. */
export async function requireFreePorts(listeners: readonly (readonly [option: string, address: Address])[]): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (const [option, { host, port }] of listeners) {
    for (let fault = await tryAddress(host, port); fault !== undefined; fault = await tryAddress(host, port)) {
      if (fault === 'EADDRINUSE' && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        continue;
      }
      throw new StartRefused(`${option} ${host}:${port} ${reasonOf(fault)}`);
    }
  }
}

function reasonOf(fault: string): string {
  if (fault === 'EADDRINUSE') return 'is taken by another process: stop that one, or choose another port';
  if (fault === 'EACCES') return 'may not be taken by this user: choose a port above 1023, or grant CAP_NET_BIND_SERVICE';
  if (fault === 'EADDRNOTAVAIL' || fault === 'ENOTFOUND') return 'is no address of this machine: give one that is, or 0.0.0.0 for all';
  return `cannot be listened on (${fault})`;
}

function tryAddress(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
