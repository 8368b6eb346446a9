// The network between one appliance and etcd: TCP relays that can be cut, without any end being told.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export type Network = {
  /** Where the appliance finds the members of etcd, in the order given. */
  readonly urls: readonly string[];
  /** Nothing passes any more, in either direction; connections stay open, and new ones get no answer. */
  cut(): void;
  heal(): void;
  close(): void;
};

/** A relay in front of each URL. */
export async function relaysTo(urls: readonly string[]): Promise<Network> {
  let isCut = false;
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  const serve = (port: number): Server =>
    createServer((near) => {
      const far = connect(port, '127.0.0.1');
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(from);
        from.on('data', (octets) => void to.write(octets));
        from.on('error', () => undefined);
        from.on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
        if (isCut) from.pause();
      }
    });
  for (const url of urls) {
    const server = serve(Number(new URL(url).port)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
  }
  return {
    urls: servers.map(
      (server, index) => `${new URL(urls[index] ?? '').protocol}//127.0.0.1:${(server.address() as { readonly port: number }).port}`,
    ),
    cut() {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    heal() {
      isCut = false;
      for (const socket of sockets) socket.resume();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) server.close();
    },
  };
}
