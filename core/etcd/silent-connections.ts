// Ends connections on which nothing arrives. The gRPC library waits forever for a server that ends between accepting a connection and its
// handshake, if the reset is lost too: an attempt has no deadline, and keepalive begins only with an established connection.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Number of silent looks: several times as long as a living server takes for its next octet, keepalive at the latest. */
const mostSilentLooks = 6;

/** Watches all connections that this process makes from now on, which must all be to etcd. Returns a function that stops the watch. */
export function endSilentConnections({ lookEveryMs = 1_000 } = {}): () => void {
  const watched = new Map<Socket, { bytes: number; looks: number }>();
  const onSocket = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    watched.set(socket, { bytes: 0, looks: 0 });
    socket.once('close', () => watched.delete(socket));
  };
  // Counted in looks: a process that was stopped has not read meanwhile what arrived.
  const timer = setInterval(() => {
    for (const [socket, seen] of watched) {
      if (socket.bytesRead !== seen.bytes) Object.assign(seen, { bytes: socket.bytesRead, looks: 0 });
      else if (++seen.looks >= mostSilentLooks) socket.destroy(new Error('nothing arrives'));
    }
  }, lookEveryMs).unref();
  subscribe('net.client.socket', onSocket);
  return () => {
    clearInterval(timer);
    unsubscribe('net.client.socket', onSocket);
  };
}
