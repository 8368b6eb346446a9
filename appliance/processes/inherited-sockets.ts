// Listening sockets from the service manager (socket activation, sd_listen_fds(3)): during a restart, callers wait in its queue and are
// not refused.
import { lookup } from 'node:dns/promises';
import { Socket, SocketAddress, type AddressInfo } from 'node:net';
import type { Address, Configuration } from '../../core/config/config.ts';
import { StartRefused } from '../start-refused.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** `FileDescriptorName=` of the unit, by the field of the configuration that the socket replaces. */
const names = { listen: 'management', estListen: 'est' } as const;
type Field = keyof typeof names;

const known: ReadonlySet<string> = new Set([...Object.values(names), 'notify']);

/** Descriptors by the field of the configuration. */
export type HandedSockets = Readonly<Partial<Record<Field, number | undefined>>>;

/** After standard input, output, error, and the channel to the supervisor. */
const firstOfWorker = 4;

/** The sockets of this process. Throws StartRefused for a socket that nothing would ever accept from. */
export function findHandedSockets(environment: Environment = process.env): HandedSockets {
  for (const [index, name] of handedNames(environment).entries()) {
    if (!known.has(name))
      throw new StartRefused(
        `systemd has handed over a descriptor named ${name}: give its socket unit FileDescriptorName=management or est, or disable that unit`,
      );
    if (findDescriptor(environment, name) !== index + 3)
      throw new StartRefused(`systemd has handed over more than one socket named ${name}: its socket unit may have one ListenStream= only`);
  }
  const found = Object.entries(names).map(([field, name]) => [field, findDescriptor(environment, name)] as const);
  return Object.fromEntries(found.filter(([, descriptor]) => descriptor !== undefined));
}

/** `stdio` of a worker that inherits them, and their descriptors there. The supervisor keeps its own for later workers. */
export function handOn({ listen, estListen }: Configuration): {
  readonly stdio: (number | 'ipc' | 'inherit')[];
  readonly sockets: HandedSockets;
} {
  const handed = Object.entries({ listen, estListen }).flatMap(([field, { descriptor }]) =>
    descriptor === undefined ? [] : [[field, descriptor] as const],
  );
  return {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc', ...handed.map(([, descriptor]) => descriptor)],
    sockets: Object.fromEntries(handed.map(([field], index) => [field, firstOfWorker + index])),
  };
}

/** The configuration of a process that has these sockets. */
export function listenOn(configuration: Configuration, sockets: HandedSockets): Configuration {
  const withSocket = (field: Field): Address => {
    const descriptor = sockets[field];
    return descriptor === undefined ? configuration[field] : { ...configuration[field], descriptor };
  };
  return { ...configuration, listen: withSocket('listen'), estListen: withSocket('estListen') };
}

/**
 * Throws StartRefused when the socket behind `descriptor` has another address than the option, from which URLs and certificates are made.
 */
export async function requireSameAddress(option: string, { host, port }: Address, descriptor: number): Promise<void> {
  const handed = findAddress(descriptor);
  if (handed === undefined)
    throw new StartRefused(
      `what systemd has handed over for ${option} is not a TCP socket that listens: ` +
        'its socket unit needs ListenStream= with an address and a port, and Accept=no',
    );
  const asked = await lookup(host, { all: true }).catch(() => []);
  if (port === handed.port && asked.some(({ address }) => plain(address) === plain(handed.address))) return;
  throw new StartRefused(
    `${option} is port ${port} of ${host}, but systemd has opened port ${handed.port} of ${handed.address}: ` +
      'give its socket unit the same address (ListenStream=), or disable that unit',
  );
}

/** The address of a listening socket; undefined for any other descriptor. */
function findAddress(descriptor: number): { readonly address: string; readonly port: number } | undefined {
  try {
    // Never closed: workers inherit it.
    const socket = new Socket({ fd: descriptor, readable: false, writable: false });
    const { address, port } = socket.address() as Partial<AddressInfo>;
    // A connected socket does not listen.
    return address === undefined || port === undefined || socket.remoteAddress !== undefined ? undefined : { address, port };
  } catch {
    // A file, a datagram socket, or a closed descriptor.
    return undefined;
  }
}

/** sd_listen_fds(3): the descriptor of that name; undefined without one. */
export function findDescriptor(environment: Environment, name: string): number | undefined {
  const index = handedNames(environment).indexOf(name);
  return index < 0 ? undefined : index + 3;
}

/** Names of the descriptors from 3 on, in order, as sd_listen_fds_with_names(3) has them. */
function handedNames(environment: Environment): readonly string[] {
  if (environment['LISTEN_PID'] !== String(process.pid)) return [];
  const given = (environment['LISTEN_FDNAMES'] ?? '').split(':');
  const count = environment['LISTEN_FDS'] ?? '';
  return Array.from({ length: /^\d{1,4}$/.test(count) ? Number(count) : 0 }, (_, index) => given[index] || 'unknown');
}

/** An address in its shortest form. */
function plain(address: string): string {
  const [withoutZone = ''] = address.split('%');
  return new SocketAddress({ address: withoutZone, family: address.includes(':') ? 'ipv6' : 'ipv4' }).address;
}
