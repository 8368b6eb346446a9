// Sending an answer: header names in the case they are written, an exact length, and the HTTP version of the request.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { transportSecurity } from '../../../core/http/response/answer.ts';
import type { EstAnswer } from './transport.ts';

/** Sends the answer once the request is read to its end. A client that has disconnected does not count as an error. */
export async function sendAnswer(request: IncomingMessage, response: ServerResponse, { status, headers, body }: EstAnswer): Promise<void> {
  await drain(request);
  if (response.destroyed || response.headersSent) return;
  const reason = STATUS_CODES[status] ?? '';
  const octets = Buffer.byteLength(body);
  const all = {
    ...headers,
    'Content-Length': String(octets),
    'Cache-Control': 'no-store',
    'Strict-Transport-Security': transportSecurity[1],
  };
  if (request.httpVersion === '1.0') answerAsHttp10(response, `${status} ${reason}`, all, request.method === 'HEAD' ? '' : body);
  // ASCII, as certificates are, is not encoded again.
  else response.writeHead(status, reason, all).end(body, octets === body.length ? 'latin1' : 'utf8');
}

/**
 * Node answers HTTP/1.1 whatever was asked, as RFC 9110 section 2.5 has it; the libest that Debian ships speaks HTTP/1.0 and takes no
 * other status line. Such a connection ends with its answer.
 */
function answerAsHttp10(response: ServerResponse, status: string, headers: Readonly<Record<string, string>>, body: string): void {
  const lines = Object.entries({ ...headers, Date: new Date().toUTCString(), Connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const { socket } = response;
  socket?.write(`HTTP/1.0 ${status}\r\n${lines.join('')}\r\n${body}`);
  // An end alone is not enough: a client that does not close would keep the connection.
  socket?.destroySoon();
}

/** A client that still sends would meet a closed connection before our answer: the rest of a refused request is read for a moment. */
const drainMs = 1_000;

function drain(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const late = setTimeout(resolve, drainMs);
    const done = (): void => {
      clearTimeout(late);
      resolve();
    };
    request.once('end', done).once('close', done).on('error', done).resume();
  });
}
