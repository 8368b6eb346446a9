// The operations of a serving process, sealed or not, that its supervisor requests.
import type { Socket } from 'node:net';
import type { OpenListeners, ListenerName } from '../../core/plugin/services/listeners.ts';
import type { HealthPart } from '../../core/base/context.ts';
import type { Snapshot } from '../monitoring/metrics/process.ts';

export type Serving = {
  /** Counts of this process so far. */
  metrics(): Promise<Snapshot>;
  /** Takes a connection as if a listener had accepted it; `dead` where that accepts none itself, `none` where there is no such listener. */
  take(listener: ListenerName, connection: Socket | undefined): 'taken' | 'none' | 'dead';
  /** Number of handshakes that a listener has completed; undefined where there is no such listener. */
  handshakes(listener: ListenerName): number | undefined;
  /** The parts of the appliance as this process sees them. */
  health(): readonly HealthPart[];
  /** Sessions of TLS are resumed with these keys, and no longer with the former ones. */
  renewTicketKeys(keys: Buffer): void;
  /** Publishes to all processes the commits of a killed one, which may not have done it itself. */
  showCommits(): Promise<void>;
  /** Refuses new uses of keys and ends the running ones; resolves when neither this process nor its HSM hosts hold a key. */
  seal(): Promise<void>;
  /** Accepts no new connections on either port; running requests go on. Resolves when another process may open the audit chain. */
  retire(): Promise<void>;
  /** One real round trip to every token; rejects when one is not fit. */
  examine(): Promise<void>;
  /** Accepts no new requests, lets running ones finish (10 s at most), then closes everything. */
  stop(): Promise<void>;
};

/** `take` of a process with these listeners. */
export function takeAt(listeners: OpenListeners): Serving['take'] {
  return (name, connection) => {
    const listener = listeners.get(name);
    if (listener?.isListening === true && connection !== undefined) {
      listener.take(connection);
      return 'taken';
    }
    connection?.destroy();
    return listener === undefined ? 'none' : 'dead';
  };
}
