// Runs requests of one connection one after another: HTTP/1.1 answers them in order anyway.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Limit of requests that wait on a connection for the previous answer. Node has no limit for those in one piece of TLS data. */
const mostWaiting = 32;
/** Limit of their memory if more than one waits: a thousand fields of four octets take twenty-five times the octets sent. */
const mostWaitingOctets = 64 * 1024;
/** of a header field in memory: two texts and their places, without their characters */
const fieldOctets = 96;
/** for a request itself, with its answer */
const requestOctets = 512;

/**
 * Starts a request when the previous answer on its connection has been sent, so that a peer which reads nothing holds one
 * answer, and no work is done for the others. A connection on which too many wait is closed.
 */
export function inTurn(handler: Handler): Handler {
  const lines = new WeakMap<Socket, Line>();
  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    response.once('close', () => {
      const line = lines.get(socket);
      const next = socket.destroyed ? undefined : line?.waiting.shift();
      if (line === undefined || next === undefined) lines.delete(socket);
      else {
        line.octets -= octetsOf(next[0]);
        begin(...next);
      }
    });
    handler(request, response);
  };
  return (request, response) => {
    const { socket } = request;
    // The rest of a piece after the connection was closed.
    if (socket.destroyed) return;
    // After a request for another protocol the parser of node reads nothing more: the peer must know that.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    const line = lines.get(socket);
    if (line === undefined) {
      lines.set(socket, { waiting: [], octets: 0 });
      return begin(request, response);
    }
    line.octets += octetsOf(request);
    const { length } = line.waiting;
    if (length >= mostWaiting || (length > 0 && line.octets > mostWaitingOctets)) {
      lines.delete(socket);
      return void socket.destroy();
    }
    line.waiting.push([request, response]);
  };
}

/** The requests that wait on a connection, and the memory that their heads take. */
type Line = { readonly waiting: (readonly [IncomingMessage, ServerResponse])[]; octets: number };

function octetsOf({ rawHeaders, url = '' }: IncomingMessage): number {
  let octets = requestOctets + url.length + (rawHeaders.length / 2) * fieldOctets;
  for (const { length } of rawHeaders) octets += length;
  return octets;
}
