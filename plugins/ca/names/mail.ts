// Mail addresses in certificates: the forms that are taken, and the patterns by which a policy allows them.
import { normaliseDomain } from './domain.ts';

type Mailbox = { readonly local: string; readonly domain: string };

/** An atom of a local part (RFC 5321 4.1.2): letters, digits and these signs. Quoted ones, which have many spellings, are not taken. */
const atoms = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;

/**
 * Reads an rfc822Name (RFC 5280 4.2.1.6): an ASCII mailbox whose domain is a host name, IDN as A-labels (7.5). The local part keeps its case, the domain is in
 * lower case; undefined for anything else.
 */
export function readMailbox(text: string): Mailbox | undefined {
  const at = text.lastIndexOf('@');
  const [local, domain] = [text.slice(0, Math.max(at, 0)), normaliseDomain(text.slice(at + 1))];
  return at < 1 || at > 64 || domain === undefined || text.endsWith('.') || !atoms.test(local) ? undefined : { local, domain };
}

/** A mailbox in full, or all of a host: `*@example.com`. */
export function isEmailPattern(text: string): boolean {
  return readMailbox(text) !== undefined;
}

/** Tells whether a mailbox is one of those that are allowed; the local part as RFC 5280 7.5 compares it. */
export function isEmailWithin(allowed: readonly string[], text: string): boolean {
  const mailbox = readMailbox(text);
  if (mailbox === undefined || mailbox.local.startsWith('*')) return false;
  return allowed.some((pattern) => {
    const one = readMailbox(pattern);
    return one !== undefined && one.domain === mailbox.domain && (one.local === '*' || one.local === mailbox.local);
  });
}
