// Where a connection and a request come from: the address of the socket, or the one that a proxy has named which may (config/proxies.ts).
// Nothing else may ask a socket for the address of a client.
import type { IncomingMessage } from 'node:http';
import { type Socket, SocketAddress } from 'node:net';
import { isWithin } from '../../base/addresses.ts';
import type { Proxies } from '../../config/proxies.ts';

/** by accepted socket, the client that a proxy has named for it */
const namedByConnection = new WeakMap<Socket, string>();
/** the client that a proxy has named for one request */
const namedByRequest = new WeakMap<IncomingMessage, string>();

/** The address of the client of a connection, before and after its handshake; empty for a socket that has none any more. */
export function peerAddressOf(socket: Socket): string {
  const accepted = acceptedSocketOf(socket);
  return namedByConnection.get(accepted) ?? plainAddress(accepted.remoteAddress ?? '');
}

/** The address of the client of a request. */
export function clientAddressOf(request: IncomingMessage): string {
  return namedByRequest.get(request) ?? peerAddressOf(request.socket);
}

/** Whether a proxy stands between the client and us that is believed. */
export function isNamedByProxy(request: IncomingMessage): boolean {
  return namedByRequest.has(request) || namedByConnection.has(acceptedSocketOf(request.socket));
}

/** by socket of TLS, the accepted one below it, where other code stands between them */
const acceptedBelow = new WeakMap<Socket, Socket>();

/** The socket that the listener accepted, below that of TLS; node keeps it there. */
export function acceptedSocketOf(socket: Socket): Socket {
  return acceptedBelow.get(socket) ?? (socket as Socket & { readonly _parent?: Socket | null })._parent ?? socket;
}

/** Says which accepted socket is below one of TLS where node does not know it. */
export function noteAccepted(secured: Socket, accepted: Socket): void {
  acceptedBelow.set(secured, accepted);
}

/** Takes a proxy's word for where a connection comes from. */
export function nameClient(accepted: Socket, address: string): void {
  namedByConnection.set(accepted, plainAddress(address));
}

/** Takes the word of a proxy that ends TLS for where a request comes from; that of anybody else is not looked at. */
export function noteForwarded(request: IncomingMessage, { forwarded, forwardedHeader }: Proxies): void {
  const from = peerAddressOf(request.socket);
  if (!isWithin(forwarded, from)) return;
  const header = request.headers[forwardedHeader];
  const hops = typeof header === 'string' ? header.split(',') : [];
  const read = forwardedHeader === 'forwarded' ? forOf : addressIn;
  let client = from;
  // From the end: the last one that is no proxy. A proxy stands for what nobody names readably, since what is before that may be anybody's.
  while (isWithin(forwarded, client)) {
    const named = read(hops.pop() ?? '');
    if (named === undefined) break;
    client = named;
  }
  namedByRequest.set(request, client);
}

/** The node behind `for` of an element (RFC 7239 section 4). */
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

/** An IPv4 client of a socket that takes both families is one of IPv4. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
