// The life of a CA: its first key, renewal, the request for a certificate of a CA elsewhere, and the import of that certificate.
import { X509Certificate } from 'node:crypto';
import { defined } from '../../core/base/defined.ts';
import { fail } from '../../core/base/errors.ts';
import { cleanly } from '../../core/base/public-keys/openssl.ts';
import { findPublicKeyProblem } from '../../core/base/public-keys/public-key.ts';
import type { WriteTransaction } from '../../core/store/store.ts';
import { parseDuration } from '../../core/base/time.ts';
import type { KeyType } from '../../hsm/api.ts';
import { type Certificate, encodeCertificationRequestInfo, readCertificate, readExtensions } from './der/certificate.ts';
import { hasWeakSignature } from './issuing/chain.ts';
import { constraintsOf } from './issuing/certifying.ts';
import { findBeyondIssuers, findTooWide, findUseless, hasRoomBelow, readPathLength } from './issuing/issuer-limits.ts';
import { failCa } from './errors.ts';
import { keyUsageBit } from './der/extensions.ts';
import { type GenerationPlan, type IssuingCa, ledgerReference, makeGeneration, referenceOf, rollRoot } from './authority/generation.ts';
import type { CaContext } from './context.ts';
import { keepIssued, recordOf } from './issuing/issue.ts';
import { requireSubject } from './issuing/subject.ts';
import { findCa, type FoundCa } from './authority/lookup.ts';
import { sequence } from '../../core/der/der.ts';
import { formatName, readName } from '../../core/der/name.ts';
import { extensionId } from '../../core/der/oids.ts';
import { publicKeyObject } from './der/public-key.ts';
import { readBasicConstraints, readKeyUsage } from './der/read-extensions.ts';
import { type CaGeneration, type CaPadding, type CaRecord, type NameLimits, newestGeneration } from './records/records.ts';
import { signStructure, unlessDeleted } from './authority/signer.ts';

/** The parameters of a CA's key and certificate. */
export type CaWish = {
  readonly tenantId: string;
  readonly caId: string;
  readonly keyType: KeyType;
  readonly padding?: CaPadding;
  readonly subject: string;
  readonly ttl: string;
  /** name of the CA of the same tenant that certifies it */
  readonly issuingCa: string | undefined;
  readonly nameLimits?: NameLimits;
  /** for a new CA: the number from which its keys count on; default 0 */
  readonly lastGeneration?: number;
};

/** A generation that exists in the token but not yet in the store. */
export type MadeGeneration = {
  readonly tenantId: string;
  readonly caId: string;
  readonly generation: CaGeneration;
  readonly issuer: IssuingCa | undefined;
  /** serial number of the certificate of the generation before */
  readonly renews: string | undefined;
};

/** Generates and certifies the first key of a CA, or, given the record as it stands, the next one. */
export async function makeCaGeneration(context: CaContext, wish: CaWish, present?: CaRecord): Promise<MadeGeneration> {
  const issuer = wish.issuingCa === undefined ? undefined : requireIssuingCa(context, wish.tenantId, wish.issuingCa);
  const newest = present === undefined ? undefined : newestGeneration(present);
  // A renewed CA keeps its name octet by octet: certificates it issued name it as their issuer.
  const subject = newest === undefined ? requireSubject(wish.subject) : readCertificate(newest.certificate).subject;
  if (issuer !== undefined) requireSubjectWithin(issuer, subject);
  const plan: GenerationPlan = {
    tenantId: wish.tenantId,
    caId: wish.caId,
    generation: (newest?.generation ?? wish.lastGeneration ?? 0) + 1,
    keyType: wish.keyType,
    ...defined({ padding: wish.padding }),
    subject,
    namesOnRecord: newest !== undefined,
    ttlSeconds: parseDuration(wish.ttl, 'ttl').seconds,
    constraints: constraintsOf(wish.nameLimits ?? {}),
    ...pathLengthOf(newest),
  };
  const isRoot = issuer === undefined && newest !== undefined;
  const make = () => (isRoot ? rollRoot(context, plan, newest) : makeGeneration(context, plan, issuer));
  const generation = await unlessIssuerDeleted(context, issuer, () =>
    present === undefined ? make() : unlessDeleted(context, plan, make),
  );
  const renews = newest === undefined ? undefined : readCertificate(newest.certificate).serial;
  return { tenantId: wish.tenantId, caId: wish.caId, generation, issuer, renews };
}

/** The key of the issuing CA may be missing because that CA was deleted meanwhile. */
async function unlessIssuerDeleted<T>(context: CaContext, issuer: IssuingCa | undefined, work: () => Promise<T>): Promise<T> {
  if (issuer === undefined) return work();
  return unlessDeleted(context, issuer, work, issuerDeleted);
}

const issuerDeleted = () => fail('conflict', { detail: 'The issuing CA was deleted meanwhile.' });

/** Claims the key, and records the certificate at the issuing CA, inside the transaction that stores the CA's record. */
export function keepGeneration(context: CaContext, transaction: WriteTransaction, made: MadeGeneration): void {
  const { generation, issuer, renews } = made;
  context.ledger.claim(transaction, [ledgerReference(made, generation)]);
  if (issuer === undefined) return;
  if (transaction.get(context.tables.cas, [issuer.tenantId, issuer.name])?.id !== issuer.caId) throw issuerDeleted();
  keepIssued(context, transaction, issuer, recordOf(readCertificate(generation.certificate), issuer.newest, 'issuing-ca'), renews);
}

/** Destroys the key of a generation whose record was not stored. */
export async function discardGeneration(context: CaContext, made: MadeGeneration): Promise<void> {
  await context.ledger.destroy([ledgerReference(made, made.generation)]);
}

/** Throws `invalid-value` unless it names a CA of this tenant that may certify another; `ca-expired` when that CA has expired. */
export function requireIssuingCa(context: CaContext, tenantId: string, name: string): IssuingCa {
  const found = findCa(context, tenantId, name);
  const newest = found === undefined ? undefined : newestGeneration(found.record);
  if (found === undefined || newest === undefined) {
    throw fail('invalid-value', { detail: '"issuing-ca" must name a CA of this tenant that has a key.' });
  }
  if (found.record.ownedByAppliance === true) {
    throw fail('invalid-value', {
      detail: '"issuing-ca" cannot be the CA of the listeners: what trusts them would trust every CA below it.',
    });
  }
  if (Temporal.Instant.compare(readCertificate(newest.certificate).notAfter, context.clock.now()) <= 0) {
    throw failCa('ca-expired', { detail: `The certificate of CA "${name}" has expired; renew the CA.` });
  }
  if (!hasRoomBelow([newest.certificate, ...newest.chain].map(readCertificate), 1)) {
    throw fail('invalid-value', {
      detail: '"issuing-ca" cannot certify another CA: the path length in its certificate or in one above it does not allow it.',
    });
  }
  return { tenantId, caId: found.record.id, name, ...defined({ deltaCrl: found.record.deltaCrl }), newest };
}

/** Throws `invalid-value` for a CA that verifiers would not accept below this one. */
function requireSubjectWithin(issuer: IssuingCa, subject: Uint8Array): void {
  const problem = findBeyondIssuers(certificatesOf(issuer.newest), { subject, alternativeNames: [], purposes: [] });
  if (problem !== undefined) throw fail('invalid-value', { detail: `"issuing-ca" cannot certify this CA: ${problem}.` });
}

/** The certificate of a CA and those above it; none above a root. */
export const certificatesOf = (newest: CaGeneration | undefined): readonly Certificate[] =>
  newest === undefined ? [] : [newest.certificate, ...newest.chain].map(readCertificate);

/** A PKCS#10 request for the newest key, DER, to be signed by a root elsewhere, which asks for the limits on names as well. */
export async function makeCaRequest(context: CaContext, ca: FoundCa): Promise<Uint8Array> {
  const newest = requireNewest(ca);
  const { subject, publicKey } = readCertificate(newest.certificate);
  const own = { tenantId: ca.tenantId, caId: ca.record.id };
  const info = () => encodeCertificationRequestInfo(subject, publicKey, constraintsOf(ca.record.nameLimits ?? {}));
  return unlessDeleted(context, own, () => signStructure(context.hsm, referenceOf(own, newest), { kind: 'request' }, info));
}

/**
 * The record with an imported certificate in place of the newest generation's own. `chain` starts with the CA's certificate and
 * ends with the root. Throws `invalid-certificate` with what is wrong.
 */
export function withImportedCertificate(context: CaContext, ca: FoundCa, chain: readonly Uint8Array[]): CaRecord {
  const newest = requireNewest(ca);
  const certificates = chain.map((der) => requireCaCertificate(context, der));
  const [own, ...issuers] = certificates;
  if (own === undefined) throw refusal('"certificate" must be the PEM of the CA certificate, followed by its issuers up to the root');
  const before = readCertificate(newest.certificate);
  if (Buffer.compare(own.publicKey, before.publicKey) !== 0) {
    throw refusal('the first certificate does not carry the key of this CA; have the output of csr signed');
  }
  if (nameText(own.subject) !== nameText(before.subject)) throw refusal('the first certificate carries another subject than this CA');
  certificates.forEach((certificate, index) => requireIssuedBy(certificate, certificates[index + 1] ?? certificate));
  if (!hasRoomBelow(certificates, 0)) throw refusal('the path length of a certificate is too short for the CAs below it');
  const useless = findUseless([own, ...issuers], { enrols: ca.record.est.enabled, policy: ca.record.est });
  if (useless !== undefined) throw refusal(useless);
  if (ca.record.nameLimits !== undefined) {
    const tooWide = findTooWide(certificates, readExtensions(sequence(...constraintsOf(ca.record.nameLimits))));
    if (tooWide !== undefined) throw refusal(tooWide);
  }
  const { rollover: _gone, ...kept } = newest;
  const imported: CaGeneration = { ...kept, certificate: own.der, chain: issuers.map(({ der }) => der) };
  return { ...ca.record, issuingCa: undefined, generations: [...ca.record.generations.slice(0, -1), imported] };
}

/** Reads a live CA certificate; throws `invalid-certificate`. */
export function requireCaCertificate(context: CaContext, der: Uint8Array): Certificate {
  let certificate: Certificate;
  let isCa: boolean;
  let problem: string | undefined;
  try {
    certificate = readCertificate(der);
    isCa = readBasicConstraints(certificate.extensions.get(extensionId.basicConstraints)).ca && cleanly(() => new X509Certificate(der).ca);
    isCa &&= readKeyUsage(certificate.extensions.get(extensionId.keyUsage), keyUsageBit.keyCertSign) !== false;
    problem = findPublicKeyProblem(publicKeyObject(certificate.publicKey), 'verify');
  } catch (cause) {
    throw failCa('invalid-certificate', { detail: 'A certificate is not well-formed DER.', cause });
  }
  if (problem !== undefined) throw refusal(`the key of a certificate ${problem}`);
  if (!isCa) throw refusal('a certificate is not a CA certificate: basicConstraints and keyUsage must allow it to sign certificates');
  if (Temporal.Instant.compare(certificate.notAfter, context.clock.now()) <= 0) throw refusal('a certificate has expired');
  return certificate;
}

/** Tells whether the newest certificate was imported. */
export function isSignedOutside(record: CaRecord): boolean {
  return record.issuingCa === undefined && (newestGeneration(record)?.chain.length ?? 0) > 0;
}

function requireNewest(ca: FoundCa): CaGeneration {
  const newest = newestGeneration(ca.record);
  if (newest === undefined)
    throw failCa('ca-has-no-key', { detail: `CA "${ca.record.name}" is trust-only: it has a certificate but no key.` });
  return newest;
}

function pathLengthOf(newest: CaGeneration | undefined): { readonly pathLength?: number } {
  const pathLength = newest === undefined ? undefined : readPathLength(readCertificate(newest.certificate));
  return defined({ pathLength });
}

function requireIssuedBy(subject: Certificate, issuer: Certificate): void {
  const below = cleanly(() => new X509Certificate(subject.der));
  if (!isSignedBy(below, issuer)) throw refusal('each certificate must be issued by the one after it, and the last one by itself');
  // A root is trusted as a whole certificate, not by its signature.
  if (subject !== issuer && hasWeakSignature(below)) {
    throw refusal('a certificate is signed with MD5 or SHA-1; have its issuer sign it again with SHA-256 or better');
  }
}

// OpenSSL throws on keys and algorithms that cannot be put together.
function isSignedBy(below: X509Certificate, issuer: Certificate): boolean {
  try {
    return cleanly(() => {
      const above = new X509Certificate(issuer.der);
      return below.checkIssued(above) && below.verify(above.publicKey);
    });
  } catch {
    return false;
  }
}

function nameText(name: Uint8Array): string {
  return formatName(readName(name));
}

const refusal = (problem: string) => failCa('invalid-certificate', { detail: `${problem[0]?.toUpperCase()}${problem.slice(1)}.` });
