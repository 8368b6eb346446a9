// A server that accepts a connection and says nothing on it, as one that ends before the handshake while the network loses its reset.
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EtcdClient } from '../../../core/etcd/client.ts';
import type { EtcdError } from '../../../core/etcd/outcome.ts';
import { endSilentConnections } from '../../../core/etcd/silent-connections.ts';
import { status } from '../../../core/etcd/status.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

/** Less than what comes in between on a connection that is kept. */
const lookEveryMs = 450;

const path = temporaryDirectory();
const sockets: Socket[] = [];
let identity: { readonly key: string; readonly cert: string };
let end: () => void;
const closing: (() => void)[] = [];

beforeAll(() => {
  identity = selfSignedIdentity(path());
  end = endSilentConnections({ lookEveryMs });
});
afterAll(() => {
  end();
  for (const close of closing) close();
  for (const socket of sockets) socket.destroy();
});

const portOf = async (server: Server): Promise<number> => {
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  closing.push(() => server.close());
  return (server.address() as { port: number }).port;
};

test('the connection is ended and the next one is used; one on which nothing but keepalive is sent stays', async () => {
  const answering = createSecureServer(identity);
  answering.on('stream', (stream: ServerHttp2Stream) =>
    stream.respond({ 'content-type': 'application/grpc', 'grpc-status': String(status.UNIMPLEMENTED) }, { endStream: true }),
  );
  const to = await portOf(answering);
  const accepted: Socket[] = [];
  const port = await portOf(
    createServer((socket) => {
      accepted.push(socket.on('error', () => undefined));
      sockets.push(socket);
      if (accepted.length === 1) {
        socket.resume();
        return;
      }
      const onward = connect(to, '127.0.0.1').on('error', () => undefined);
      sockets.push(onward);
      socket.pipe(onward).pipe(socket);
    }),
  );
  const endpoint = `https://127.0.0.1:${port}`;
  const [key, certificate] = [Buffer.from(identity.key), Buffer.from(identity.cert)];
  const client = new EtcdClient({ endpoints: [endpoint], tls: { ca: certificate, certificate, key }, nowMs: () => performance.now() });
  closing.push(() => client.close());
  const answer = (): Promise<unknown> =>
    client.status(endpoint, 500).then(
      () => undefined,
      (error: EtcdError) => error.code,
    );
  expect(await answer()).toBe(status.DEADLINE_EXCEEDED);
  await expect.poll(answer, { timeout: 20_000 }).toBe(status.UNIMPLEMENTED);
  expect(accepted).toHaveLength(2);
  await setTimeout(lookEveryMs * 9);
  expect(await answer()).toBe(status.UNIMPLEMENTED);
  expect(accepted).toHaveLength(2);
});
