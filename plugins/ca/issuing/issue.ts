// Issuing a leaf certificate: profile, signature in the token, a check of the result, and the record.
import { X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { defined } from '../../../core/base/defined.ts';
import { fail } from '../../../core/base/errors.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { formatAlternativeName } from '../names/alternative-name.ts';
import type { ApprovedRequest } from './approval.ts';
import { type Certificate, encodeTbsCertificate, parseCertificate, readCertificate } from '../der/certificate.ts';
import {
  authorityKeyIdentifier,
  basicConstraints,
  extKeyUsage,
  keyIdentifierOf,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier,
} from '../der/extensions.ts';
import { failCa } from '../errors.ts';
import { lifetime, referenceOf } from '../authority/generation.ts';
import { type CaContext, locationsOf, type PublicUrls, publicUrls } from '../context.ts';
import type { FoundCa } from '../authority/lookup.ts';
import { formatName, readName } from '../../../core/der/name.ts';
import { findBeyondIssuers } from './issuer-limits.ts';
import { LintError } from '../lints/lint.ts';
import { issuerKeyIdentifier, readAlternativeNames, readGeneralName } from '../der/read-extensions.ts';
import { putByKey } from '../records/by-key.ts';
import { type CaGeneration, type IssuedCertificate, newestGeneration } from '../records/records.ts';
import { signStructure, unlessDeleted } from '../authority/signer.ts';
import { bitString, Reader, sequence } from '../../../core/der/der.ts';
import { extensionId } from '../../../core/der/oids.ts';

/** `recheck` repeats the checks of the decision inside the transaction that records the certificate, `keep` records more in it. */
export type IssueOptions = {
  readonly ttlSeconds: number;
  readonly via: string;
  recheck?(transaction: WriteTransaction): void;
  keep?(transaction: WriteTransaction, issued: Issued): void;
};

/** A certificate with its record. */
export type Issued = { readonly serial: string; readonly record: IssuedCertificate; readonly issuer: CaGeneration };

/**
 * Issues a certificate for an approved request and records it, in that order: nothing counts as issued before its signature
 * exists. Resolves when the record is on the disk. Throws `identity-not-allowed` (the CA's own certificate does not allow it), `clock-implausible`, `invalid-csr` (a rule for certificates is broken), `ca-has-no-key`, `ca-expired` or `not-found` (the CA went meanwhile).
 */
export async function issueCertificate(context: CaContext, ca: FoundCa, approved: ApprovedRequest, options: IssueOptions): Promise<Issued> {
  const issuer = requireSigner(context, ca);
  const above = readCertificate(issuer.certificate);
  const { subject, alternativeNames, publicKey, keyFamily, purposes, renews, limits } = approved.content;
  requireWithin([above, ...issuer.chain.map(readCertificate)], approved);
  const urls = publicUrls(context, ca.tenantId, ca.record, issuer.generation);
  const serial = await context.serials.next();
  const { keyIdentifier, locations } = issuerExtensions(above, urls);
  const extensions = [
    leaf,
    // TLS 1.2 servers and registration authorities decrypt with an RSA key; clients only sign.
    keyFamily === 'rsa' && purposes.some((purpose) => purpose !== 'clientAuth') ? signsAndDecrypts : signs,
    extKeyUsage(...purposes),
    subjectKeyIdentifier(keyIdentifierOf(publicKey)),
    keyIdentifier,
    ...(alternativeNames.length === 0 ? [] : [subjectAltName(alternativeNames, readName(subject).length === 0)]),
    ...locations,
  ];
  const content = { serial, issuer: above.subject, subject, ...lifetime(context, options.ttlSeconds, above), publicKey, extensions };
  const own = { tenantId: ca.tenantId, caId: ca.record.id };
  const what = { kind: 'certificate', issuer: issuer.certificate, namesOnRecord: renews !== undefined } as const;
  const certificate = await unlessDeleted(context, own, () =>
    signStructure(context.hsm, referenceOf(own, issuer), what, (algorithm) =>
      readable(encodeTbsCertificate(content, algorithm), algorithm),
    ),
  ).catch((error: unknown) => {
    throw options.via === 'listener' ? error : asRequestFault(error);
  });
  const issued = recordOf(lookAgain(certificate), issuer, options.via);
  await context.store.write((transaction) => {
    keepNew(context, transaction, ca, { ...issued, record: { ...issued.record, ...defined({ limits }) } }, renews);
    options.recheck?.(transaction);
    options.keep?.(transaction, issued);
  });
  return issued;
}

/**
 * The content, which OpenSSL reads with a signature in its place: what it does not read is found before the token has signed. Throws
 * `invalid-csr`: all that is not the requester's is the same in every certificate.
 */
function readable(tbs: Uint8Array, algorithm: Uint8Array): Uint8Array {
  try {
    lookAgain(sequence(tbs, algorithm, bitString(Uint8Array.of(0))));
    return tbs;
  } catch (cause) {
    throw failCa('invalid-csr', { detail: 'The certification request asks for a certificate that OpenSSL does not read.', cause });
  }
}

/** Throws `identity-not-allowed` for what verifiers would not accept below these certificates. */
function requireWithin(issuers: readonly Certificate[], { content }: ApprovedRequest): void {
  const alternativeNames = content.alternativeNames.map((whole) => readGeneralName(new Reader(whole).next()));
  const problem = findBeyondIssuers(issuers, { ...content, alternativeNames });
  if (problem !== undefined)
    throw failCa('identity-not-allowed', {
      detail: `Nobody would accept the certificate: ${problem.replace(/,$/, '')}. Ask for names and usages that they allow.`,
    });
}

const leaf = basicConstraints('leaf');
const signs = keyUsage('digitalSignature');
const signsAndDecrypts = keyUsage('digitalSignature', 'keyEncipherment');

/** Extensions that are the same in all certificates of an issuer with these URLs. */
type IssuerExtensions = {
  readonly urls: PublicUrls | undefined;
  readonly keyIdentifier: Uint8Array;
  readonly locations: readonly Uint8Array[];
};

const ofIssuer = new WeakMap<Certificate, IssuerExtensions>();

function issuerExtensions(above: Certificate, urls: PublicUrls | undefined): IssuerExtensions {
  const known = ofIssuer.get(above);
  if (known !== undefined && isDeepStrictEqual(known.urls, urls)) return known;
  const made = {
    urls,
    keyIdentifier: authorityKeyIdentifier(issuerKeyIdentifier(above)),
    locations: locationsOf(urls),
  };
  ofIssuer.set(above, made);
  return made;
}

/** A rule broken by names or key that the request carries is a fault of the request; any other is ours. */
export function asRequestFault(error: unknown): unknown {
  if (!(error instanceof LintError) || !error.isRequestersFault) return error;
  const broken = error.broken.map(({ rule, source }) => `${rule} (${source})`).join('; ');
  return failCa('invalid-csr', { detail: `The certification request asks for a certificate that breaks a rule: ${broken}.`, cause: error });
}

/**
 * Puts an issued certificate on record; a serial number is never used twice under one CA. One that renews another of this CA belongs to its line.
 */
export function keepIssued(
  context: CaContext,
  transaction: WriteTransaction,
  ca: { readonly tenantId: string; readonly caId: string },
  { serial, record }: Issued,
  renews: string | undefined,
): void {
  const { certificates, lines } = context.tables;
  const own = [ca.tenantId, ca.caId];
  if (transaction.get(certificates, [...own, serial]) !== undefined) throw new Error('the token gave a serial number twice');
  const renewed = renews === undefined ? undefined : transaction.get(certificates, [...own, renews]);
  const line = renewed?.line ?? (renewed === undefined ? undefined : renews);
  putByKey(transaction, context.tables, [...own, serial], { ...record, ...defined({ line }) });
  if (line !== undefined) transaction.put(lines, [...own, line, serial], true);
}

/** The same for a certificate that was just signed. Throws `not-found` if the CA was deleted meanwhile. */
export function keepNew(context: CaContext, transaction: WriteTransaction, ca: FoundCa, issued: Issued, renews?: string): void {
  if (transaction.get(context.tables.cas, [ca.tenantId, ca.record.name])?.id !== ca.record.id) throw fail('not-found');
  keepIssued(context, transaction, { tenantId: ca.tenantId, caId: ca.record.id }, issued, renews);
}

/** The record of a certificate this generation signed. */
export function recordOf(certificate: Certificate, issuer: CaGeneration, via: string): Issued {
  const record: IssuedCertificate = {
    certificate: certificate.der,
    generation: issuer.generation,
    subject: formatName(readName(certificate.subject)),
    names: readAlternativeNames(certificate.extensions.get(extensionId.subjectAltName)).map(formatAlternativeName),
    notBefore: formatTimestamp(certificate.notBefore),
    notAfter: formatTimestamp(certificate.notAfter),
    via,
  };
  return { serial: certificate.serial, record, issuer };
}

/** The generation that signs; throws when the CA has no key or has expired. */
export function requireSigner(context: CaContext, ca: FoundCa): CaGeneration {
  const newest = newestGeneration(ca.record);
  if (newest === undefined)
    throw failCa('ca-has-no-key', { detail: `CA "${ca.record.name}" is trust-only: it has a certificate but no key.` });
  if (Temporal.Instant.compare(readCertificate(newest.certificate).notAfter, context.clock.now()) <= 0) {
    throw failCa('ca-expired', { detail: `The certificate of CA "${ca.record.name}" has expired; renew the CA.` });
  }
  return newest;
}

/** Reads the signed certificate as OpenSSL does: a certificate that does not parse never leaves. */
function lookAgain(der: Uint8Array): Certificate {
  const seen = new X509Certificate(der);
  const certificate = parseCertificate(der);
  if (seen.ca || seen.serialNumber.toLowerCase() !== certificate.serial)
    throw new Error('the certificate reads differently from what was meant');
  return certificate;
}
