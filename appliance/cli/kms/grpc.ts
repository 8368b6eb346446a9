// Unary calls of gRPC over HTTP/2 without TLS, as a Unix socket has them: one message in, one message or a status out.
import { createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';

/** Status codes of gRPC. */
export const grpcStatus = {
  ok: 0,
  invalidArgument: 3,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** Ends a call with a status. The message is for the log of the client. */
export class CallFailed extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Answers a message; throws or rejects with CallFailed. */
export type Method = (message: Buffer) => Promise<Buffer>;

/** Octets before a message: whether it is compressed, and its length. */
const prefixOctets = 5;
const mostOctets = 65_536;
/** Longest text of a status: it is a header. */
const mostCharacters = 1_024;

/** A server with these methods, by their paths: `/package.Service/Method`. */
export function serverOf(methods: ReadonlyMap<string, Method>): Http2Server {
  const server = createServer();
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void answer(stream, headers, methods));
  server.on('sessionError', () => undefined);
  return server;
}

async function answer(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, methods: ReadonlyMap<string, Method>): Promise<void> {
  stream.on('error', () => undefined);
  let [status, text, message]: [number, string, Buffer | undefined] = [grpcStatus.ok, '', undefined];
  try {
    if (headers[':method'] !== 'POST' || headers['content-type']?.startsWith('application/grpc') !== true)
      throw new CallFailed(grpcStatus.unimplemented, 'this is a server of gRPC');
    const method = methods.get(headers[':path'] ?? '');
    if (method === undefined) throw new CallFailed(grpcStatus.unimplemented, `there is no method ${headers[':path'] ?? ''}`);
    message = await method(messageIn(await bodyOf(stream)));
  } catch (error) {
    [status, text] = error instanceof CallFailed ? [error.status, error.message] : [grpcStatus.internal, 'an unexpected error'];
  }
  if (stream.destroyed) return;
  const trailers = {
    'grpc-status': String(status),
    ...(text === '' ? {} : { 'grpc-message': encodeURIComponent(text.slice(0, mostCharacters)) }),
  };
  stream.once('wantTrailers', () => stream.sendTrailers(trailers));
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.end(message === undefined ? undefined : Buffer.concat([prefixOf(message), message]));
}

async function bodyOf(stream: ServerHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    // To leave the loop ends the stream, and nobody learns why; who goes on and on gets no answer.
    if (length > 16 * mostOctets) break;
    if (length <= mostOctets) chunks.push(chunk);
  }
  if (length > mostOctets) throw new CallFailed(grpcStatus.resourceExhausted, `a message has at most ${mostOctets} octets here`);
  return Buffer.concat(chunks);
}

function messageIn(body: Buffer): Buffer {
  if (body.length < prefixOctets || body.length !== prefixOctets + body.readUInt32BE(1))
    throw new CallFailed(grpcStatus.invalidArgument, 'the body is not one message');
  if (body[0] !== 0) throw new CallFailed(grpcStatus.unimplemented, 'messages are not compressed here');
  return body.subarray(prefixOctets);
}

function prefixOf(message: Buffer): Buffer {
  const prefix = Buffer.alloc(prefixOctets);
  prefix.writeUInt32BE(message.length, 1);
  return prefix;
}
