// Recognises the administrator at the machine: a program of root or of the user of the service that is connected from the machine itself.
// The kernel tells the owner of the socket at the other end; these two can read the appliance's files and end it anyway.
import type { IncomingMessage } from 'node:http';
import { parseAddress, type Address } from '../../core/base/addresses.ts';
import { isNamedByProxy } from '../../core/http/listener/client-address.ts';
import { SocketOwners } from './socket-owners.ts';

const owners = new SocketOwners();

/** Tells whether a request is sent by the administrator of the machine itself, and not passed on by a proxy. */
export async function isOfAdministrator(request: IncomingMessage): Promise<boolean> {
  const { remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 } = request.socket;
  const [client, server] = [parseAddress(remoteAddress), parseAddress(localAddress)];
  if (client === undefined || server === undefined || isNamedByProxy(request)) return false;
  // A program of this machine that connects to one of its addresses has that one itself.
  if (!isLoopback(client) && client.value !== server.value) return false;
  const owner = await owners.ownerOf([client, remotePort], [server, localPort]);
  return owner !== undefined && (owner === 0 || owner === process.getuid?.());
}

function isLoopback({ bits, value }: Address): boolean {
  return bits === 32 ? value >> 24n === 127n : value === 1n;
}
