// Tracks connections with a running request, and peers that keep one waiting.
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Connection, Connections } from './connections.ts';

const sweepEveryMs = 2_000;
/** Lowest rate of an answer in octets per second, as for bodies. */
const lowestOctets = 8 * 1024;

/**
 * Tracks the requests of a server; the returned function receives its connections after their handshakes. Closes a peer that has
 * a pending answer for `unreadMs` and reads less of it than 8 KiB a second, whatever it sends meanwhile; node has no limit for that.
 */
export function followRequests(server: EventEmitter, connections: Connections, unreadMs: number): (connection: Connection) => void {
  const ofSecured = new WeakMap<Socket, Connection>();
  const underWay = new WeakMap<Connection, Set<IncomingMessage>>();
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = ofSecured.get(request.socket);
    if (connection === undefined) return;
    const requests = underWay.get(connection) ?? new Set();
    underWay.set(connection, requests.add(request));
    if (requests.size === 1) connections.move(connection, 'request');
    response.once('close', () => {
      if (requests.delete(request) && requests.size === 0) connections.move(connection, 'idle');
    });
  });
  const readers = new WeakMap<Connection, { readonly octets: number; readonly sinceMs: number }>();
  const sweep = setInterval(
    () => {
      // Timers run before I/O: after a pause of this process, data read meanwhile must be seen first.
      setImmediate(() => {
        const nowMs = performance.now();
        for (const connection of [...connections.ofStage('request')]) {
          const { bytesWritten = 0, writableLength = 0 } = connection.secured ?? {};
          const octets = bytesWritten - writableLength;
          const before = readers.get(connection);
          if (writableLength === 0) readers.delete(connection);
          else if (before === undefined) readers.set(connection, { octets, sinceMs: nowMs });
          else if (nowMs - before.sinceMs >= unreadMs) {
            if (octets - before.octets < (lowestOctets * (nowMs - before.sinceMs)) / 1_000) connections.close(connection, 'unread');
            else readers.set(connection, { octets, sinceMs: nowMs });
          }
        }
      });
    },
    Math.min(sweepEveryMs, unreadMs),
  ).unref();
  server.once('close', () => clearInterval(sweep));
  return (connection) => {
    const { secured } = connection;
    if (secured === undefined) return;
    ofSecured.set(secured, connection);
    connection.owes = () =>
      secured.writableLength > 0 ||
      (underWay
        .get(connection)
        ?.values()
        .some(({ complete }) => !complete) ??
        false);
  };
}
