// Requests of one connection, one after another: HTTP/1.1 answers them in their order anyway.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Requests that may wait on a connection for the answer to the one before. More come in one piece of what TLS reads: node has no limit for that. */
const mostWaiting = 32;

/**
 * A request begins when the one before it on its connection is answered and the answer has left, so that a peer which reads nothing holds one
 * answer, and no work is done for the others. A connection on which too many wait is closed.
 */
export function inTurn(handler: Handler): Handler {
  const lines = new WeakMap<Socket, (readonly [IncomingMessage, ServerResponse])[]>();
  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    response.once('close', () => {
      const next = socket.destroyed ? undefined : lines.get(socket)?.shift();
      if (next === undefined) lines.delete(socket);
      else begin(...next);
    });
    handler(request, response);
  };
  return (request, response) => {
    const { socket } = request;
    // The rest of a piece whose beginning has closed the connection.
    if (socket.destroyed) return;
    const line = lines.get(socket);
    if (line === undefined) {
      lines.set(socket, []);
      return begin(request, response);
    }
    if (line.length >= mostWaiting) return void socket.destroy();
    line.push([request, response]);
  };
}
