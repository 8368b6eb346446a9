// The network between one appliance and etcd: TCP relays that can be cut, without any end being told.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

type Way = 'there' | 'back';

export type Network = {
  /** Where the appliance finds the members of etcd, in the order given. */
  readonly urls: readonly string[];
  /** Nothing passes any more, in either direction or in one: `there` is to etcd. Connections stay open, and new ones get no answer. */
  cut(way?: Way | 'both'): void;
  heal(): void;
  /** From now on every piece waits for so long. */
  slowDown(ms: number): void;
  close(): void;
};

/** A relay in front of each URL. */
export async function relaysTo(urls: readonly string[]): Promise<Network> {
  let cutWays: readonly Way[] = [];
  let slowMs = 0;
  /** by the way of what they receive */
  const sockets = new Map<Socket, Way>();
  const servers: Server[] = [];
  const serve = (port: number): Server =>
    createServer((near) => {
      const far = connect(port, '127.0.0.1');
      for (const [from, to, way] of [
        [near, far, 'there'],
        [far, near, 'back'],
      ] as const) {
        sockets.set(from, way);
        let before: Promise<unknown> = Promise.resolve();
        from.on('data', (octets) => {
          before = before.then(() => (slowMs === 0 ? undefined : setTimeout(slowMs))).then(() => to.write(octets));
        });
        from.on('error', () => undefined);
        from.on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
        if (cutWays.includes(way)) from.pause();
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
    cut(way = 'both') {
      cutWays = way === 'both' ? ['there', 'back'] : [way];
      for (const [socket, itsWay] of sockets) if (cutWays.includes(itsWay)) socket.pause();
    },
    heal() {
      cutWays = [];
      for (const socket of sockets.keys()) socket.resume();
    },
    slowDown(ms) {
      slowMs = ms;
    },
    close() {
      for (const socket of sockets.keys()) socket.destroy();
      for (const server of servers) server.close();
    },
  };
}
