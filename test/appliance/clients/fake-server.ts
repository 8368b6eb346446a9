// A server on the loopback address that answers as a test says: proxies, busy and sealed appliances.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Asked = { readonly method: string; readonly path: string; readonly headers: IncomingMessage['headers']; readonly body: string };
export type Said = { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

export type FakeServer = {
  readonly url: string;
  /** the requests so far */
  readonly asked: readonly Asked[];
  close(): void;
};

/** `say` gets the number of the request, from 0. 'hang' never answers; 'cut' ends the connection. Over TLS with an `identity`. */
export async function startFakeServer(
  say: (index: number, asked: Asked) => Said | 'hang' | 'cut',
  identity?: { readonly key: string; readonly cert: string },
): Promise<FakeServer> {
  const asked: Asked[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    const one = { method, path: url, headers, body: await text(request) };
    asked.push(one);
    const said = say(asked.length - 1, one);
    if (said === 'hang') return;
    if (said === 'cut') return void request.socket.destroy();
    response.writeHead(said.status, said.headers).end(said.body);
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => void answer(request, response);
  const server = identity === undefined ? createServer(listener) : createTlsServer(identity, listener);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `${identity === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A refusal in the form of the appliance. */
export function problem(status: number, code: string, headers: Record<string, string> = {}): Said {
  const body = { type: `urn:keystore:error:${code}`, title: code, status, code, 'request-id': 'r-1', errors: [{ 'error-message': code }] };
  return { status, headers: { 'content-type': 'application/problem+json', ...headers }, body: JSON.stringify(body) };
}

export function json(body: unknown, status = 200): Said {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
