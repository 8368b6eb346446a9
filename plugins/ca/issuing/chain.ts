// Path validation of a client's certificate up to a trust anchor (RFC 5280 6.1): signatures, names, dates, basicConstraints, path lengths,
// usages, name constraints and critical extensions. Policies are not processed: a certificate that has their constraints as critical is refused.
import { X509Certificate } from 'node:crypto';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { readPss, rsassaPss } from '../../../core/cms/pss.ts';
import { readOnly, tag } from '../../../core/der/der.ts';
import { type Certificate, isLive, readCertificate } from '../der/certificate.ts';
import { keyUsageBit } from '../der/extensions.ts';
import { extensionId, keyPurpose } from '../../../core/der/oids.ts';
import { readBasicConstraints, readExtKeyUsage, readKeyUsage } from '../der/read-extensions.ts';
import { isBeyondThoseAbove } from './name-constraints.ts';
import { isFitForPath } from './path-keys.ts';

/** A path from the leaf to the anchor, both included. */
export type CertificatePath = readonly [leaf: Certificate, ...issuers: Certificate[]];

/** Intermediates taken from a client, and steps of a path. */
export const maxIntermediates = 6;

/** Signature checks of one search: a client chooses the certificates, so their cost is limited. */
const maxVerifications = 24;

/**
 * A valid path from `leaf` over `intermediates` to one of `anchors`, or undefined. Anchors are matched as whole certificates, never
 * by name. The leaf must be good for client authentication. A certificate that cannot be parsed, or whose key is unfit, is on no path.
 */
export function findPath(
  leaf: Uint8Array,
  intermediates: readonly Uint8Array[],
  anchors: readonly Uint8Array[],
  now: Temporal.Instant,
): CertificatePath | undefined {
  try {
    return cleanly(() => findPathOf(leaf, intermediates, anchors, now));
  } catch {
    return undefined;
  }
}

function findPathOf(
  leaf: Uint8Array,
  intermediates: readonly Uint8Array[],
  anchors: readonly Uint8Array[],
  now: Temporal.Instant,
): CertificatePath | undefined {
  const start = open(leaf);
  if (!isLive(start.fields, now) || !isClientCertificate(start.fields)) return undefined;
  if (hasUnknownCritical(start.fields) || bindsNames(start.fields)) return undefined;
  const search = {
    trusted: anchors.map(open),
    offered: intermediates.slice(0, maxIntermediates).flatMap(openIfUsable),
    now,
    left: maxVerifications,
  };
  return climb(search, [start])?.map(({ fields }) => fields) as CertificatePath | undefined;
}

/** Tells whether a leaf may authenticate a client: keyUsage and extKeyUsage, where present, must say so. */
export function isClientCertificate(leaf: Certificate): boolean {
  return readKeyUsage(leaf.extensions.get(extensionId.keyUsage), keyUsageBit.digitalSignature) !== false && isForClients(leaf);
}

/** Tells whether extKeyUsage says that a leaf authenticates a server, too. */
export function isServerCertificate({ extensions }: Certificate): boolean {
  return readExtKeyUsage(extensions.get(extensionId.extKeyUsage))?.includes(keyPurpose.serverAuth) === true;
}

/** Tells whether extKeyUsage, where present, allows client authentication. */
function isForClients({ extensions }: Certificate): boolean {
  const purposes = readExtKeyUsage(extensions.get(extensionId.extKeyUsage));
  return purposes === undefined || purposes.includes(keyPurpose.clientAuth) || purposes.includes(keyPurpose.any);
}

/** A certificate for our own reading and for OpenSSL's checks. */
type Opened = { readonly fields: Certificate; readonly x509: X509Certificate };

type Search = {
  readonly trusted: readonly Opened[];
  readonly offered: readonly Opened[];
  readonly now: Temporal.Instant;
  left: number;
};

function climb(search: Search, path: readonly Opened[]): readonly Opened[] | undefined {
  const top = path.at(-1);
  if (top === undefined) return undefined;
  for (const anchor of search.trusted)
    if (isIssuer(search, path, top, anchor) && isWithinConstraints([...path, anchor])) return [...path, anchor];
  if (path.length > maxIntermediates) return undefined;
  for (const candidate of search.offered) {
    if (path.includes(candidate) || !isIssuer(search, path, top, candidate)) continue;
    const found = climb(search, [...path, candidate]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Tells whether `issuer` signed `subject` and was allowed to, given the path below it. */
function isIssuer(search: Search, path: readonly Opened[], subject: Opened, issuer: Opened): boolean {
  if (!mayCertify(issuer.fields)) return false;
  const { pathLength } = readBasicConstraints(issuer.fields.extensions.get(extensionId.basicConstraints));
  if (!isLive(issuer.fields, search.now) || hasUnknownCritical(issuer.fields)) return false;
  // RFC 5280 4.2.1.9: intermediates below that are not self-issued; the leaf does not count.
  const below = path.slice(1).filter(({ fields }) => Buffer.compare(fields.subject, fields.issuer) !== 0).length;
  if (pathLength !== undefined && below > pathLength) return false;
  if (hasWeakSignature(subject.x509) || !subject.x509.checkIssued(issuer.x509) || search.left-- <= 0) return false;
  return subject.x509.verify(issuer.x509.publicKey);
}

/** Tells whether the names of a path are within the name constraints above them, critical or not, those of the anchor too. */
function isWithinConstraints(path: readonly Opened[]): boolean {
  const certificates = path.map(({ fields }) => fields);
  try {
    return !certificates.some(isBeyondThoseAbove);
  } catch {
    return false;
  }
}

/** Tells whether basicConstraints and keyUsage let it sign certificates; throws DerError if one of them is malformed. */
function mayCertify({ extensions }: Certificate): boolean {
  const { ca } = readBasicConstraints(extensions.get(extensionId.basicConstraints));
  return ca && readKeyUsage(extensions.get(extensionId.keyUsage), keyUsageBit.keyCertSign) !== false;
}

/** Collisions of these digests can be made to order; the last two (X9.62) name none, and OpenSSL takes one for them. RSASSA-PSS names its own. */
export function hasWeakSignature(certificate: X509Certificate): boolean {
  if (certificate.signatureAlgorithmOid === rsassaPss) return typeof readPss(signatureAlgorithmOf(certificate.raw)) !== 'object';
  return /md[245]|sha-?1(?!\d)|ecdsa-with-(?:specified|recommended)/i.test(certificate.signatureAlgorithm ?? '');
}

function signatureAlgorithmOf(certificate: Uint8Array): Uint8Array {
  const fields = readOnly(certificate, tag.sequence);
  fields.next(tag.sequence);
  return fields.next(tag.sequence).whole;
}

/** Critical extensions we act on, or that change nothing here; with any other the certificate is refused (RFC 5280 4.2). */
const understood: ReadonlySet<string> = new Set([
  extensionId.basicConstraints,
  extensionId.keyUsage,
  extensionId.extKeyUsage,
  extensionId.subjectAltName,
  extensionId.certificatePolicies,
  extensionId.nameConstraints,
]);

export function hasUnknownCritical(certificate: Certificate): boolean {
  return [...certificate.extensions.values()].some(({ id, critical }) => critical && !understood.has(id));
}

/** Name constraints are for CA certificates alone (RFC 5280 4.2.1.10): of a leaf nobody could say what they mean. */
function bindsNames({ extensions }: Certificate): boolean {
  return extensions.get(extensionId.nameConstraints)?.critical === true;
}

function open(der: Uint8Array): Opened {
  const fields = readCertificate(der);
  // Of a leaf nothing depends on it, but a value that is not one may be critical.
  readBasicConstraints(fields.extensions.get(extensionId.basicConstraints));
  if (!isFitForPath(fields.publicKey)) throw new RangeError('unfit key');
  return { fields, x509: new X509Certificate(der) };
}

/**
 * Intermediates come from the client: what does not parse, or cannot be part of a path, is ignored, and the others still count. An
 * intermediate's extKeyUsage bounds what is below it, as OpenSSL, Go and NSS have it; an anchor is trusted for what it was named for.
 */
function openIfUsable(der: Uint8Array): Opened[] {
  try {
    const opened = open(der);
    return mayCertify(opened.fields) && isForClients(opened.fields) ? [opened] : [];
  } catch {
    return [];
  }
}
