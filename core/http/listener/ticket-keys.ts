// The keys of TLS session tickets, which the workers share so that each resumes the sessions of all; never on a disk.
import { randomBytes } from 'node:crypto';

/** As Node takes them: name, HMAC key and AES key. */
const octets = 48;
/** Keys that are stolen from the memory of a worker open recorded sessions of TLS 1.2, but of no other day. */
const lastMs = 24 * 3_600_000;

/** Keys that change once a day, in hexadecimal. `tell` gets each new ones, and says whether there is still anyone to be told. */
export function changingTicketKeys(tell: (keys: string) => boolean): { keys(): string } {
  const make = (): string => randomBytes(octets).toString('hex');
  let keys = make();
  const change = setInterval(() => {
    keys = make();
    if (!tell(keys)) clearInterval(change);
  }, lastMs).unref();
  return { keys: () => keys };
}
