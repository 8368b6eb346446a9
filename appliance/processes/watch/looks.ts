// Looks from outside whether each worker completes handshakes: one that does not, while peers wait, would go on so for ever.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type ListenerName, listenerNames } from '../../../core/plugin/services/listeners.ts';
import { Unanswered } from '../channel.ts';
import type { WorkerChannel } from '../messages.ts';

/** Handshakes that a listener has missed one after another before its process is replaced: a busy machine is slow, and one that slept, too. */
const mostMisses = 4;
/** From this many on, health says so. */
const doubtfulMisses = 2;
const lookEveryMs = 10_000;
const patienceMs = 8_000;

export type Looked = {
  readonly channel: WorkerChannel;
  /** whether it has begun to serve */
  serves: boolean;
  /** handshakes missed one after another, by listener */
  readonly misses: Map<ListenerName, number>;
};

/** Whether a worker seems to complete no handshakes on a port. */
export function isDoubtful({ misses }: Looked): boolean {
  return misses.values().some((count) => count >= doubtfulMisses);
}

/** Looks at all of them every ten seconds; `onStuck` is told each that has missed too many. Returns a function that ends this. */
export function lookAtAll<T extends Looked>(present: () => Iterable<T>, onStuck: (worker: T, listener: ListenerName) => void): () => void {
  const looking = new Set<T>();
  const look = async (worker: T): Promise<void> => {
    looking.add(worker);
    const looked = await Promise.all(listenerNames.map((listener) => isHandshakeCompleted(worker.channel, listener)));
    for (const [index, listener] of listenerNames.entries())
      worker.misses.set(listener, looked[index] === true ? 0 : (worker.misses.get(listener) ?? 0) + 1);
    const stuck = listenerNames.find((listener) => (worker.misses.get(listener) ?? 0) >= mostMisses);
    if (stuck !== undefined) onStuck(worker, stuck);
  };
  const timer = setInterval(() => {
    for (const worker of present()) {
      if (worker.serves && !looking.has(worker)) void look(worker).finally(() => looking.delete(worker));
    }
  }, lookEveryMs).unref();
  return () => clearInterval(timer);
}

/**
 * Makes a handshake with a listener of a worker, over a connection that is handed to it behind its port: which worker accepts one there is
 * the kernel's choice. Any answer will do, a refusal, too. True as well when this process cannot look, or there is no such listener now.
 */
async function isHandshakeCompleted(channel: WorkerChannel, listener: ListenerName): Promise<boolean> {
  const pair = await openPair().catch(() => undefined);
  if (pair === undefined) return true;
  const [own, handed] = pair;
  try {
    if (!(await channel.request('take', { listener }, patienceMs, handed))) return true;
    return await answersHandshake(own);
  } catch (error) {
    // A worker that has ended is none that is stuck.
    return !(error instanceof Unanswered) || error.isEnd;
  } finally {
    own.destroy();
    handed.destroy();
  }
}

function answersHandshake(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    // Whose certificate it is matters not here.
    const secured = connectTls({ socket, rejectUnauthorized: false });
    const late = setTimeout(() => end(false), patienceMs);
    const end = (isAnswered: boolean): void => {
      clearTimeout(late);
      secured.destroy();
      resolve(isAnswered);
    };
    for (const event of ['secureConnect', 'error', 'close']) secured.once(event, () => end(true));
  });
}

/** Two ends of a connection within this machine that no network shows. */
async function openPair(): Promise<readonly [Socket, Socket]> {
  const path = `\0keystored-look-${randomBytes(16).toString('hex')}`;
  const server = createServer().listen(path);
  try {
    await once(server, 'listening');
    const connected = connect(path).on('error', () => undefined);
    const [accepted] = (await once(server, 'connection')) as [Socket];
    accepted.on('error', () => undefined);
    return [accepted, connected];
  } finally {
    server.close();
  }
}
