// Name constraints of CA certificates (RFC 5280 4.2.1.10): which names certificates below them may have.
import { isIP } from 'node:net';
import { Reader, readOnly, tag } from '../../../core/der/der.ts';
import { extensionId, nameAttributes } from '../../../core/der/oids.ts';
import type { Certificate } from '../der/certificate.ts';
import { readName, relativeNames } from '../../../core/der/name.ts';
import { readMailbox } from '../names/mail.ts';
import { isUtf8Mailbox } from '../names/other-name.ts';
import { type AlternativeName, type AlternativeNameKind, readAlternativeNames, readGeneralName } from '../der/read-extensions.ts';
import { normaliseDomain } from '../names/domain.ts';
import { hostOfUri } from '../names/uri.ts';

/** The names of a certificate: its subject, DER Name, and its alternative names. */
export type CertifiedNames = { readonly subject: Uint8Array; readonly alternativeNames: readonly AlternativeName[] };

/** The first name that a constraint in one of the issuers does not allow, as words for people; undefined when all are allowed. Throws DerError. */
export function findConstrainedName(issuers: readonly Certificate[], names: CertifiedNames): string | undefined {
  const constraints = issuers.map(readConstraints).filter((one) => one !== undefined);
  if (constraints.length === 0) return undefined;
  const outside = judgedNames(names).find((name) => constraints.some((one) => !isAllowed(one, name)));
  return outside === undefined ? undefined : (words[outside.kind] ?? `an alternative name of kind ${outside.kind}`);
}

/** Tells whether a certificate of a chain, nearest first, has a name that one above it does not allow. Throws DerError. */
export function isBeyondThoseAbove({ subject, issuer, extensions }: Certificate, index: number, chain: readonly Certificate[]): boolean {
  // A self-issued CA is not bound by names; the end of a path is (RFC 5280 6.1.3).
  if (index > 0 && Buffer.compare(subject, issuer) === 0) return false;
  const alternativeNames = readAlternativeNames(extensions.get(extensionId.subjectAltName));
  return findConstrainedName(chain.slice(index + 1), { subject, alternativeNames }) !== undefined;
}

/** Bases of names of one kind that a rule outside of certificates allows; `field` and `values` are its words for them. */
export type AllowedBases = { readonly field: string; readonly values: readonly string[]; readonly bases: readonly AlternativeName[] };

/** The first of these of which the constraints in issuers leave nothing; undefined if they leave some of each. Throws DerError. */
export function findClosed(
  issuers: readonly Pick<Certificate, 'extensions'>[],
  allowed: readonly AllowedBases[],
): AllowedBases | undefined {
  const constraints = issuers.map(readConstraints).filter((one) => one !== undefined);
  return allowed.find(({ bases: [one, ...more] }) => one !== undefined && !isAnyLeft(constraints, one.kind, [one, ...more]));
}

/** Tells whether issuers allow no name that the name constraints among `limits` do not. Throws DerError. */
export function isKeptBy(issuers: readonly Certificate[], limits: Certificate['extensions']): boolean {
  const stated = issuers.map(readConstraints).filter((one) => one !== undefined);
  const { permitted = [], excluded = [] } = readConstraints({ extensions: limits }) ?? {};
  return (
    permitted.every(({ kind }) => {
      const wanted = permitted.filter((base) => base.kind === kind);
      return stated.some((one) => {
        const bases = one.permitted.filter((base) => base.kind === kind);
        return bases.length > 0 && bases.every((base) => wanted.some((limit) => isBaseWithin(limit, base)));
      });
    }) && excluded.every((limit) => stated.some((one) => one.excluded.some((base) => isBaseWithin(base, limit))))
  );
}

/**
 * The kind of names that `limits`, with name constraints, close: they permit some, or exclude some of those that issuers permit, and leave none, by themselves
 * or below the issuers. Undefined if there is no such kind. Throws DerError.
 */
export function findClosedKind(issuers: readonly Certificate[], limits: Certificate['extensions']): ClosedKind | undefined {
  const own = readConstraints({ extensions: limits }) ?? { permitted: [], excluded: [] };
  const above = issuers.map(readConstraints).filter((one) => one !== undefined);
  const permitted = new Set([...own.permitted, ...above.flatMap((one) => one.permitted)].map(({ kind }) => kind));
  const kinds = new Set([...own.permitted, ...own.excluded].map(({ kind }) => kind)).intersection(permitted);
  const kind = [...kinds].find((one) => !isAnyLeft([own, ...above], one));
  return kind && { kind, isPermitted: own.permitted.some((base) => base.kind === kind) };
}

/** `isPermitted`: the limits permit some of the kind, and do not only exclude. */
export type ClosedKind = { readonly kind: AlternativeNameKind; readonly isPermitted: boolean };

/** Tells whether constraints leave any name of a kind, of all or of those within some bases. */
function isAnyLeft(all: readonly Constraints[], kind: AlternativeNameKind, within: readonly AlternativeName[] = []): boolean {
  // A kind without a rule for what is within a base: any constraint on it bars it, as in isAllowed.
  if (matchers[kind] === undefined)
    return !all.some(({ permitted, excluded }) => [...permitted, ...excluded].some((base) => base.kind === kind));
  const stated = [within, ...all.map(({ permitted }) => permitted.filter((base) => base.kind === kind))].filter(
    (bases) => bases.length > 0,
  );
  const left = stated.reduce((some, bases) => some.flatMap((one) => bases.flatMap((base) => commonOf(one, base))));
  const excluded = all.flatMap((one) => one.excluded.filter((base) => base.kind === kind));
  return !left.every((base) => isClosed(base, excluded));
}

/** Tells whether exclusions leave nothing of a base: one of them, or of addresses several together. */
function isClosed(base: AlternativeName, excluded: readonly AlternativeName[]): boolean {
  if (excluded.some((one) => isBaseWithin(one, base))) return true;
  if (base.kind !== 'ip' || !isRange(base)) return false;
  const within = excluded.filter((one) => isRange(one) && isBaseWithin(base, one));
  // Without an exclusion in it a half is open: no more halves are looked at than the exclusions have bits.
  return within.length > 1 && halvesOf(base).every((half) => isClosed(half, within));
}

/** Tells whether the mask of a range of addresses has its ones before its zeros, as all have that are written with a slash. */
function isRange({ content }: AlternativeName): boolean {
  const bits = Array.from(content.subarray(content.length / 2), (octet) => octet.toString(2).padStart(8, '0')).join('');
  return /^1*0*$/.test(bits);
}

/** The two halves of a range of more than one address. */
function halvesOf(base: AlternativeName): AlternativeName[] {
  const half = base.content.length / 2;
  const at = base.content.findIndex((octet, index) => index >= half && octet !== 0xff);
  const bit = 0x80 >> Math.clz32(~(base.content[at] ?? 0) << 24);
  return [0, bit].map((value) => {
    const content = Uint8Array.from(base.content);
    content[at] = (content[at] ?? 0) | bit;
    content[at - half] = ((content[at - half] ?? 0) & ~bit) | value;
    return { ...base, content };
  });
}

/** The common part of two bases: the narrower one, or nothing. */
function commonOf(one: AlternativeName, other: AlternativeName): readonly AlternativeName[] {
  if (isBaseWithin(one, other)) return [other];
  return isBaseWithin(other, one) ? [one] : [];
}

/** Tells whether all that is within a base is within a wider one. */
function isBaseWithin(wider: AlternativeName, { kind, content }: AlternativeName): boolean {
  if (wider.kind !== kind) return false;
  if (kind === 'dns') return isWithin(textOf(wider.content), textOf(content));
  if (kind === 'uri') return isHostWithin(textOf(wider.content), textOf(content));
  if (kind === 'email') return isMailBaseWithin(exactTextOf(wider.content), exactTextOf(content));
  if (kind !== 'ip' || wider.content.length !== content.length) return false;
  const half = content.length / 2;
  const mask = wider.content.subarray(half);
  return isAddressWithin(wider.content, content.subarray(0, half)) && mask.every((bits, at) => (bits & ~(content[half + at] ?? 0)) === 0);
}

function isMailBaseWithin(wider: string, base: string): boolean {
  if (base.includes('@')) return isMailboxWithin(wider, base);
  return !wider.includes('@') && isHostWithin(wider.toLowerCase(), base.toLowerCase());
}

type Constraints = { readonly permitted: readonly AlternativeName[]; readonly excluded: readonly AlternativeName[] };

function readConstraints({ extensions }: Pick<Certificate, 'extensions'>): Constraints | undefined {
  const extension = extensions.get(extensionId.nameConstraints);
  if (extension === undefined) return undefined;
  const fields = readOnly(extension.value, tag.sequence);
  const [permitted, excluded] = [0, 1].map((n) => basesOf(fields.optional(tag.constructed(n))?.content));
  fields.end();
  return { permitted: permitted ?? [], excluded: excluded ?? [] };
}

/** The bases of subtrees; minimum and maximum are not used (RFC 5280 4.2.1.10). */
function basesOf(subtrees: Uint8Array | undefined): AlternativeName[] {
  if (subtrees === undefined) return [];
  return Array.from(new Reader(subtrees).rest(), ({ whole }) => readGeneralName(readOnly(whole, tag.sequence).next()));
}

/**
 * All names that constraints are about. Mail addresses and host names of the subject count beside alternative names too, where RFC 5280 leaves them out:
 * there are programs that go by the common name.
 */
function judgedNames({ subject, alternativeNames }: CertifiedNames): AlternativeName[] {
  const attributes = readName(subject);
  const ofSubject = (kind: AlternativeNameKind, value: string): AlternativeName => ({ kind, content: Buffer.from(value), whole: subject });
  return [
    ...alternativeNames,
    ...(attributes.length === 0 ? [] : [{ kind: 'directoryName', content: subject, whole: subject } as const]),
    ...attributes.flatMap(({ type, value }) => {
      if (type === nameAttributes.E) return [ofSubject('email', value)];
      // OpenSSL treats a common name as a host name if it could be one of several labels, and compares one with an asterisk as a wildcard.
      const isHost = type === nameAttributes.CN && value.includes('.') && isIP(value) === 0;
      return isHost && normaliseDomain(value.replace('*', 'x')) !== undefined ? [ofSubject('dns', value)] : [];
    }),
  ];
}

function isAllowed({ permitted, excluded }: Constraints, name: AlternativeName): boolean {
  const sameKind = ({ kind }: AlternativeName): boolean => kind === name.kind;
  // Constraints on mail addresses bind these too (RFC 9598 section 6), by comparisons that few verifiers make: any of them bars all.
  const isMail = name.kind === 'otherName' && isUtf8Mailbox(name.content);
  if (isMail && [...permitted, ...excluded].some(({ kind }) => kind === 'email')) return false;
  const matches = matchers[name.kind];
  // A kind without a rule for what is within a base: any constraint on it bars it.
  if (matches === undefined) return ![...permitted, ...excluded].some(sameKind);
  const open = permitted.filter(sameKind);
  if ([...permitted, ...excluded].some(sameKind) && !isComparable(name)) return false;
  return (
    (open.length === 0 || open.some((base) => matches(base.content, name.content))) &&
    !excluded.filter(sameKind).some((base) => matches(base.content, name.content) || mayStandFor(name, base))
  );
}

/** A mail address that is not one, or a URI in which not every reader finds the same host name, is outside whatever constrains its kind (RFC 5280 4.2.1.10). */
function isComparable({ kind, content }: AlternativeName): boolean {
  if (kind === 'email') return readMailbox(exactTextOf(content)) !== undefined;
  return kind !== 'uri' || hostOfUri(exactTextOf(content)) !== undefined;
}

/** Tells whether a wildcard, which stands for any one label, may stand for the domain of an excluded base. */
function mayStandFor({ kind, content }: AlternativeName, base: AlternativeName): boolean {
  const [label = '', ...parent] = textOf(content).split('.');
  const [, ...above] = textOf(base.content).split('.');
  return kind === 'dns' && label.includes('*') && !textOf(base.content).startsWith('.') && parent.join('.') === above.join('.');
}

/** Functions that tell whether a name is within a base, by kind. */
const matchers: Readonly<Partial<Record<AlternativeNameKind, (base: Uint8Array, name: Uint8Array) => boolean>>> = {
  dns: (base, name) => isWithin(textOf(base), textOf(name)),
  email: (base, name) => isMailboxWithin(exactTextOf(base), exactTextOf(name)),
  uri: (base, name) => isHostWithin(textOf(base), hostOfUri(exactTextOf(name)) ?? ''),
  ip: isAddressWithin,
  directoryName: (base, name) => relativeNames(name).join('').startsWith(relativeNames(base).join('')),
};

const words: Readonly<Partial<Record<AlternativeNameKind, string>>> = {
  dns: 'a DNS name',
  email: 'a mail address',
  uri: 'a URI',
  ip: 'an IP address',
  directoryName: 'the subject',
};

const exactTextOf = (octets: Uint8Array): string => Buffer.from(octets).toString('latin1');
const textOf = (octets: Uint8Array): string => exactTextOf(octets).toLowerCase().replace(/\.$/, '');

/** A domain and what is below it; with a dot before it, as some write it, only what is below it. */
function isWithin(base: string, name: string): boolean {
  if (base === '' || name === base) return true;
  return name.endsWith(base.startsWith('.') ? base : `.${base}`);
}

/** Tells whether a mailbox is within a base: one mailbox, all of a host, or, with a dot before it, all of the hosts of a domain. Local parts keep their case (RFC 5280 7.5). */
function isMailboxWithin(base: string, name: string): boolean {
  const [wanted, { local, domain } = { local: '', domain: '' }] = [base.includes('@') ? readMailbox(base) : undefined, readMailbox(name)];
  if (base.includes('@')) return wanted !== undefined && wanted.local === local && wanted.domain === domain;
  return isHostWithin(base.toLowerCase(), domain);
}

function isHostWithin(base: string, host: string): boolean {
  return base === '' || (base.startsWith('.') ? host.endsWith(base) : host === base);
}

/** Base: address and mask (RFC 5280 4.2.1.10). */
function isAddressWithin(base: Uint8Array, name: Uint8Array): boolean {
  if (base.length !== 2 * name.length) return false;
  return name.every((octet, at) => ((octet ^ (base[at] ?? 0)) & (base[name.length + at] ?? 0)) === 0);
}
