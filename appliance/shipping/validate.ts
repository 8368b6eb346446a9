// Checks of the destinations at a start: their files and secrets are there and fit together. Receivers may be down.
import type { Destination } from '../../core/config/shipping.ts';
import { authorizationOf, tlsOptions } from './receivers/tls.ts';
import { ReceiverError } from './receivers/receiver.ts';
import { StartRefused } from '../start-refused.ts';

/** Throws StartRefused: destination, field and fix in one line, and never a secret. */
export function requireUsable(destinations: readonly Destination[]): void {
  for (const destination of destinations) {
    try {
      tlsOptions(destination);
      authorizationOf(destination);
    } catch (error) {
      if (error instanceof ReceiverError) throw new StartRefused(`shipping: ${error.message}`);
      throw error;
    }
  }
}
