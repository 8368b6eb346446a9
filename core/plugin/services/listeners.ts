// What the composition root gives to plugins that answer on a port of their own: where to listen and with which TLS identity.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Address } from '../../config/config.ts';
import type { TlsIdentity } from '../../http/listener/listeners.ts';
import type { Answered } from '../../http/context/request-context.ts';
import { defineService } from '../service.ts';

/** Provided by the appliance. */
export const listenersService = defineService<Listeners>('listeners');

export type Listeners = {
  /** false in processes that open the house without serving, such as command-line tools: nothing may be opened then */
  readonly serving: boolean;
  /** where the management listener is opened; absent where that is not known */
  readonly management?: Address;
  /** where the EST listener is opened */
  readonly est: Address;
  /** host names and IP addresses under which the appliance is reached and which its certificates carry, the main one first */
  readonly hosts: readonly string[];
  /** base URL of the management API as others reach it, `https://keystore.example:4646` */
  readonly managementUrl: string;
  /** Told of every answer on such a port, for metrics. */
  readonly onAnswered?: ((answered: Answered) => void) | undefined;
  /** whether the appliance waits for its PIN */
  sealed(): boolean;
  /** The handler of such a port, with its requests counted among those that run. */
  readonly guard?: ((handler: (request: IncomingMessage, response: ServerResponse) => void) => typeof handler) | undefined;
  identity(): TlsIdentity;
  /** Calls back whenever the identity was renewed; answers how to stop that. */
  onIdentityChange(changed: (identity: TlsIdentity) => void): () => void;
  /** Calls back when no listener is to take new connections any more, which is before anything is stopped. */
  readonly onRetire?: ((retired: () => void) => void) | undefined;
};

/** The part of it that a sealed process has. */
export type SealedListeners = Pick<Listeners, 'est'> & { readonly identity: TlsIdentity };
