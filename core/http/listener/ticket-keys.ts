// The keys of TLS session tickets, which the workers share so that each resumes the sessions of all; never on a disk.
import { randomBytes } from 'node:crypto';

/** Octets of Node's ticket keys: name, HMAC key and AES key. */
const octets = 48;
/** Lifetime of keys: keys stolen from the memory of a worker open recorded TLS 1.2 sessions of one day only. */
const lastMs = 24 * 3_600_000;

/** Keys that change once a day, in hexadecimal. `tell` receives new keys, and returns false once no receiver is left. */
export function changingTicketKeys(tell: (keys: string) => boolean): { keys(): string } {
  const make = (): string => randomBytes(octets).toString('hex');
  let keys = make();
  const change = setInterval(() => {
    keys = make();
    if (!tell(keys)) clearInterval(change);
  }, lastMs).unref();
  return { keys: () => keys };
}
