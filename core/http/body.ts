// Reads a request body from the node request, up to a limit that neither chunks nor a false Content-Length get around.
import type { IncomingMessage } from 'node:http';

/** A body, or why there is none: over the limit, or larger than a stranger may send. */
export type Body = Uint8Array | 'too-large' | 'untrusted';

/** What is kept in memory for a caller who has not shown a token that works: thousands of connections must not fill it. */
export const untrustedBytes = 64 * 1024;

const empty = new Uint8Array(0);

/**
 * Calls `done` once with the whole body, or as soon as it is known that there will be none; a client that goes away in between is
 * never reported. `isTrusted` is asked once, for a body over `untrustedBytes`. What is left of a refused body is read and dropped
 * (by node, once the answer is out), so that clients that send everything before they listen see the answer; the listener's
 * request timeout bounds that.
 */
export function readBody(request: IncomingMessage, limitBytes: number, isTrusted: () => boolean, done: (body: Body) => void): void {
  const declared = request.headers['content-length'];
  if (declared === undefined && request.headers['transfer-encoding'] === undefined) return done(empty);
  let refused: Body | undefined = refusalOf(Number(declared ?? 0));
  if (refused !== undefined) return done(refused);
  let asked = Number(declared ?? 0) > untrustedBytes;
  // Filled piece by piece: to join the pieces of a large body at its end would hold up everybody else.
  const whole = asked ? Buffer.allocUnsafeSlow(Number(declared)) : undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;

  function refusalOf(size: number): Body | undefined {
    if (size > limitBytes) return 'too-large';
    return size > untrustedBytes && !isTrusted() ? 'untrusted' : undefined;
  }

  request.on('data', (chunk: Buffer) => {
    if (refused !== undefined) return;
    const at = bytes;
    bytes += chunk.length;
    if (bytes > limitBytes || (bytes > untrustedBytes && !asked)) {
      asked = true;
      refused = refusalOf(bytes);
    }
    if (refused !== undefined) {
      chunks.length = 0;
      done(refused);
    } else if (whole === undefined) chunks.push(chunk);
    else whole.set(chunk, at);
  });
  request.on('end', () => {
    if (refused === undefined) done(whole ?? (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
  });
  // Without a listener a client that breaks off would end the process.
  request.on('error', () => undefined);
}
