// Listening sockets that the service manager has opened for us (socket activation, sd_listen_fds(3)): while we start again, callers wait
// in its queue instead of being refused.
import { lookup } from 'node:dns/promises';
import { Socket, SocketAddress, type AddressInfo } from 'node:net';
import type { Address, Configuration } from '../../core/config/config.ts';
import { StartRefused } from '../state/start-refused.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What `FileDescriptorName=` of the unit is, by the field of the configuration that the socket stands for. */
const names = { listen: 'management', estListen: 'est' } as const;
type Field = keyof typeof names;

const known: ReadonlySet<string> = new Set([...Object.values(names), 'notify']);

/** Descriptors by the field of the configuration. */
export type HandedSockets = Readonly<Partial<Record<Field, number | undefined>>>;

/** Standard input, output, error, and the channel to the supervisor come before them. */
const firstOfWorker = 4;

/** The sockets that this process was handed. Throws StartRefused for one that would keep its callers waiting for ever. */
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

/** What a worker is spawned with to inherit them, and where it finds them. The supervisor keeps its own for the workers to come. */
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

/** Throws StartRefused when the socket behind `descriptor` listens elsewhere than the option says, whose URLs and certificates are told. */
export async function requireSameAddress(option: string, { host, port }: Address, descriptor: number): Promise<void> {
  const handed = findAddress(descriptor);
  if (handed === undefined)
    throw new StartRefused(
      `what systemd has handed over for ${option} is no TCP socket that listens: ` +
        'its socket unit needs ListenStream= with an address and a port, and Accept=no',
    );
  const asked = await lookup(host, { all: true }).catch(() => []);
  if (port === handed.port && asked.some(({ address }) => plain(address) === plain(handed.address))) return;
  throw new StartRefused(
    `${option} is port ${port} of ${host}, but systemd has opened port ${handed.port} of ${handed.address}: ` +
      'give its socket unit the same address (ListenStream=), or disable that unit',
  );
}

/** Where a socket listens; undefined for all else. */
function findAddress(descriptor: number): { readonly address: string; readonly port: number } | undefined {
  try {
    // Never closed: it is the one that workers inherit.
    const socket = new Socket({ fd: descriptor, readable: false, writable: false });
    const { address, port } = socket.address() as Partial<AddressInfo>;
    // A connection has another end.
    return address === undefined || port === undefined || socket.remoteAddress !== undefined ? undefined : { address, port };
  } catch {
    // A file, a datagram socket, or nothing at all.
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

/** An address as it is written shortest. */
function plain(address: string): string {
  const [withoutZone = ''] = address.split('%');
  return new SocketAddress({ address: withoutZone, family: address.includes(':') ? 'ipv6' : 'ipv4' }).address;
}
