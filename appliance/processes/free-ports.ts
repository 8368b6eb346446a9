// Checks both ports before anything is created, so that a start that cannot serve leaves nothing behind.
import { createServer, type Server } from 'node:net';
import type { Address } from '../../core/config/config.ts';
import { explainNoListener } from '../../core/http/listener/listeners.ts';
import { requireSameAddress } from './inherited-sockets.ts';
import { StartRefused } from '../start-refused.ts';

/** The ports of a killed appliance are free a moment after its end. */
const patienceMs = 3_000;

/**
 * Throws StartRefused naming the option when its address cannot be listened on beside those before it, or differs from that of its socket.
 */
export async function requireFreePorts(listeners: readonly (readonly [option: string, address: Address])[]): Promise<void> {
  const deadline = performance.now() + patienceMs;
  const held: Server[] = [];
  try {
    for (const [option, address] of listeners) {
      if (address.descriptor === undefined) held.push(await holdAddress(option, address, deadline));
      else await requireSameAddress(option, address, address.descriptor);
    }
  } finally {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

async function holdAddress(option: string, { host, port }: Address, deadline: number): Promise<Server> {
  for (;;) {
    const outcome = await tryAddress(host, port);
    if (typeof outcome !== 'string') return outcome;
    if (outcome !== 'EADDRINUSE' || performance.now() >= deadline)
      throw new StartRefused(`${option} ${host}:${port} ${explainNoListener(outcome)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A server that holds the address, or the code of the error. */
function tryAddress(host: string, port: number): Promise<Server | string> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => resolve(server));
  });
}
