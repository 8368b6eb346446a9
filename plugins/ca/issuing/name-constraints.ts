// Name constraints of CA certificates (RFC 5280 4.2.1.10): which names certificates below them may have.
import { isIP } from 'node:net';
import { Reader, readOnly, sequence, setOf, tag, utf8String } from '../../../core/der/der.ts';
import { extensionId, nameAttributes } from '../../../core/der/oids.ts';
import type { Certificate } from '../der/certificate.ts';
import { readName, readText } from '../der/name.ts';
import { type AlternativeName, type AlternativeNameKind, readGeneralName } from '../der/read-extensions.ts';
import { normaliseDomain } from './identity-policy.ts';

/** The names of a certificate: its subject, DER Name, and its alternative names. */
export type CertifiedNames = { readonly subject: Uint8Array; readonly alternativeNames: readonly AlternativeName[] };

/** The first name that a constraint in one of the issuers does not allow, as words for people; undefined when all are allowed. Throws DerError. */
export function findConstrainedName(issuers: readonly Certificate[], names: CertifiedNames): string | undefined {
  const constraints = issuers.map(readConstraints).filter((one) => one !== undefined);
  if (constraints.length === 0) return undefined;
  const outside = judgedNames(names).find((name) => constraints.some((one) => !isAllowed(one, name)));
  return outside === undefined ? undefined : (words[outside.kind] ?? `an alternative name of kind ${outside.kind}`);
}

/** Tells whether the constraints in one of the issuers leave neither the domain nor a name below it. Throws DerError. */
export function isDomainClosed(issuers: readonly Certificate[], domain: string): boolean {
  const name = normaliseDomain(domain);
  if (name === undefined) return false;
  return issuers.some((issuer) => {
    const { permitted = [], excluded = [] } = readConstraints(issuer) ?? {};
    const open = domainsOf(permitted);
    return (
      domainsOf(excluded).some((base) => isWithin(base, name)) ||
      (open.length > 0 && !open.some((base) => isWithin(base, name) || isWithin(name, base.replace(/^\./, ''))))
    );
  });
}

type Constraints = { readonly permitted: readonly AlternativeName[]; readonly excluded: readonly AlternativeName[] };

function readConstraints({ extensions }: Certificate): Constraints | undefined {
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

/** All names that constraints are about: without alternative names of that kind, mail addresses and host names of the subject count. */
function judgedNames({ subject, alternativeNames }: CertifiedNames): AlternativeName[] {
  const attributes = readName(subject);
  const has = (kind: AlternativeNameKind): boolean => alternativeNames.some((name) => name.kind === kind);
  const ofSubject = (kind: AlternativeNameKind, value: string): AlternativeName => ({ kind, content: Buffer.from(value), whole: subject });
  return [
    ...alternativeNames,
    ...(attributes.length === 0 ? [] : [{ kind: 'directoryName', content: subject, whole: subject } as const]),
    ...attributes.flatMap(({ type, value }) => {
      if (type === nameAttributes.E && !has('email')) return [ofSubject('email', value)];
      // OpenSSL treats a common name as a host name if it could be one of several labels.
      const isHost = type === nameAttributes.CN && !has('dns') && value.includes('.') && isIP(value) === 0;
      return isHost && normaliseDomain(value) !== undefined ? [ofSubject('dns', value)] : [];
    }),
  ];
}

function isAllowed({ permitted, excluded }: Constraints, name: AlternativeName): boolean {
  const sameKind = ({ kind }: AlternativeName): boolean => kind === name.kind;
  const matches = matchers[name.kind];
  // A kind without a rule for what is within a base: any constraint on it bars it.
  if (matches === undefined) return ![...permitted, ...excluded].some(sameKind);
  const open = permitted.filter(sameKind);
  return (
    (open.length === 0 || open.some((base) => matches(base.content, name.content))) &&
    !excluded.filter(sameKind).some((base) => matches(base.content, name.content))
  );
}

/** Functions that tell whether a name is within a base, by kind. */
const matchers: Readonly<Partial<Record<AlternativeNameKind, (base: Uint8Array, name: Uint8Array) => boolean>>> = {
  dns: (base, name) => isWithin(textOf(base), textOf(name)),
  email: (base, name) => isMailboxWithin(textOf(base), textOf(name)),
  uri: (base, name) => isHostWithin(textOf(base), hostOf(textOf(name))),
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

const textOf = (octets: Uint8Array): string => Buffer.from(octets).toString('latin1').toLowerCase().replace(/\.$/, '');

const domainsOf = (bases: readonly AlternativeName[]): string[] =>
  bases.filter(({ kind }) => kind === 'dns').map(({ content }) => textOf(content));

/** A domain and what is below it; with a dot before it, as some write it, only what is below it. */
function isWithin(base: string, name: string): boolean {
  if (base === '' || name === base) return true;
  return name.endsWith(base.startsWith('.') ? base : `.${base}`);
}

/** Tells whether a mailbox is within a base: one mailbox, all of a host, or, with a dot before it, all of the hosts of a domain. */
function isMailboxWithin(base: string, name: string): boolean {
  return base.includes('@') ? name === base : isHostWithin(base, name.slice(name.lastIndexOf('@') + 1));
}

function isHostWithin(base: string, host: string): boolean {
  return base === '' || (base.startsWith('.') ? host.endsWith(base) : host === base);
}

function hostOf(uri: string): string {
  return URL.parse(uri)?.hostname ?? '';
}

/** Base: address and mask (RFC 5280 4.2.1.10). */
function isAddressWithin(base: Uint8Array, name: Uint8Array): boolean {
  if (base.length !== 2 * name.length) return false;
  return name.every((octet, at) => ((octet ^ (base[at] ?? 0)) & (base[name.length + at] ?? 0)) === 0);
}

/** The relative names, each in one form whatever the string types, upper case and blanks (RFC 5280 7.1), in hexadecimal. */
function relativeNames(name: Uint8Array): string[] {
  return Array.from(readOnly(name, tag.sequence).rest(), ({ content }) => {
    const pairs = Array.from(new Reader(content).rest(), ({ whole }) => {
      const fields = readOnly(whole, tag.sequence);
      const type = fields.next(tag.oid).whole;
      return sequence(type, utf8String(readText(fields.next()).trim().replace(/\s+/g, ' ').toLowerCase()));
    });
    return Buffer.from(setOf(...pairs)).toString('hex');
  });
}
