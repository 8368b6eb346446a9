// Comparison of alternative names as RFC 5280 section 7 has it.
import { foldedMailbox, relativeNames } from '../../../core/der/name.ts';
import type { AlternativeName } from '../der/read-extensions.ts';

/** Tells whether alternative names are the same, in any order. Throws DerError. */
export function areSameNames(some: readonly AlternativeName[], others: readonly AlternativeName[]): boolean {
  const [left, right] = [some, others].map((names) => new Set(names.map(foldedAlternative)));
  return (left as Set<string>).symmetricDifference(right as Set<string>).size === 0;
}

/** Tells whether an alternative name is one of these. Throws DerError. */
export function isAmongNames(name: AlternativeName, names: readonly AlternativeName[]): boolean {
  return names.some((one) => foldedAlternative(one) === foldedAlternative(name));
}

/** DNS names and hosts without regard to case (7.2, 7.4, 7.5), Names as above, everything else octet by octet. */
function foldedAlternative({ kind, content, whole }: AlternativeName): string {
  const text = Buffer.from(content).toString('latin1');
  if (kind === 'dns') return `dns ${text.toLowerCase()}`;
  if (kind === 'email') return `email ${foldedMailbox(text)}`;
  if (kind === 'uri') return `uri ${text.replace(/^[^:/?#]*:(?:\/\/[^/?#]*)?/, foldedAuthority)}`;
  if (kind === 'directoryName') return `directoryName ${relativeNames(content).join()}`;
  return `${kind} ${Buffer.from(whole).toString('hex')}`;
}

/** Scheme and host in lower case; octets before an at sign keep theirs. */
function foldedAuthority(start: string): string {
  const at = start.lastIndexOf('@');
  if (at < 0) return start.toLowerCase();
  const scheme = start.indexOf(':');
  return `${start.slice(0, scheme).toLowerCase()}${start.slice(scheme, at)}${start.slice(at).toLowerCase()}`;
}
