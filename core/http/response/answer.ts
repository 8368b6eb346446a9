// Writes an answer to the node response: exact Content-Length, never cached, one write for header and body.
import type { ServerResponse } from 'node:http';

/** What goes out. `body` undefined is an answer without content. */
export type Answer = {
  readonly status: number;
  readonly mediaType?: string;
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
  /** a list becomes one header line per item */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
};

/**
 * With every answer over TLS (RFC 6797): a browser that has met this host with a certificate it trusts takes no other way to it for a
 * year. It counts for the whole host, whatever the port, and not for hosts below it; for an IP address, or after a certificate warning,
 * browsers pay no attention to it.
 */
export const transportSecurity = ['strict-transport-security', 'max-age=31536000'] as const;

/**
 * Sends it. HEAD gets the header of the GET (node drops the body). A client that is gone is not an error. Resolves, for streams
 * only, when the last piece is out.
 */
export function sendAnswer(response: ServerResponse, requestId: string, answer: Answer): Promise<void> | undefined {
  if (response.destroyed || response.headersSent) return abandon(answer.body);
  // A flat list of names and values is what node writes fastest.
  const header = ['cache-control', 'no-store', 'x-content-type-options', 'nosniff', ...transportSecurity, 'request-id', requestId];
  for (const [name, value] of Object.entries(answer.headers ?? noHeaders)) {
    if (typeof value === 'string') header.push(name, value);
    else for (const line of value) header.push(name, line);
  }
  const { body, status } = answer;
  if (body === undefined) {
    if (status !== 204) header.push('content-length', '0');
    response.writeHead(status, header).end();
    return undefined;
  }
  if (answer.mediaType !== undefined) header.push('content-type', answer.mediaType);
  if (typeof body === 'string') {
    const bytes = Buffer.byteLength(body);
    header.push('content-length', String(bytes));
    if (bytes > largestKeptBytes) header.push('connection', 'close');
    // One octet per character is ASCII, which goes out cheaper as Latin-1.
    response.writeHead(status, header).end(body, bytes === body.length ? 'latin1' : 'utf8');
    return undefined;
  }
  if (body instanceof Uint8Array) {
    header.push('content-length', String(body.length));
    if (body.length > largestKeptBytes) header.push('connection', 'close');
    response.writeHead(status, header).end(body);
    return undefined;
  }
  response.writeHead(status, header);
  return sendPieces(response, body);
}

/**
 * A larger answer is the last on its connection. Node stops its parser when a request comes while an answer before it still waits for
 * the socket, and over TLS then takes the body that follows for a malformed message (HPE_PAUSED): a good request would get a bare 400.
 */
const largestKeptBytes = 256 * 1024;

const noHeaders: Readonly<Record<string, string>> = {};

/** Nobody is there to take it: a stream is told, so that it lets go of what it holds. */
function abandon(body: Answer['body']): undefined {
  if (typeof body === 'object' && Symbol.asyncIterator in body) endQuietly(body[Symbol.asyncIterator]());
}

function endQuietly(iterator: AsyncIterator<unknown>): void {
  void Promise.resolve(iterator.return?.()).catch(() => undefined);
}

async function sendPieces(response: ServerResponse, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  response.flushHeaders();
  const gone = new Promise<'gone'>((resolve) => response.once('close', () => resolve('gone')));
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), gone]);
      if (next === 'gone' || next.done === true) break;
      if (!response.write(next.value)) await Promise.race([drained(response), gone]);
    }
    response.end();
  } catch {
    // The header is out: cutting the connection is the only way left to say that the answer is not whole.
    response.destroy();
  } finally {
    endQuietly(iterator);
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
  });
}
