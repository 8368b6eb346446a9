// The one name by which a certificate is known: found by the rule of the role, and compared as it is written.
import { isReservedUser } from '../../core/access/user.ts';
import type { ClientNames } from '../../core/plugin/services/certificate-authority.ts';
import type { NameKind } from '../../core/wire/certificate-fields.ts';
import { findUnseen } from '../../core/wire/unseen-text.ts';

const longestName = 253;

const dnsName = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Forms of names; a CA may certify others, which log nobody in. */
const forms: Readonly<Record<NameKind, RegExp>> = {
  cn: /^[^#*\s](?:[^*]*[^*\s])?$/u,
  dns: dnsName,
  uri: /^[a-z][a-z0-9+.-]*:[!-)+-~]+$/,
  email: /^[!-)+-?A-~]+@[a-z0-9.-]+$/,
};

/** Finds the name, or the reason for which it has no usable one. */
export function nameIn(
  names: ClientNames,
  kind: NameKind,
): { readonly name: string } | { readonly problem: 'no-name' | 'several-names' | 'unfit-name' } {
  const [name, ...more] = names[kind];
  if (name === undefined) return { problem: 'no-name' };
  if (more.length > 0) return { problem: 'several-names' };
  const isFit = name.length <= longestName && forms[kind].test(name) && findUnseen(name) === undefined && !isReservedUser(name);
  return isFit ? { name } : { problem: 'unfit-name' };
}

/** Tells whether a pattern covers a name: the name itself, `*`, `*.domain`, `*@domain`, or a URI whose last segment is `*`. */
export function covers(pattern: string, name: string): boolean {
  if (pattern === '*') return true;
  if (pattern.startsWith('*')) return name.length >= pattern.length && name.endsWith(pattern.slice(1));
  return pattern.endsWith('/*') ? name.length >= pattern.length && name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** Rule that a pattern breaks, following "must"; undefined for a right one. */
export function findPatternProblem(pattern: string, kind: NameKind): string | undefined {
  if (pattern === '*') return undefined;
  const plain = pattern.replace(
    kind === 'uri' ? /\/\*$/ : kind === 'email' ? /^\*(?=@)/ : /^\*\.(?=.)/,
    kind === 'uri' ? '/x' : kind === 'email' ? 'x' : 'x.',
  );
  if (nameProblem(plain, kind)) return formOf[kind];
  return kind === 'uri' && /^[^:]+:\/*\*$/.test(pattern) ? 'have more than a scheme before the *' : undefined;
}

function nameProblem(text: string, kind: NameKind): boolean {
  return 'problem' in nameIn({ cn: [], dns: [], uri: [], email: [], [kind]: [text] }, kind);
}

const formOf: Readonly<Record<NameKind, string>> = {
  cn: 'be a common name, *.domain, or * alone',
  dns: 'be a host name in lower case, *.domain, or * alone',
  uri: 'be a URI, one whose last segment is *, such as spiffe://example.org/ns/payments/*, or * alone',
  email: 'be an address, *@domain, or * alone',
};
