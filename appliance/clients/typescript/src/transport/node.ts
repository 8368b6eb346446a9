// Sends by node:https. Node's own fetch takes a CA only for the whole process (NODE_EXTRA_CA_CERTS, tls.setDefaultCACertificates) or from
// the package undici; a client that trusts one CA and nothing else needs an agent of its own.
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { NotSentError, type Transport, type TransportRequest } from './transport.ts';

export type NodeTransportOptions = {
  /** PEM; no other CA is trusted */
  readonly ca: string;
  /** the longest time until a connection stands, TLS included */
  readonly connectTimeoutMs: number;
};

/** Keeps connections open between requests. */
export function nodeTransport({ ca, connectTimeoutMs }: NodeTransportOptions): Transport {
  const agents = { 'https:': new HttpsAgent({ keepAlive: true, ca }), 'http:': new HttpAgent({ keepAlive: true }) };
  return {
    send: ({ url, method, headers, body, signal }: TransportRequest) =>
      new Promise((resolve, reject) => {
        const { protocol } = new URL(url);
        const length = body === undefined ? {} : { 'content-length': String(body.length) };
        const options = { method, signal, headers: { ...headers, ...length } };
        const request =
          protocol === 'http:'
            ? httpRequest(url, { ...options, agent: agents['http:'] })
            : httpsRequest(url, { ...options, agent: agents['https:'] });
        limitConnecting(request, protocol, connectTimeoutMs);
        const mayBeSent = watchSending(request, protocol);
        request.on('error', (error) => reject(mayBeSent() ? error : new NotSentError(error)));
        request.on('response', (response) => resolve(answerOf(response)));
        request.end(body);
      }),
    close() {
      agents['https:'].destroy();
      agents['http:'].destroy();
    },
  };
}

function answerOf(response: IncomingMessage): Awaited<ReturnType<Transport['send']>> {
  const header = (name: string): string | undefined => {
    const value = response.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
  return { status: response.statusCode ?? 0, header, body: response };
}

/** Nothing is written before the connection stands, TLS included; on one that is kept, at once. */
function watchSending(request: ClientRequest, protocol: string): () => boolean {
  let mayBeSent = false;
  request.once('socket', (socket) => {
    // A kept connection would gather a listener a request.
    mayBeSent = !socket.connecting;
    if (mayBeSent) return;
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      mayBeSent = true;
    });
  });
  return () => mayBeSent;
}

/** An address that drops packets would take minutes. */
function limitConnecting(request: ClientRequest, protocol: string, connectTimeoutMs: number): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const late = Object.assign(new Error(`no connection within ${connectTimeoutMs} ms`), { code: 'ETIMEDOUT' });
    const timer = setTimeout(() => request.destroy(late), connectTimeoutMs);
    const stop = (): void => clearTimeout(timer);
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', stop);
    socket.once('close', stop);
  });
}
