// Creates the connection for the protocol of a receiver.
import { HttpConnection } from './http.ts';
import type { Connection, ReceiverParts } from './receiver.ts';
import { SyslogConnection } from './syslog.ts';

/** Does not connect yet. */
export function openConnection(parts: ReceiverParts): Connection {
  const { destination } = parts;
  return destination.protocol === 'syslog' ? new SyslogConnection(parts) : new HttpConnection(parts);
}
