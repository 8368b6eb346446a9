// The service `certificate-authority`: what enrolment protocols and the appliance's listeners can ask of the CAs.
import { FailureLimit } from '../../core/access/failure-limit.ts';
import { fail } from '../../core/base/errors.ts';
import { parseDuration } from '../../core/base/time.ts';
import { AddressBuckets } from '../../core/base/token-bucket.ts';
import type {
  ApprovedRequest as ApprovedRequestView,
  CertificateAuthorities,
  CertificateAuthority,
  EnrolmentOutcome,
  EnrolmentProtocol,
  EnrolmentSettings,
  HeldCertificate,
  VerifiedRequest,
} from '../../core/plugin/services/certificate-authority.ts';
import { requireCaAlgorithm } from './authority/algorithms.ts';
import { caCertificates, findGeneration, findTrusted, findUsableCa, type FoundCa, tenantCas } from './authority/lookup.ts';
import { trustedCertificates } from './authority/trust.ts';
import type { CaContext } from './context.ts';
import { nameAttributes } from '../../core/der/oids.ts';
import { findClientAuthority, findHeldProblem } from './clients/client-authority.ts';
import { type Certificate, readCertificate } from './der/certificate.ts';
import { formatName, readName } from './der/name.ts';
import { findEabKey } from './enrolment/eab-keys.ts';
import { Concluded, enrolAgain, enrolFirst } from './enrolment/enrol.ts';
import { forgetFailures, noteFailure } from './enrolment/failures.ts';
import { enrolProven, findForbiddenNames } from './enrolment/proven.ts';
import { findAnswer, first, hashOfKey, placeOf, recordsOf } from './enrolment/transactions.ts';
import { type ApprovedRequest, approveByPolicy, approveRenewal, formatUnproved } from './issuing/approval.ts';
import { findPath, isServerCertificate, maxIntermediates } from './issuing/chain.ts';
import { familiesUnder, type VerifiedCsr, verifyCsr } from './issuing/csr.ts';
import { issueCertificate } from './issuing/issue.ts';
import { ensureListenerIdentity } from './own/listener-identity.ts';
import { type CaRecord, type IssuedCertificate, newestGeneration, type RenewalLimits } from './records/records.ts';
import { registrationAuthority } from './registration/authority.ts';
import { canRegister, ensureRegistrations } from './registration/registration.ts';
import { currentCrl } from './status/crl.ts';
import { findIssued, isRevokedOnPath, revokeCertificate } from './status/revocation.ts';

/** `protocols` collects what is attached. */
export function certificateAuthorities(context: CaContext, protocols: EnrolmentProtocol[]): CertificateAuthorities {
  const limit = new FailureLimit(context.store, context.clock, context.tables.secretFailures);
  const repeated = new AddressBuckets(repeatedRate.atOnce, repeatedRate.perMinute);
  return {
    maxIntermediates,
    find(tenantId, name) {
      const found = findUsableCa(context, tenantId, name);
      return found === undefined ? undefined : authorityOf(context, { limit, repeated }, found);
    },
    exists: (tenantId, id) => tenantCas(context, tenantId).some(({ record }) => record.id === id),
    findClientAuthority: (tenantId, name) => findClientAuthority(context, tenantId, name),
    judgeNothing: ({ leaf, intermediates }) => void findPath(leaf, intermediates, [leaf], context.clock.now()),
    onEnd: (ends) => void context.ends.push(ends),
    describe: (der) => readIfPossible(der, ({ subject, serial }) => ({ subject: formatName(readName(subject)), serial })),
    attach: (protocol) => void protocols.push(protocol),
    listenerIdentity: (tenantId, hosts, place) => ensureListenerIdentity(context, tenantId, hosts, place),
  };
}

type Bounds = { readonly limit: FailureLimit; readonly repeated: AddressBuckets };

/** Long because each member of the service is a row. */
function authorityOf(context: CaContext, { limit, repeated }: Bounds, ca: FoundCa): CertificateAuthority | undefined {
  const { tenantId, record } = ca;
  const { keyType } = record;
  const newest = newestGeneration(record);
  if (newest === undefined || keyType === undefined) return undefined;
  return {
    tenantId,
    id: record.id,
    name: record.name,
    enrolment: (protocol) => enrolmentOf(record, protocol),
    get longestTtlSeconds() {
      return parseDuration(record.est.ttl, 'est/ttl').seconds;
    },
    publicKey: newest.key.publicKey,
    signatureAlgorithm: requireCaAlgorithm(newest.key.type).identifier,
    trustedCertificates: () => trustedCertificates(record, context.clock.now()),
    trusts({ leaf, intermediates }) {
      const trusted = findTrusted(context, ca);
      if (trusted === undefined) return false;
      const path = findPath(leaf, intermediates, caCertificates(trusted.record), context.clock.now());
      return path !== undefined && !isRevokedOnPath(context, tenantId, path);
    },
    findIssued(der) {
      const certificate = readIfPossible(der, (read) => read);
      const issued = certificate === undefined ? undefined : findIssued(context, ca, certificate);
      return certificate === undefined || issued === undefined ? undefined : heldCertificate(context, ca, certificate, issued);
    },
    findBySerial(serial) {
      const issued = context.tables.certificates.get([tenantId, record.id, serial]);
      return issued === undefined ? undefined : heldCertificate(context, ca, readCertificate(issued.certificate), issued);
    },
    revoke: (serial, reason) => revokeCertificate(context, ca, serial, reason),
    findForbidden: (names) => findForbiddenNames(ca, names),
    findAccountKey: (id) => findEabKey(context, ca, id),
    requireFewFailures: (clientIp, running) =>
      limit.requireBelow(unproved(record), clientIp, { strictly: true, what: proofsFailed, running }),
    countFailure: (clientIp) => limit.count(unproved(record), clientIp, proofsFailed),
    revocationList: () => currentCrl(context, ca, newest, { needs: 'every', askedBy: `anybody of ${tenantId}` }),
    async registrationAuthority() {
      if (!canRegister(record)) return undefined;
      return registrationAuthority(context, { tenantId, caId: record.id }, await ensureRegistrations(context, ca));
    },
    findEnrolment: (asked, publicKey) =>
      findAnswer(context, recordsOf(context, placeOf(ca, asked, first)), { keyHash: hashOfKey(publicKey) }),
    requireFewUnproven: (clientIp, isQuestion) =>
      limit.requireBelow(refused(record), clientIp, { strictly: isQuestion, what: nothingProven }),
    countUnproven: (clientIp) => limit.count(refused(record), clientIp, nothingProven),
    countRepeated(clientIp) {
      const waitSeconds = repeated.take(clientIp, context.clock.monotonicMs(), record.id);
      if (waitSeconds > 0)
        throw fail('rate-limited', {
          detail: 'Too many repeated requests and questions from this address; try again later.',
          retryAfterSeconds: Math.ceil(waitSeconds),
        });
    },
    noteFailure: (failure) => noteFailure(context, ca, failure),
    forgetFailures: (clientIp) => forgetFailures(context, ca, clientIp),
    readRequest: (der) => requestOf(context, limit, ca, verifyCsr(der, familiesUnder(keyType))),
  };
}

function requestOf(context: CaContext, limit: FailureLimit, ca: FoundCa, csr: VerifiedCsr): VerifiedRequest {
  const { record } = ca;
  const { subjectText, nameTexts, keyName, challengePassword } = csr.content;
  return {
    subject: subjectText,
    names: nameTexts,
    keyName,
    challengePassword,
    approve: () => issuable(context, ca, approveByPolicy(csr, record.est)),
    approveRenewal(held) {
      const certificate = readCertificate(held.certificate);
      return issuable(
        context,
        ca,
        approveRenewal(csr, certificate, record.est, limitsOf(certificate, findIssued(context, ca, certificate))),
      );
    },
    publicKey: csr.content.publicKey,
    commonNames: csr.content.subjectAttributes.filter(({ type }) => type === nameAttributes.CN).map(({ value }) => value),
    unproved: formatUnproved(csr),
    enrolProven: (asked) => enrolProven(context, ca, csr, asked),
    enrol: (asked) => enrolFirst(context, limit, ca, csr, asked),
    enrolAgain(asked, held) {
      const certificate = readCertificate(held.certificate);
      const limits = limitsOf(certificate, findIssued(context, ca, certificate));
      return enrolAgain(context, ca, csr, asked, {
        held: certificate,
        limits,
        recheck(transaction) {
          if (held.isRevoked(transaction)) throw new Concluded(revokedMeanwhile);
        },
      });
    },
  };
}

const revokedMeanwhile: EnrolmentOutcome = {
  status: 'refused',
  why: 'credential',
  detail: 'The credential was not accepted: the certificate that signed is revoked.',
};

/** Names under which messages that prove nothing, and proofs that fail, are counted. */
const refused = ({ id }: CaRecord): string => `${id} refused`;
const unproved = ({ id }: CaRecord): string => `${id} unproved`;
const proofsFailed = 'proofs of names that have failed';
const nothingProven = 'refused messages';
/** Repetitions and questions of an address to a CA, in each process: devices behind one address ask again together after a fault. */
const repeatedRate = { atOnce: 200, perMinute: 1_200 };

/** The settings that users write for a protocol. Names and lives are the same for all protocols. */
function enrolmentOf({ est, scep, acme }: CaRecord, protocol: string): EnrolmentSettings | undefined {
  if (protocol === 'acme' && acme?.enabled === true) {
    const { externalAccountRequired, challenges } = acme;
    const none = { sharedSecret: undefined, takesTrustedCertificates: false, renewsHeldCertificates: false } as const;
    return { ...none, acme: { externalAccountRequired, challenges } };
  }
  if (protocol === 'scep' && scep?.enabled === true)
    return {
      sharedSecret: scep.initialEnrollSecret,
      takesTrustedCertificates: false,
      renewsHeldCertificates: scep.allowReenrollWithIssuedCert,
      oldAlgorithms: scep.allowOld,
    };
  if (protocol !== 'est' || !est.enabled) return undefined;
  return {
    sharedSecret: est.initialEnrollSecret,
    takesTrustedCertificates: est.initialEnrollTrustCa !== undefined,
    renewsHeldCertificates: est.allowReenrollWithIssuedCert,
  };
}

function heldCertificate(context: CaContext, ca: FoundCa, certificate: Certificate, issued: IssuedCertificate): HeldCertificate {
  return {
    certificate: certificate.der,
    serial: certificate.serial,
    problem: findHeldProblem(certificate, issued, context.clock.now()),
    isRevoked: (transaction) => findIssued(context, ca, certificate, transaction)?.revoked !== undefined,
    get issuers() {
      const generation = findGeneration(ca.record, issued.generation);
      return generation === undefined ? [] : [generation.certificate, ...generation.chain];
    },
  };
}

/** Records of earlier versions say nothing of usages that were signed; the certificate does. */
function limitsOf(certificate: Certificate, issued: IssuedCertificate | undefined): RenewalLimits | undefined {
  if (issued?.limits !== undefined || issued?.via !== 'sign-csr') return issued?.limits;
  return { purposes: isServerCertificate(certificate) ? ['clientAuth', 'serverAuth'] : ['clientAuth'] };
}

function issuable(context: CaContext, ca: FoundCa, approved: ApprovedRequest): ApprovedRequestView {
  return {
    async issue(options) {
      const longest = parseDuration(ca.record.est.ttl, 'est/ttl').seconds;
      const ttlSeconds = Math.min(longest, approved.content.limits?.ttlSeconds ?? longest);
      const { serial, record } = await issueCertificate(context, ca, approved, { ...options, ttlSeconds });
      return { serial, certificate: record.certificate };
    },
  };
}

/** TLS accepts certificates that are not DER. */
function readIfPossible<T>(der: Uint8Array, use: (certificate: Certificate) => T): T | undefined {
  try {
    return use(readCertificate(der));
  } catch {
    return undefined;
  }
}
