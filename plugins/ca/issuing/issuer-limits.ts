// Limits of the certificates of a CA, and of those above it, on certificates below: an external issuer may bound names and purposes.
import { isDeepStrictEqual } from 'node:util';
import { fail } from '../../../core/base/errors.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import { DerError, sequence } from '../../../core/der/der.ts';
import { extensionId, keyPurpose } from '../../../core/der/oids.ts';
import { type Certificate, readExtensions } from '../der/certificate.ts';
import { keyUsageBit } from '../der/extensions.ts';
import { type AlternativeNameKind, readBasicConstraints, readExtKeyUsage, readKeyUsage } from '../der/read-extensions.ts';
import type { CertifiedPurpose } from './approval.ts';
import type { Purpose } from '../records/records.ts';
import { allowedBases, type IdentityPolicy } from './identity-policy.ts';
import {
  type AllowedBases,
  type CertifiedNames,
  findClosed,
  findClosedKind,
  findConstrainedName,
  isBeyondThoseAbove,
  isKeptBy,
} from './name-constraints.ts';

/** Certificate to be issued: one of a CA if it has no purposes. */
type Wanted = CertifiedNames & { readonly purposes: readonly CertifiedPurpose[] };

/**
 * Returns the reason for which verifiers would refuse a certificate below these, the nearest first, as a clause; undefined if they accept
 * it.
 */
export function findBeyondIssuers(issuers: readonly Certificate[], wanted: Wanted): string | undefined {
  return reading(() => {
    const purpose = wanted.purposes.find((one) => !allowsPurpose(issuers, one));
    if (purpose !== undefined) return `the extended key usage of ${ofTheCa} has no ${purpose}`;
    const name = findConstrainedName(issuers, wanted);
    return name === undefined ? undefined : `${name} is not within the name constraints of ${ofTheCa}`;
  });
}

/**
 * Returns the reason for which verifiers would accept nothing that the first of these certificates issues, as a clause; undefined if they
 * would accept something. `enrols`: true if devices enrol, whose certificates are for clients.
 */
export function findUseless(
  chain: readonly [Certificate, ...Certificate[]],
  { enrols, policy }: { readonly enrols: boolean; readonly policy: IdentityPolicy },
): string | undefined {
  return reading(() => {
    const [own] = chain;
    if (readKeyUsage(own.extensions.get(extensionId.keyUsage), keyUsageBit.crlSign) === false)
      return 'the keyUsage of the first certificate has no cRLSign, without which nobody accepts the CRLs of this CA';
    const purposes: readonly Purpose[] = enrols ? ['clientAuth'] : ['clientAuth', 'serverAuth'];
    if (!purposes.some((purpose) => allowsPurpose(chain, purpose)))
      return `the extended key usage of a certificate has no ${purposes.join(' and no ')}, without which nobody accepts what this CA issues`;
    const closed = findClosed(chain, allowedBases(policy));
    if (closed !== undefined) return `the name constraints of a certificate allow none of ${wordsOf(closed)}`;
    return chain.some(isBeyondThoseAbove) ? 'a certificate is not within the name constraints of one above it' : undefined;
  });
}

/** Returns the reason for which a chain allows names that `limits`, extensions with name constraints, do not, as a clause. */
export function findTooWide(chain: readonly Certificate[], limits: Certificate['extensions']): string | undefined {
  return reading(() =>
    isKeptBy(chain, limits)
      ? undefined
      : 'the name constraints of the certificates do not state the limits on names that this CA was made with; have the output of csr signed with those that it asks for',
  );
}

/**
 * Throws `invalid-value` for limits, extensions with name constraints, that leave a CA below these certificates none of a kind of names which they, or those
 * above, permit.
 */
export function requireNamesLeft(issuers: readonly Certificate[], limits: readonly Uint8Array[]): void {
  if (limits.length === 0) return;
  const problem = reading(() => {
    const closed = findClosedKind(issuers, limitsAsIssuer(limits).extensions);
    if (closed === undefined) return undefined;
    const field = limitOf[closed.kind] ?? closed.kind;
    return closed.isPermitted
      ? `nothing of "${field}" is left beside "excluded-domains" and the name constraints above`
      : '"excluded-domains" leaves nothing of what the name constraints above permit';
  });
  if (problem !== undefined) throw fail('invalid-value', { detail: `The CA could certify nobody: ${problem}.` });
}

/**
 * Throws `invalid-value` for a field of a policy that is not as before and allows names of which the limits of a CA leave none. `chain`: its certificate and
 * those above it; of a new CA, its limits and those above. What it tells of them is public.
 */
export function requirePolicyWithin(
  chain: readonly Pick<Certificate, 'extensions'>[],
  policy: IdentityPolicy,
  before?: IdentityPolicy,
): void {
  const known = before === undefined ? [] : allowedBases(before);
  const changed = allowedBases(policy).filter(
    (one) => !known.some(({ field, bases }) => field === one.field && isDeepStrictEqual(bases, one.bases)),
  );
  const problem = reading(() => {
    const closed = findClosed(chain, changed);
    return closed && `the limits on its names, and those above, allow none of ${wordsOf(closed)}`;
  });
  if (problem !== undefined) throw fail('invalid-value', { detail: `The CA could not certify what it should: ${problem}.` });
}

/** Limits of a CA, as its certificate has them. */
export const limitsAsIssuer = (limits: readonly Uint8Array[]): Pick<Certificate, 'extensions'> => ({
  extensions: readExtensions(sequence(...limits)),
});

const wordsOf = ({ field, values }: AllowedBases): string => `est/${toKebab(field)} (${values.join(', ')})`;

const limitOf: Readonly<Partial<Record<AlternativeNameKind, string>>> = {
  dns: 'permitted-domains',
  uri: 'permitted-uri-hosts',
  ip: 'permitted-ip-ranges',
  email: 'permitted-emails',
};

const ofTheCa = 'the certificate of the CA, or of one above it,';

/** Tells whether every certificate of a chain allows a purpose, also the root: OpenSSL and Go have it so. */
function allowsPurpose(chain: readonly Certificate[], purpose: CertifiedPurpose): boolean {
  return chain.every(({ extensions }) => {
    const purposes = readExtKeyUsage(extensions.get(extensionId.extKeyUsage));
    return purposes === undefined || purposes.includes(keyPurpose[purpose]) || purposes.includes(keyPurpose.any);
  });
}

function reading(judge: () => string | undefined): string | undefined {
  try {
    return judge();
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    return `an extension of ${ofTheCa} is not well-formed`;
  }
}

/** pathLenConstraint of a CA; undefined without one. */
export function readPathLength({ extensions }: Certificate): number | undefined {
  return readBasicConstraints(extensions.get(extensionId.basicConstraints)).pathLength;
}

/**
 * Tells whether every pathLenConstraint of a chain, nearest first, allows the CAs below it, and `more` below the nearest (RFC 5280
 * 4.2.1.9).
 */
export function hasRoomBelow(chain: readonly Certificate[], more: number): boolean {
  return chain.every((certificate, below) => below + more <= (readPathLength(certificate) ?? Infinity));
}
