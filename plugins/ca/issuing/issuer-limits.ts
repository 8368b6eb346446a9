// Limits of the certificates of a CA, and of those above it, on certificates below: an external issuer may bound names and purposes.
import { fail } from '../../../core/base/errors.ts';
import { DerError, sequence } from '../../../core/der/der.ts';
import { extensionId, keyPurpose } from '../../../core/der/oids.ts';
import { type Certificate, readExtensions } from '../der/certificate.ts';
import { keyUsageBit } from '../der/extensions.ts';
import { type AlternativeNameKind, readBasicConstraints, readExtKeyUsage, readKeyUsage } from '../der/read-extensions.ts';
import type { CertifiedPurpose } from './approval.ts';
import type { Purpose } from '../records/records.ts';
import {
  type CertifiedNames,
  findClosedKind,
  findConstrainedName,
  isBeyondThoseAbove,
  isDomainClosed,
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
  { enrols, domains }: { readonly enrols: boolean; readonly domains: readonly string[] },
): string | undefined {
  return reading(() => {
    const [own] = chain;
    if (readKeyUsage(own.extensions.get(extensionId.keyUsage), keyUsageBit.crlSign) === false)
      return 'the keyUsage of the first certificate has no cRLSign, without which nobody accepts the CRLs of this CA';
    const purposes: readonly Purpose[] = enrols ? ['clientAuth'] : ['clientAuth', 'serverAuth'];
    if (!purposes.some((purpose) => allowsPurpose(chain, purpose)))
      return `the extended key usage of a certificate has no ${purposes.join(' and no ')}, without which nobody accepts what this CA issues`;
    if (domains.length > 0 && domains.every((domain) => isDomainClosed(chain, domain)))
      return `the name constraints of a certificate allow none of est/allowed-domains (${domains.join(', ')})`;
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
 * Throws `invalid-value` for limits, extensions with name constraints, that leave a CA below these certificates none of a kind of names which they permit.
 * `domains`: of the names of its devices, all of which would be refused.
 */
export function requireNamesLeft(issuers: readonly Certificate[], limits: readonly Uint8Array[], domains: readonly string[] = []): void {
  if (limits.length === 0) return;
  const problem = reading(() => {
    const extensions = readExtensions(sequence(...limits));
    const kind = findClosedKind(issuers, extensions);
    if (kind !== undefined) return `nothing of "${limitOf[kind] ?? kind}" is left beside "excluded-domains" and the name constraints above`;
    const isClosed = domains.length > 0 && domains.every((domain) => isDomainClosed([{ extensions }, ...issuers], domain));
    return isClosed ? `its limits on names, and those above, allow none of est/allowed-domains (${domains.join(', ')})` : undefined;
  });
  if (problem !== undefined) throw fail('invalid-value', { detail: `The CA could certify nobody: ${problem}.` });
}

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
