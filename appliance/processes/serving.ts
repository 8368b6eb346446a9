// What a serving process does when its supervisor asks, sealed or not.
import type { Snapshot } from '../operations/metrics.ts';

export type Serving = {
  /** What this process has counted so far. */
  metrics(): Promise<Snapshot>;
  /** No use of a key begins any more, and those that run end; resolves when no key is left in this process or in its hosts. */
  seal(): Promise<void>;
  /** Takes no new connections from now on, on neither port; running requests go on. Resolves when its audit chain may be another's. */
  retire(): Promise<void>;
  /** One real round trip to every token; rejects when one is not fit. */
  examine(): Promise<void>;
  /** Takes no new requests, lets running ones finish (10 s at most), then closes everything. */
  stop(): Promise<void>;
};
