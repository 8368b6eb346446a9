// A syslog receiver over TLS as strict as RFC 5425, which can be made to misbehave.
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { Pki } from './pki.ts';

export type SyslogReceiver = {
  readonly port: number;
  /** messages that were read, in order, over all connections */
  readonly messages: string[];
  /** framing errors */
  readonly faults: string[];
  readonly connections: () => number;
  /** called for each message; `true` keeps it from being stored and resets the connection */
  onMessage: ((message: string, socket: TLSSocket) => boolean) | undefined;
  /** while set, nothing is read */
  pause(): void;
  resume(): void;
  /** Ends TLS and TCP, and lets go of what is unread: a program that is being ended. */
  leave(): void;
  close(): Promise<void>;
};

export type ReceiverOptions = {
  readonly port?: number;
  readonly demandClient?: boolean;
  readonly identity?: 'server' | 'outsider';
  readonly answersEnd?: boolean;
};

export async function startSyslogReceiver(pki: Pki, options: ReceiverOptions = {}): Promise<SyslogReceiver> {
  const { port = 0, demandClient = true, identity = 'server', answersEnd = true } = options;
  const messages: string[] = [];
  const faults: string[] = [];
  const sockets = new Set<TLSSocket>();
  let connections = 0;
  let isPaused = false;
  const server = createServer({
    key: readFileSync(identity === 'server' ? pki.serverKey : pki.outsiderKey),
    cert: readFileSync(identity === 'server' ? pki.server : pki.outsider),
    ca: readFileSync(pki.ca),
    requestCert: demandClient,
    rejectUnauthorized: demandClient,
    allowHalfOpen: !answersEnd,
  });
  const receiver: SyslogReceiver = {
    get port() {
      return (server.address() as AddressInfo).port;
    },
    ...{ messages, faults },
    connections: () => connections,
    onMessage: undefined,
    pause() {
      isPaused = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      isPaused = false;
      for (const socket of sockets) socket.resume();
    },
    leave() {
      for (const socket of sockets) socket.end(() => socket.destroy());
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((done) => server.close(() => done()));
    },
  };
  server.on('secureConnection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    let rest = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const space = rest.indexOf(0x20);
        if (space < 0) break;
        const count = rest.toString('latin1', 0, space);
        if (!/^[1-9]\d*$/.test(count)) {
          faults.push(`no octet count: ${count.slice(0, 20)}`);
          socket.destroy();
          return;
        }
        const end = space + 1 + Number(count);
        if (rest.length < end) break;
        const message = rest.toString('utf8', space + 1, end);
        rest = rest.subarray(end);
        if (receiver.onMessage?.(message, socket) === true) {
          rest = Buffer.alloc(0);
          socket.destroy();
          return;
        }
        messages.push(message);
      }
    });
    socket.on('end', () => {
      if (rest.length > 0) faults.push('cut in the middle of a frame');
    });
    if (isPaused) socket.pause();
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return receiver;
}

/** The structured data of a message, and its JSON. */
export function parseMessage(message: string): {
  readonly header: string;
  readonly data: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
} {
  const [, header = '', data = '', body = ''] = /^(<\d+>1 \S+ \S+ \S+ \S+ \S+) (\[(?:[^\]\\]|\\.)*\]) (.*)$/s.exec(message) ?? [];
  const pairs = [...data.matchAll(/ ([a-z-]+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [
    name,
    value.replaceAll(/\\(.)/g, '$1'),
  ]);
  return { header, data: Object.fromEntries(pairs) as Record<string, string>, body: JSON.parse(body) as Record<string, unknown> };
}

/** Sequence numbers of each chain in the order of arrival. */
export function sequencesOf(messages: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (const message of messages) {
    const { chain, sequence } = parseMessage(message).data;
    if (chain !== undefined && sequence !== undefined) found.set(chain, [...(found.get(chain) ?? []), Number(sequence)]);
  }
  return found;
}

/** Numbers from 1 that never came, and those that came before their predecessor had. */
export function faultsOf(
  sequences: readonly number[],
  last: number,
): { readonly missing: readonly number[]; readonly early: readonly number[] } {
  const seen = new Set<number>();
  const early: number[] = [];
  for (const sequence of sequences) {
    if (sequence > 1 && !seen.has(sequence - 1)) early.push(sequence);
    seen.add(sequence);
  }
  return { missing: Array.from({ length: last }, (_, index) => index + 1).filter((sequence) => !seen.has(sequence)), early };
}
