// Client address of a connection and of a request: that of the socket, or the one named by a trusted proxy (config/proxies.ts).
// No other code may read the address of a client from a socket.
import type { IncomingMessage } from 'node:http';
import { type Socket, SocketAddress } from 'node:net';
import { isWithin } from '../../base/addresses.ts';
import type { Proxies } from '../../config/proxies.ts';

/** client named by a proxy, by accepted socket */
const namedByConnection = new WeakMap<Socket, string>();
/** client named by a proxy for one request */
const namedByRequest = new WeakMap<IncomingMessage, string>();

/** Address of the client of a connection, before and after its handshake; empty for a closed socket. */
export function peerAddressOf(socket: Socket): string {
  const accepted = acceptedSocketOf(socket);
  return namedByConnection.get(accepted) ?? plainAddress(accepted.remoteAddress ?? '');
}

/** The address of the client of a request. */
export function clientAddressOf(request: IncomingMessage): string {
  return namedByRequest.get(request) ?? peerAddressOf(request.socket);
}

/** Tells whether a trusted proxy named the client. */
export function isNamedByProxy(request: IncomingMessage): boolean {
  return namedByRequest.has(request) || namedByConnection.has(acceptedSocketOf(request.socket));
}

/** accepted socket by socket of TLS, if other code is between them */
const acceptedBelow = new WeakMap<Socket, Socket>();

/** The socket that the listener accepted, below that of TLS; node keeps it there. */
export function acceptedSocketOf(socket: Socket): Socket {
  return acceptedBelow.get(socket) ?? (socket as Socket & { readonly _parent?: Socket | null })._parent ?? socket;
}

/** Records the accepted socket below one of TLS, if node does not know it. */
export function noteAccepted(secured: Socket, accepted: Socket): void {
  acceptedBelow.set(secured, accepted);
}

/** Records the client of a connection, as named by a proxy. */
export function nameClient(accepted: Socket, address: string): void {
  namedByConnection.set(accepted, plainAddress(address));
}

/** Records the client of a request, as named by a trusted proxy that ends TLS; headers of other senders are ignored. */
export function noteForwarded(request: IncomingMessage, { forwarded, forwardedHeader }: Proxies): void {
  const from = peerAddressOf(request.socket);
  if (!isWithin(forwarded, from)) return;
  const header = request.headers[forwardedHeader];
  const hops = typeof header === 'string' ? header.split(',') : [];
  const read = forwardedHeader === 'forwarded' ? forOf : addressIn;
  let client = from;
  // From the end: the last address that is not a proxy. An unreadable entry counts as its proxy, because anyone may have written the entries
  // before it.
  while (isWithin(forwarded, client)) {
    const named = read(hops.pop() ?? '');
    if (named === undefined) break;
    client = named;
  }
  namedByRequest.set(request, client);
}

/** Node identifier in `for` of an element (RFC 7239 section 4). */
function forOf(element: string): string | undefined {
  const [, quoted, token] = /(?:^|;)\s*for\s*=\s*(?:"([^"\\]*)"|([^\s";]+))\s*(?:;|$)/i.exec(element) ?? [];
  return addressIn(quoted ?? token ?? '');
}

/** An address, with or without a port; one of IPv6 with a port is in brackets. */
function addressIn(text: string): string | undefined {
  const [, bracketed, four] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text.trim()) ?? [];
  const address = bracketed ?? four ?? text.trim();
  try {
    return plainAddress(new SocketAddress({ address, family: address.includes(':') ? 'ipv6' : 'ipv4' }).address);
  } catch {
    return undefined;
  }
}

/** Converts an IPv4-mapped address, of a socket for both families, to IPv4. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
