// Writes an answer to the node response: exact Content-Length, no caching unless the answer says otherwise, one write for header and body.
import type { ServerResponse } from 'node:http';

/** An answer. Without `body` it has no content. */
export type Answer = {
  readonly status: number;
  readonly mediaType?: string;
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
  /** document of the body, as on the wire, where the exchange makes an answer of its own from it: the body is then made only if it is read */
  readonly document?: unknown;
  /** a list becomes one header line per item */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** runs between the record of the answer and its sending */
  readonly last?: () => Promise<void>;
};

/**
 * Sent with every answer over TLS (RFC 6797): a browser that once connected with a trusted certificate uses only HTTPS for a year. It
 * applies to all ports of the host and not to its subdomains. Browsers ignore it for IP addresses and after a certificate
 * warning.
 */
export const transportSecurity = ['strict-transport-security', 'max-age=31536000'] as const;

/**
 * Sends an answer. HEAD gets the header of the GET (node drops the body). A disconnected client is not an error. Resolves, for streams
 * and large answers only, when the last piece was sent.
 */
export function sendAnswer(response: ServerResponse, requestId: string, answer: Answer): Promise<void> | undefined {
  if (response.destroyed || response.headersSent) return abandon(answer.body);
  // Node writes a flat list of names and values fastest.
  const header = ['x-content-type-options', 'nosniff', 'request-id', requestId];
  if (isOverTls(response)) header.push(...transportSecurity);
  if (answer.headers?.['cache-control'] === undefined) header.push('cache-control', 'no-store');
  for (const [name, value] of Object.entries(answer.headers ?? noHeaders)) {
    if (typeof value === 'string') header.push(name, value);
    else for (const line of value) header.push(name, line);
  }
  const { body, status } = answer;
  if (body === undefined) {
    if (status !== 204 && status !== 304) header.push('content-length', '0');
    response.writeHead(status, header).end();
    return undefined;
  }
  if (answer.mediaType !== undefined) header.push('content-type', answer.mediaType);
  if (typeof body === 'string') {
    const bytes = Buffer.byteLength(body);
    if (bytes > largestWholeBytes)
      return sendCut(response.writeHead(status, [...header, 'content-length', String(bytes)]), Buffer.from(body));
    header.push('content-length', String(bytes));
    // One octet per character is ASCII, which node encodes faster as Latin-1.
    response.writeHead(status, header).end(body, bytes === body.length ? 'latin1' : 'utf8');
    return undefined;
  }
  if (body instanceof Uint8Array) {
    header.push('content-length', String(body.length));
    response.writeHead(status, header);
    if (body.length > largestWholeBytes) return sendCut(response, body);
    response.end(body);
    return undefined;
  }
  response.writeHead(status, header);
  return sendPieces(response, body);
}

/** RFC 6797 section 7.2: the header is for answers over TLS alone. */
function isOverTls({ socket }: ServerResponse): boolean {
  return socket !== null && 'encrypted' in socket;
}

/**
 * A larger answer goes out in pieces, each when the one before has left: TLS would keep an encrypted copy of the whole for a peer that reads
 * slowly. A piece is smaller than what a socket takes at once, or node would pause its parser for a request that arrives right after the
 * answer, and over TLS take the body that follows for a malformed message (HPE_PAUSED).
 */
const largestWholeBytes = 32 * 1024;

const noHeaders: Readonly<Record<string, string>> = {};

/** Ends a stream after the client has disconnected, so that it releases its resources. */
function abandon(body: Answer['body']): undefined {
  if (typeof body === 'object' && Symbol.asyncIterator in body) endQuietly(body[Symbol.asyncIterator]());
}

function endQuietly(iterator: AsyncIterator<unknown>): void {
  void Promise.resolve(iterator.return?.()).catch(() => undefined);
}

async function sendCut(response: ServerResponse, body: Uint8Array): Promise<void> {
  for (let at = 0; at < body.length && response.req.method !== 'HEAD'; at += largestWholeBytes) {
    const isGone = await new Promise<unknown>((left) => response.write(body.subarray(at, at + largestWholeBytes), left));
    if (isGone instanceof Error) return;
  }
  response.end();
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
    // The header was sent: only a closed connection can still show that the answer is incomplete.
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
