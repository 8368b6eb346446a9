// Listening sockets that the service manager has opened for us (socket activation, sd_listen_fds(3)): while we start again, callers wait
// in its queue instead of being refused.
import { lookup } from 'node:dns/promises';
import { Socket, SocketAddress, type AddressInfo } from 'node:net';
import type { Address, Configuration } from '../core/config.ts';
import { StartRefused } from './start-refused.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What `FileDescriptorName=` of the unit is, by the field of the configuration that the socket stands for. */
const names = { listen: 'management', estListen: 'est' } as const;
type Field = keyof typeof names;

/** Descriptors by the field of the configuration. */
export type HandedSockets = Readonly<Partial<Record<Field, number>>>;

/** Standard input, output, error, and the channel to the supervisor come before them. */
const firstOfWorker = 4;

/** The sockets that this process was handed. */
export function findHandedSockets(environment: Environment = process.env): HandedSockets {
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
  // Never closed: it is the one that workers inherit.
  const handed = new Socket({ fd: descriptor, readable: false, writable: false }).address() as Partial<AddressInfo>;
  const asked = await lookup(host).catch(() => undefined);
  if (port === handed.port && handed.address !== undefined && asked !== undefined && plain(asked.address) === plain(handed.address)) return;
  throw new StartRefused(
    `${option} is port ${port} of ${host}, but systemd has opened port ${handed.port} of ${handed.address}: ` +
      'give its socket unit the same address (ListenStream=), or disable that unit',
  );
}

/** sd_listen_fds(3): descriptors from 3 on, named in order by LISTEN_FDNAMES; undefined without one of that name. */
export function findDescriptor(environment: Environment, name: string): number | undefined {
  if (environment['LISTEN_PID'] !== String(process.pid)) return undefined;
  const index = (environment['LISTEN_FDNAMES'] ?? '').split(':').indexOf(name);
  return index < 0 ? undefined : index + 3;
}

/** An address as it is written shortest. */
function plain(address: string): string {
  return new SocketAddress({ address, family: address.includes(':') ? 'ipv6' : 'ipv4' }).address;
}
