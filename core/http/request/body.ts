// Reads a request body from the node request, up to a limit that neither chunks nor a false Content-Length get around.
import type { IncomingMessage } from 'node:http';

/** Why there is no body: over the limit, larger than a stranger may send, or no room for it for too long. */
export type NoBody = 'too-large' | 'untrusted' | 'no-room';

/** A body, or why there is none. */
export type Body = Uint8Array | NoBody;

/** What is kept in memory for a caller who has not shown a token that works: thousands of connections must not fill it. */
export const untrustedBytes = 64 * 1024;

/** Asked once, for a body that is or may become that large; answers, now or later, whether it may be kept, or why not. */
export type Admit = (octets: number, decide: (refusal: NoBody | undefined) => void) => void;

const empty = new Uint8Array(0);

/**
 * Calls `done` once with the whole body, or as soon as it is known that there will be none; a client that goes away in between is
 * never reported. `admit` is asked before more than `untrustedBytes` are kept, and nothing is read until it has answered. What is left
 * of a refused body is read and dropped (by node, once the answer is out), so that clients that send everything before they listen see
 * the answer; the listener's request timeout bounds that.
 */
export function readBody(request: IncomingMessage, limitBytes: number, admit: Admit, done: (body: Body) => void): void {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (length === undefined && coding === undefined) return done(empty);
  // Without a listener a client that breaks off would end the process.
  request.on('error', () => undefined);
  const declared = Number(length ?? 0);
  if (declared > limitBytes) return done('too-large');
  if (declared <= untrustedBytes) return collectChunks(request, limitBytes, admit, done);
  admit(declared, (refusal) => {
    if (refusal !== undefined) return done(refusal);
    collect(request, Buffer.allocUnsafeSlow(declared), done);
  });
}

/** Filled piece by piece: to join the pieces of a large body at its end would hold up everybody else. */
function collect(request: IncomingMessage, whole: Buffer, done: (body: Body) => void): void {
  let at = 0;
  request.on('data', (chunk: Buffer) => {
    whole.set(chunk, at);
    at += chunk.length;
  });
  request.on('end', () => done(whole));
}

/** A body that is small or of no announced length; once it is large it is admitted as one of the most that it may become. */
function collectChunks(request: IncomingMessage, limitBytes: number, admit: Admit, done: (body: Body) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isAsked = false;
  let isRefused = false;
  const refuse = (reason: NoBody): void => {
    isRefused = true;
    chunks.length = 0;
    done(reason);
  };
  request.on('data', (chunk: Buffer) => {
    if (isRefused) return;
    bytes += chunk.length;
    if (bytes > limitBytes) return refuse('too-large');
    chunks.push(chunk);
    if (bytes <= untrustedBytes || isAsked) return;
    isAsked = true;
    request.pause();
    admit(limitBytes, (refusal) => {
      if (refusal !== undefined) refuse(refusal);
      request.resume();
    });
  });
  request.on('end', () => {
    if (!isRefused) done(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
  });
}
