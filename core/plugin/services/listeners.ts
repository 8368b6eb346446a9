// Plugins with a port of their own get its address, TLS identity and life cycle through this service.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../../base/context.ts';
import type { Address } from '../../config/config.ts';
import type { Listener, TlsIdentity } from '../../http/listener/listeners.ts';
import type { Answered, Replica } from '../../http/context/request-context.ts';
import { defineService } from '../service.ts';

/** Provided by the appliance. */
export const listenersService = defineService<Listeners>('listeners');

export const listenerNames = ['management', 'est'] as const;
export type ListenerName = (typeof listenerNames)[number];

/** The open listeners of a process. */
export type OpenListeners = ReadonlyMap<ListenerName, Listener>;

export type Listeners = {
  /** false in processes that do not serve, such as command-line tools: they must not open a port */
  readonly serving: boolean;
  /** address of the management listener; absent where it is not known */
  readonly management?: Address;
  /** address of the EST listener */
  readonly est: Address;
  /** host names and IP addresses by which the appliance is reached and which its certificates contain, the main one first */
  readonly hosts: readonly string[];
  /** base URL of the management API as others reach it now, `https://keystore.example:4646`; in a cluster it can be set for all meanwhile */
  readonly managementUrl: string;
  /** whether a person gave that URL, so that it leads to this service whichever appliance is there; absent: no */
  readonly isUrlGiven?: boolean | undefined;
  /** Called with every answer on such a port, for metrics. */
  readonly onAnswered?: ((answered: Answered) => void) | undefined;
  /** whether the appliance is sealed */
  sealed(): boolean;
  /** as in RequestServer: for answers on such a port */
  readonly replica?: Replica | undefined;
  /** as in RequestServer: for requests on such a port */
  readonly admit?: ((tenantId: string) => void) | undefined;
  /** Wraps the handler of such a port, to count the running requests. */
  readonly guard?: ((handler: (request: IncomingMessage, response: ServerResponse) => void) => typeof handler) | undefined;
  /** Called with such a listener once it is open, for metrics, and for who looks whether it serves. */
  readonly onOpen?: ((name: ListenerName, listener: Listener) => void) | undefined;
  identity(): TlsIdentity;
  /** PEM of the CA that callers trust for these listeners; absent where nothing is served */
  readonly ca?: () => string;
  /** Calls back after the identity was renewed; returns a function that ends this. */
  onIdentityChange(changed: (identity: TlsIdentity) => void): () => void;
  /** Calls back before a stop or seal, when listeners must accept no more connections. */
  readonly onRetire?: ((retired: () => void) => void) | undefined;
};

/** The part of it that a sealed process has. */
export type SealedListeners = Pick<Listeners, 'est'> & { readonly identity: TlsIdentity; readonly log: Log };
