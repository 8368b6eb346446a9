// Reads a request body, up to a limit that holds for chunked bodies and for a wrong Content-Length too.
import type { IncomingMessage } from 'node:http';

/** Why there is no body: over the limit, larger than unauthenticated callers may send, or no memory for it in time. */
export type NoBody = 'too-large' | 'untrusted' | 'no-room';

/** A body, or the reason why there is none. */
export type Body = Uint8Array | NoBody;

/** Octets kept in memory for a caller without a valid token: thousands of connections must not exhaust it. */
export const untrustedBytes = 64 * 1024;

/** Called once, for a body that is or may become larger than that. Calls `decide`, at once or later, with the refusal if there is one. */
export type Admit = (octets: number, decide: (refusal: NoBody | undefined) => void) => void;

const empty = new Uint8Array(0);

/**
 * Calls `done` once with the whole body, or as soon as it is known that there will be none; never for a client that disconnects
 * before. `admit` is called before more than `untrustedBytes` are kept, and reading waits for its decision. The rest
 * of a refused body is read and dropped (by node, after the answer), so that clients that send everything before they read get
 * the answer; the listener's request timeout limits that.
 */
export function readBody(request: IncomingMessage, limitBytes: number, admit: Admit, done: (body: Body) => void): void {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (length === undefined && coding === undefined) return done(empty);
  // Without a listener, a client that disconnects would end the process.
  request.on('error', () => undefined);
  const declared = Number(length ?? 0);
  if (declared > limitBytes) return done('too-large');
  if (declared <= untrustedBytes) return collectChunks(request, limitBytes, admit, done);
  admit(declared, (refusal) => {
    if (refusal !== undefined) return done(refusal);
    collect(request, Buffer.allocUnsafeSlow(declared), done);
  });
}

/** Copies each chunk as it arrives: joining a large body at its end would block the event loop. */
function collect(request: IncomingMessage, whole: Buffer, done: (body: Body) => void): void {
  let at = 0;
  request.on('data', (chunk: Buffer) => {
    whole.set(chunk, at);
    at += chunk.length;
  });
  request.on('end', () => done(whole));
}

/** A body that is small or of unknown length. When it gets large, it is admitted with the largest size it may reach. */
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
