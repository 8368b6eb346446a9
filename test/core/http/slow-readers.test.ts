// Peers that keep an answer waiting: who reads less than the lowest rate is closed, however steadily; who reads faster is not.
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { Connections } from '../../../core/http/listener/connections.ts';
import { followRequests } from '../../../core/http/listener/requests.ts';

test.each([
  ['nothing', 0, true],
  ['an octet at a time', 1, true],
  ['16 KiB a second', 16 * 1024, false],
] as const)('%s', async (_name, octetsPerSecond, isClosed) => {
  const server = new EventEmitter();
  const connections = new Connections({ open: 10, handshakes: 10 });
  const follow = followRequests(server, connections, 400);
  const begunMs = performance.now();
  const secured = {
    bytesWritten: 1 << 20,
    get writableLength() {
      return (1 << 20) - Math.ceil((octetsPerSecond * (performance.now() - begunMs)) / 1_000);
    },
    destroy: () => undefined,
  } as unknown as Socket;
  const connection = connections.add(new PassThrough() as unknown as Socket, '192.0.2.1');
  if (connection === undefined) throw new Error('there is no place');
  connection.secured = secured;
  follow(connection);
  const response = new EventEmitter();
  server.emit('request', { socket: secured, complete: true }, response);
  await new Promise((waited) => setTimeout(waited, 1_500));
  expect(connections.closed.unread).toBe(isClosed ? 1 : 0);
  server.emit('close');
});
