// Service for plugins with their own port: its address, TLS identity and life cycle.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../../base/context.ts';
import type { Address } from '../../config/config.ts';
import type { Listener, TlsIdentity } from '../../http/listener/listeners.ts';
import type { Answered, Replica } from '../../http/context/request-context.ts';
import { defineService } from '../service.ts';

/** Provided by the appliance. */
export const listenersService = defineService<Listeners>('listeners');

/** Title and protocol of every listener, by its name in metrics. */
export const listenerKinds = {
  management: { title: 'management', speaks: 'tls' },
  est: { title: 'EST', speaks: 'tls' },
  certificate: { title: 'certificate', speaks: 'tls' },
  enrolment: { title: 'enrolment', speaks: 'tls' },
  'enrolment-plain': { title: 'enrolment (HTTP)', speaks: 'http' },
  status: { title: 'status (HTTP)', speaks: 'http' },
  kmip: { title: 'KMIP', speaks: 'tls' },
} as const satisfies Record<string, { readonly title: string; readonly speaks: 'tls' | 'http' }>;
export type ListenerName = keyof typeof listenerKinds;
export const listenerNames = Object.keys(listenerKinds) as readonly ListenerName[];

/** A listener as metrics and checks from outside see it. `handshakes` of one without TLS: connections on which a request came. */
export type OpenListener = Pick<Listener, 'connections' | 'handshakes' | 'isListening' | 'take'>;

/** The open listeners of a process. */
export type OpenListeners = ReadonlyMap<ListenerName, OpenListener>;

export type Listeners = {
  /** false in processes that do not serve, such as command-line tools: they must not open a port */
  readonly serving: boolean;
  /** address of the management listener; absent if unknown */
  readonly management?: Address;
  /** address of the EST listener */
  readonly est: Address;
  /** address of the listener that asks for client certificates; absent: not configured */
  readonly certificate?: Address;
  /** ports of the listeners that plugins open, as far as they are configured; absent: none */
  readonly pluginPorts?: readonly number[];
  /** host names and IP addresses at which the appliance is reached, as in its certificates, the main one first */
  readonly hosts: readonly string[];
  /** present base URL of the management API, `https://keystore.example:4646`; in a cluster it can be changed for all at any time */
  readonly managementUrl: string;
  /** true if a person configured that URL, so that it leads to this service on any appliance; absent: false */
  readonly isUrlGiven?: boolean | undefined;
  /** called with every answer on such a port, for metrics */
  readonly onAnswered?: ((answered: Answered) => void) | undefined;
  /** Tells whether the appliance is sealed. */
  sealed(): boolean;
  /** as in RequestServer: for answers on such a port */
  readonly replica?: Replica | undefined;
  /** as in RequestServer: for requests on such a port */
  readonly admit?: ((tenantId: string) => void) | undefined;
  /** wraps the handler of such a port, to count the running requests */
  readonly guard?: ((handler: (request: IncomingMessage, response: ServerResponse) => void) => typeof handler) | undefined;
  /**
   * For such a port without HTTP: counts a request from its beginning until the returned function is called. Undefined: the appliance is sealed,
   * and the request must use nothing.
   */
  readonly begin?: (() => (() => void) | undefined) | undefined;
  /** called with such a listener once it is open, for metrics, and for the check that it serves */
  readonly onOpen?: ((name: ListenerName, listener: OpenListener) => void) | undefined;
  identity(): TlsIdentity;
  /** the part of an identity with an RSA key, made when it is missing or due; absent where nothing is served */
  readonly rsaIdentity?: () => Promise<NonNullable<TlsIdentity['rsa']>>;
  /** PEM of the CA that callers trust for these listeners; absent if nothing is served */
  readonly ca?: () => string;
  /** Calls back after the identity was renewed; returns a function that ends this. */
  onIdentityChange(changed: (identity: TlsIdentity) => void): () => void;
  /** calls back before a stop or seal, when listeners must accept no more connections */
  readonly onRetire?: ((retired: () => void) => void) | undefined;
};

/** Part of the service in a sealed process. */
export type SealedListeners = Pick<Listeners, 'est'> & { readonly identity: TlsIdentity; readonly log: Log };
