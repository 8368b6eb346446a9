// Checks from outside whether each worker completes handshakes: one that does not, while peers wait, would stay so without limit; and one
// that never did is not ready.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connect as connectTls } from 'node:tls';
import { isWithin } from '../../../core/base/addresses.ts';
import type { Address } from '../../../core/config/config.ts';
import { ownProxyHeader } from '../../../core/http/listener/proxy-header.ts';
import { listenerKinds, type ListenerName, listenerNames } from '../../../core/plugin/services/listeners.ts';
import { Unanswered } from '../channel.ts';
import type { WorkerChannel } from '../messages.ts';
import { StartRefused } from '../../start-refused.ts';

/**
 * Handshakes that a listener has missed one after another before its process is replaced: a busy machine is slow, and one that slept, too.
 */
const mostMisses = 4;
/** From this many on, health says so. */
const doubtfulMisses = 2;
/** `patienceMs`: for one answer. */
type Pace = { readonly everyMs: number; readonly patienceMs: number };
const usual: Pace = { everyMs: 10_000, patienceMs: 8_000 };

export type Looked = {
  readonly channel: WorkerChannel;
  /** true once it serves */
  serves: boolean;
  /** handshakes missed one after another, by listener */
  readonly misses: Map<ListenerName, number>;
};

/** Tells whether a worker seems to complete no handshakes on a port. */
export function isDoubtful({ misses }: Looked): boolean {
  return misses.values().some((count) => count >= doubtfulMisses);
}

/** Address at which peers connect to a listener. */
export type Port = Pick<Address, 'host' | 'port' | 'proxies'>;

/** Reports about workers. */
export type Told<T> = {
  /** It has missed too many handshakes. Returns false if it is to stay for now: then it is called again at the next look. */
  onStuck(worker: T, listener: ListenerName): boolean;
  /** It completes handshakes of peers, but not ours in time: it is overloaded, and another process in its place would be, too. */
  onOverloaded(worker: T, listener: ListenerName): void;
};

/**
 * Checks all of them, every ten seconds usually. Returns a function that ends this. The workers accept from one queue of the kernel, so that a port
 * answers for as long as one of them accepts: if it does not, they are stuck, which is reported for one at each look, and for each once until
 * it answers again.
 */
export function lookAtAll<T extends Looked>(
  present: () => Iterable<T>,
  told: Told<T>,
  ports: Readonly<Partial<Record<ListenerName, Port>>> = {},
  pace = usual,
): () => void {
  const looking = new Set<T>();
  const overloaded = new Map(listenerNames.map((listener) => [listener, new WeakSet<T>()]));
  const serving = (): readonly T[] => [...present()].filter(({ serves }) => serves);
  const endPorts = listenerNames.flatMap((listener) => {
    const port = ports[listener];
    if (port === undefined) return [];
    let left: T[] | undefined;
    const onLooked = (isDead: boolean): void => {
      left = isDead ? (left ?? [...serving()]).filter(({ serves }) => serves) : undefined;
      const [next] = left ?? [];
      if (next !== undefined && told.onStuck(next, listener)) left?.shift();
    };
    return lookAtPort(listener, port, pace, () => countHandshakes(serving(), listener, pace), onLooked);
  });
  const lookAt = async (worker: T, listener: ListenerName): Promise<boolean> => {
    const counted = countHandshakes([worker], listener, pace);
    const isCompleted = await isHandshakeCompleted(worker.channel, listener, pace);
    const isOverloaded = !isCompleted && (await counted.haveGrown());
    const known = overloaded.get(listener);
    if (isOverloaded && known?.has(worker) !== true) told.onOverloaded(worker, listener);
    known?.[isOverloaded ? 'add' : 'delete'](worker);
    return isCompleted || isOverloaded;
  };
  const look = async (worker: T): Promise<void> => {
    looking.add(worker);
    const looked = await Promise.all(listenerNames.map((listener) => lookAt(worker, listener)));
    for (const [index, listener] of listenerNames.entries())
      worker.misses.set(listener, looked[index] === true ? 0 : (worker.misses.get(listener) ?? 0) + 1);
    const stuck = listenerNames.find((listener) => (worker.misses.get(listener) ?? 0) >= mostMisses);
    if (stuck !== undefined) told.onStuck(worker, stuck);
  };
  const timer = setInterval(() => {
    for (const worker of serving()) {
      if (!looking.has(worker)) void look(worker).finally(() => looking.delete(worker));
    }
  }, pace.everyMs).unref();
  return () => {
    clearInterval(timer);
    for (const end of endPorts) end();
  };
}

/** `haveGrown`: one of the workers has completed more of them meanwhile; a process that hangs tells nothing. */
type Counted = { haveGrown(): Promise<boolean> };

function countHandshakes(workers: readonly Looked[], listener: ListenerName, { patienceMs }: Pace): Counted {
  const count = ({ channel }: Looked): Promise<number | undefined> =>
    channel.request('handshakes', { listener }, patienceMs).catch(() => undefined);
  const counts = workers.map((worker) => [worker, count(worker)] as const);
  const hasGrown = async ([worker, counted]: (typeof counts)[number]): Promise<boolean> => {
    const before = await counted;
    return before !== undefined && ((await count(worker)) ?? 0) > before;
  };
  return { haveGrown: async () => (await Promise.all(counts.map(hasGrown))).includes(true) };
}

/**
 * Connects as peers do. `onLooked` is called after each look: the port is dead if it has answered before, no longer does, and completes no
 * handshakes of others either, which are counted during the look.
 */
function lookAtPort(
  listener: ListenerName,
  port: Port,
  pace: Pace,
  countOthers: () => Counted,
  onLooked: (isDead: boolean) => void,
): () => void {
  let [misses, hasAnswered, isLooking] = [0, false, false];
  const look = async (): Promise<void> => {
    const address = reachable(port.host);
    const socket = address === undefined ? undefined : connect({ host: address, port: port.port }).on('error', () => undefined);
    if (socket === undefined) return;
    // Of whom it expects one, the listener reads the header of a proxy first: that of one which connects for itself.
    if (isWithin(port.proxies?.proxyProtocol ?? [], address)) socket.write(ownProxyHeader);
    const others = countOthers();
    const { kind } = await lookOver(listener, socket, undefined, pace);
    socket.destroy();
    misses = kind === 'silent' && !(await others.haveGrown()) ? misses + 1 : 0;
    hasAnswered ||= kind === 'completed';
    onLooked(misses >= mostMisses && hasAnswered);
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => (isLooking = false));
  }, pace.everyMs).unref();
  return () => clearInterval(timer);
}

/**
 * An address of this machine at which the host is listened on; undefined for one that is elsewhere now, as an address that is shared may
 * be.
 */
function reachable(host: string): string | undefined {
  if (host === '0.0.0.0' || host === '::') return host === '::' ? '::1' : '127.0.0.1';
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
  return host === 'localhost' || own.includes(host) ? host : undefined;
}

/** Any answer suffices, a refusal, too: the owner of the certificate does not matter here. */
async function isHandshakeCompleted(channel: WorkerChannel, listener: ListenerName, pace: Pace): Promise<boolean> {
  return (await lookOnce(channel, listener, pace)).kind !== 'silent';
}

/**
 * Resolves when each worker has completed a handshake on each of its listeners, with a certificate of the CA in `ca` (PEM). Throws
 * StartRefused. The time of certificates is not judged: the clock may be wrong.
 */
export async function requireHandshakes(channels: Iterable<WorkerChannel>, ca: () => string): Promise<void> {
  const looked = [...channels].flatMap((channel) => listenerNames.map((listener) => requireHandshake(channel, listener, ca)));
  await Promise.all(looked);
}

async function requireHandshake(channel: WorkerChannel, listener: ListenerName, ca: () => string): Promise<void> {
  for (let left = mostMisses; ; left--) {
    const looked = await lookOnce(channel, listener, usual, ca);
    if (looked.kind === 'unseen' || looked.kind === 'completed') return;
    if (left > 1) continue;
    const reason = 'reason' in looked ? looked.reason : `there is no answer within ${usual.patienceMs / 1_000} seconds`;
    const { title, speaks } = listenerKinds[listener];
    throw new StartRefused(
      speaks === 'http'
        ? `the ${title} port does not answer: ${reason}`
        : `the ${title} port does not answer TLS with the certificate of this appliance: ${reason}. With "tls-key: token" the token signs: see what the log says of it`,
    );
  }
}

/**
 * `unseen`: this process cannot look, or there is no such listener now. `refused`: also by a certificate of another CA, where one is given.
 */
type Look = { readonly kind: 'unseen' | 'silent' | 'completed' } | { readonly kind: 'refused'; readonly reason: string };

/**
 * Makes a handshake with a listener of a worker, over a connection that is handed to it behind its port: which worker accepts one there is
 * the kernel's choice.
 */
async function lookOnce(channel: WorkerChannel, listener: ListenerName, pace: Pace, ca?: () => string): Promise<Look> {
  const pair = await openPair().catch(() => undefined);
  if (pair === undefined) return { kind: 'unseen' };
  const [own, handed] = pair;
  try {
    const taken = await channel.request('take', { listener }, pace.patienceMs, handed);
    // A process without a free descriptor gets no connection from any peer.
    if (taken !== 'taken') return { kind: taken === 'dead' ? 'silent' : 'unseen' };
    return await lookOver(listener, own, ca?.(), pace);
  } catch (error) {
    // A worker that has ended is not stuck.
    return { kind: error instanceof Unanswered && !error.isEnd ? 'silent' : 'unseen' };
  } finally {
    own.destroy();
    handed.destroy();
  }
}

function lookOver(listener: ListenerName, socket: Socket, ca: string | undefined, pace: Pace): Promise<Look> {
  return listenerKinds[listener].speaks === 'tls' ? handshakeOver(socket, ca, pace) : answerOver(socket, pace);
}

/** Without TLS, any answer of HTTP says that the process serves. */
function answerOver(socket: Socket, { patienceMs }: Pace): Promise<Look> {
  return new Promise((resolve) => {
    const late = setTimeout(() => end({ kind: 'silent' }), patienceMs);
    const end = (look: Look): void => {
      clearTimeout(late);
      socket.destroy();
      resolve(look);
    };
    socket.once('data', () => end({ kind: 'completed' }));
    socket.once('error', (error) => end({ kind: 'refused', reason: error.message }));
    socket.once('close', () => end({ kind: 'refused', reason: 'it closes the connection' }));
    socket.write('HEAD / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  });
}

const aboutTime: ReadonlySet<string> = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);

function handshakeOver(socket: Socket, ca: string | undefined, { patienceMs }: Pace): Promise<Look> {
  return new Promise((resolve) => {
    const secured = connectTls({
      socket,
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
      ...(ca === undefined ? {} : { ca }),
    });
    const late = setTimeout(() => end({ kind: 'silent' }), patienceMs);
    const end = (look: Look): void => {
      clearTimeout(late);
      secured.destroy();
      resolve(look);
    };
    secured.once('secureConnect', () => {
      // A string, whatever its type says.
      const fault = ca === undefined || secured.authorized ? undefined : String(secured.authorizationError);
      end(fault === undefined || aboutTime.has(fault) ? { kind: 'completed' } : { kind: 'refused', reason: fault });
    });
    secured.once('error', (error) => end({ kind: 'refused', reason: error.message }));
    secured.once('close', () => end({ kind: 'refused', reason: 'it closes the connection' }));
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
