// Recognises the administrator at the machine: a program of root or of the user of the service that is connected from the machine itself.
// The kernel tells the owner of the socket at the other end; these two can read the appliance's files and end it anyway.
import type { IncomingMessage } from 'node:http';
import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { parseAddress, type Address } from '../../core/base/addresses.ts';
import { isNamedByProxy } from '../../core/http/listener/client-address.ts';

/** Tells whether a request is sent by the administrator of the machine itself, and not passed on by a proxy. */
export function isOfAdministrator(request: IncomingMessage): boolean {
  const { remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 } = request.socket;
  const [client, server] = [parseAddress(remoteAddress), parseAddress(localAddress)];
  if (client === undefined || server === undefined || isNamedByProxy(request)) return false;
  // A program of this machine that connects to one of its addresses has that one itself.
  if (!isLoopback(client) && client.value !== server.value) return false;
  const owner = ownerOf([client, remotePort], [server, localPort]);
  return owner !== undefined && (owner === 0 || owner === process.getuid?.());
}

function isLoopback({ bits, value }: Address): boolean {
  return bits === 32 ? value >> 24n === 127n : value === 1n;
}

/** TCP_ESTABLISHED */
const established = '01';

type Endpoint = readonly [address: Address, port: number];

/** The user whose TCP socket is connected from `own` to `other`, by number; undefined when no socket of this machine is (proc_net(5)). */
function ownerOf(own: Endpoint, other: Endpoint): number | undefined {
  for (const [table, words] of [
    ['tcp', 1],
    ['tcp6', 4],
  ] as const) {
    const [local, remote] = [formatEndpoint(own, words), formatEndpoint(other, words)];
    if (local === undefined || remote === undefined) continue;
    for (const line of read(`/proc/self/net/${table}`).split('\n')) {
      const [, isLocal, isRemote, state, , , , user, , inode] = line.trim().split(/\s+/);
      // A socket that its program has closed has no owner, which the table writes as root.
      if (isLocal === local && isRemote === remote) return state === established && inode !== '0' ? Number(user) : undefined;
    }
  }
  return undefined;
}

/** As the table has it: words of 32 bits as the machine reads them. An IPv4 address has a form in the table of IPv6 as well. */
function formatEndpoint([{ bits, value }, port]: Endpoint, words: 1 | 4): string | undefined {
  if (bits === 128 && words === 1) return undefined;
  const whole = bits === 32 && words === 4 ? (0xffffn << 32n) | value : value;
  const octets = Buffer.from(whole.toString(16).padStart(8 * words, '0'), 'hex');
  if (endianness() === 'LE') octets.swap32();
  return `${octets.toString('hex').toUpperCase()}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Reads a table of the kernel; empty if it does not exist: without IPv6, or on another system. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
