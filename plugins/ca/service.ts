// The service `certificate-authority`: what enrolment protocols and the appliance's listeners can ask of the CAs.
import { FailureLimit } from '../../core/access/failure-limit.ts';
import { defined } from '../../core/base/defined.ts';
import { fail } from '../../core/base/errors.ts';
import { parseDuration } from '../../core/base/time.ts';
import { subscriberOf } from '../../core/base/addresses.ts';
import { AddressBuckets, Buckets } from '../../core/base/token-bucket.ts';
import type {
  Issuable,
  CertificateAuthorities,
  CertificateAuthority,
  EnrolmentOutcome,
  EnrolmentProtocol,
  EnrolmentSettings,
  HeldCertificate,
  MadeForDevice,
  VerifiedRequest,
} from '../../core/plugin/services/certificate-authority.ts';
import { requireCaAlgorithm } from './authority/algorithms.ts';
import {
  caCertificates,
  findGeneration,
  findNext,
  findTrusted,
  findUsableCa,
  type FoundCa,
  newestCertificate,
  tenantCas,
} from './authority/lookup.ts';
import { trustedCertificates } from './authority/trust.ts';
import type { CaContext } from './context.ts';
import { nameAttributes } from '../../core/der/oids.ts';
import { findClientAuthority, findHeldProblem } from './clients/client-authority.ts';
import { namesOf } from './clients/names.ts';
import { type Certificate, readCertificate } from './der/certificate.ts';
import { formatName, readName } from '../../core/der/name.ts';
import { findEabKey } from './enrolment/eab-keys.ts';
import { Concluded, enrolAgain, enrolFirst, rulesOf } from './enrolment/enrol.ts';
import { forgetFailures, noteFailure } from './enrolment/failures.ts';
import { enrolProven, findForbiddenNames } from './enrolment/proven.ts';
import { judgeMac } from './enrolment/secrets.ts';
import { findAnswer, hashOfKey, placeOfKey, recordsOf } from './enrolment/transactions.ts';
import { type ApprovedRequest, approveByPolicy, approveRenewal, formatUnproved } from './issuing/approval.ts';
import { findPath, isServerCertificate, maxIntermediates } from './issuing/chain.ts';
import { verifyTemplate } from './enrolment/crmf.ts';
import { familiesUnder, type VerifiedCsr, verifyCsr } from './issuing/csr.ts';
import { failCa } from './errors.ts';
import { dropKey, makeRequest, takeKey, typeLike } from './issuing/made-key.ts';
import { readCsrPem } from './actions/sign-csr.ts';
import { issueCertificate } from './issuing/issue.ts';
import { ensureListenerIdentity } from './own/listener-identity.ts';
import { type CaRecord, type IssuedCertificate, newestGeneration, type RenewalLimits } from './records/records.ts';
import { answerSigner, registrationAuthority } from './registration/authority.ts';
import { canRegister, ensureRegistrations } from './registration/registration.ts';
import { findRegistration } from './registration/trusted.ts';
import { currentCrl } from './status/crl.ts';
import { findIssued, isRevokedOnPath, revokeCertificate } from './status/revocation.ts';

/** `protocols` collects what is attached. */
export function certificateAuthorities(context: CaContext, protocols: EnrolmentProtocol[]): CertificateAuthorities {
  const limit = new FailureLimit(context.store, context.clock, context.tables.secretFailures);
  const bounds: Bounds = {
    limit,
    repeated: new AddressBuckets(repeatedRate.atOnce, repeatedRate.perMinute),
    refused: new Buckets(refusedRate.atOnce, refusedRate.perMinute),
  };
  return {
    maxIntermediates,
    find(tenantId, name) {
      const found = findUsableCa(context, tenantId, name);
      return found === undefined ? undefined : authorityOf(context, bounds, found);
    },
    exists: (tenantId, id) => tenantCas(context, tenantId).some(({ record }) => record.id === id),
    findClientAuthority: (tenantId, name) => findClientAuthority(context, tenantId, name),
    judgeNothing: ({ leaf, intermediates }) => void findPath(leaf, intermediates, [leaf], context.clock.now()),
    onEnd: (ends) => void context.ends.push(ends),
    attachLogin: (isNamed) => void context.logins.push(isNamed),
    describe: (der) => readIfPossible(der, ({ subject, serial }) => ({ subject: formatName(readName(subject)), serial })),
    namesOf: (der) => readIfPossible(der, namesOf),
    attach: (protocol) => void protocols.push(protocol),
    listenerIdentity: (tenantId, hosts, place) => ensureListenerIdentity(context, tenantId, hosts, place),
  };
}

type Bounds = { readonly limit: FailureLimit; readonly repeated: AddressBuckets; readonly refused: Buckets };

/** Long because each member of the service is a row. */
function authorityOf(context: CaContext, bounds: Bounds, ca: FoundCa): CertificateAuthority | undefined {
  const { limit, repeated } = bounds;
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
    signatureAlgorithm: requireCaAlgorithm(newest.key).identifier,
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
    answerSigner: async () =>
      answerSigner(context, { tenantId, caId: record.id, issuer: newest }, (await ensureRegistrations(context, ca))[0]),
    judgeMac: (question) => judgeMac(context, limit, ca, rulesOf(record, question.protocol), question),
    findEnrolment(asked, publicKey) {
      const keyHash = hashOfKey(publicKey);
      return findAnswer(context, recordsOf(context, placeOfKey(context, ca, asked, keyHash)), { keyHash });
    },
    requireFewUnproven: (clientIp, isQuestion) =>
      limit.requireBelow(unproven(record), clientIp, { strictly: isQuestion, what: nothingProven }),
    countUnproven: (clientIp) => limit.count(unproven(record), clientIp, nothingProven),
    countRepeated(clientIp) {
      const waitSeconds = repeated.take(clientIp, context.clock.monotonicMs(), record.id);
      if (waitSeconds > 0)
        throw fail('rate-limited', {
          detail: 'Too many repeated requests and questions from this address; try again later.',
          retryAfterSeconds: Math.ceil(waitSeconds),
        });
    },
    countRefused(clientIp, sender) {
      const waitSeconds = bounds.refused.take(`${record.id} ${sender ?? subscriberOf(clientIp)}`, context.clock.monotonicMs());
      if (waitSeconds > 0)
        throw fail('rate-limited', {
          detail: 'Too many messages of this sender were refused; mend what the last answer said, and try again later.',
          retryAfterSeconds: Math.ceil(waitSeconds),
        });
    },
    noteFailure: (failure) => noteFailure(context, ca, failure),
    forgetFailures: (clientIp) => forgetFailures(context, ca, clientIp),
    readRequest: (der) => requestOf(context, limit, ca, verifyCsr(der, familiesUnder(keyType))),
    readTemplate: (der, takesRaVerified) => requestOf(context, limit, ca, verifyTemplate(der, familiesUnder(keyType), takesRaVerified)),
    findRegistration: (der) => findRegistration(context, ca, der),
    nextCertificates() {
      const next = findNext(context, ca);
      return next && [newestCertificate(next.record), ...(newestGeneration(next.record)?.chain ?? [])];
    },
    noteConfirmation(transaction, serial, isConfirmed) {
      const key = [tenantId, record.id, serial];
      const issued = transaction.get(context.tables.certificates, key);
      if (issued === undefined || (issued.unconfirmed !== true) === isConfirmed) return;
      const { unconfirmed: _, ...confirmed } = issued;
      transaction.put(context.tables.certificates, key, isConfirmed ? confirmed : { ...issued, unconfirmed: true });
    },
  };
}

function requestOf(context: CaContext, limit: FailureLimit, ca: FoundCa, csr: VerifiedCsr): VerifiedRequest {
  const { record } = ca;
  const { subjectText, nameTexts, keyName, challengePassword, decryptKey } = csr.content;
  return {
    subject: subjectText,
    names: nameTexts,
    keyName,
    challengePassword,
    decryptKey,
    approve: () => issuable(context, ca, approveByPolicy(csr, record.est)),
    approveRenewal(held) {
      const certificate = readCertificate(held.certificate);
      return issuable(
        context,
        ca,
        approveRenewal(csr, certificate, record.est, limitsOf(certificate, findIssued(context, ca, certificate))),
      );
    },
    makeKey: () => makeForDevice(context, limit, ca, csr),
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

async function makeForDevice(context: CaContext, limit: FailureLimit, ca: FoundCa, { content }: VerifiedCsr): Promise<MadeForDevice> {
  const type = typeLike(content);
  const { keyType = '' } = ca.record;
  if (type === undefined || !context.hsm.offers(type))
    throw failCa('invalid-csr', { detail: `No key of the kind ${content.keyName} is made here: ask with a key of another kind.` });
  const { subject, wantsServerAuth: isForServers } = content;
  const names = content.alternativeNames.map(({ whole }) => whole);
  const { csr, key } = await makeRequest(context, ca.tenantId, { type, subject, names, isForServers });
  return {
    request: requestOf(context, limit, ca, verifyCsr(readCsrPem(csr), familiesUnder(keyType))),
    take: (use) => takeKey(context, key, use),
    drop: () => dropKey(context, key),
  };
}

const revokedMeanwhile: EnrolmentOutcome = {
  status: 'refused',
  why: 'credential',
  detail: 'The credential was not accepted: the certificate that signed is revoked.',
};

/** Names under which messages that prove nothing, and proofs that fail, are counted. */
const unproven = ({ id }: CaRecord): string => `${id} refused`;
const unproved = ({ id }: CaRecord): string => `${id} unproved`;
const proofsFailed = 'proofs of names that have failed';
const nothingProven = 'refused messages';
/** Repetitions and questions of an address to a CA, in each process: devices behind one address ask again together after a fault. */
const repeatedRate = { atOnce: 200, perMinute: 1_200 };
/** Refusals of one sender by a CA, in each process: a device mends its request, or a person does. */
const refusedRate = { atOnce: 100, perMinute: 100 };

/** The settings that users write for a protocol. Names and lives are the same for all protocols. */
function enrolmentOf({ est, scep, acme, cmp }: CaRecord, protocol: string): EnrolmentSettings | undefined {
  if (protocol === 'acme' && acme?.enabled === true) {
    const { externalAccountRequired, challenges, caaIdentities = [] } = acme;
    const none = { sharedSecret: undefined, takesTrustedCertificates: false, renewsHeldCertificates: false } as const;
    return { ...none, acme: { externalAccountRequired, challenges, caaIdentities: caaIdentities.map((one) => one.toLowerCase()) } };
  }
  if (protocol === 'scep' && scep?.enabled === true)
    return {
      sharedSecret: scep.initialEnrollSecret,
      takesTrustedCertificates: false,
      renewsHeldCertificates: scep.allowReenrollWithIssuedCert,
      oldAlgorithms: scep.allowOld,
    };
  if (protocol === 'cmp' && cmp?.enabled === true)
    return {
      sharedSecret: cmp.initialEnrollSecret,
      takesTrustedCertificates: cmp.allowTrustedCert && est.initialEnrollTrustCa !== undefined,
      renewsHeldCertificates: cmp.allowReenrollWithIssuedCert,
      oldAlgorithms: cmp.allowOld,
      ...defined({
        messageTimeSeconds:
          cmp.messageTimeWindow === undefined ? undefined : parseDuration(cmp.messageTimeWindow, 'cmp/message-time-window').seconds,
      }),
    };
  if (protocol !== 'est' || !est.enabled) return undefined;
  return {
    sharedSecret: est.initialEnrollSecret,
    takesTrustedCertificates: est.initialEnrollTrustCa !== undefined,
    renewsHeldCertificates: est.allowReenrollWithIssuedCert,
    makesKeys: est.serverKeygen === true,
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

function issuable(context: CaContext, ca: FoundCa, approved: ApprovedRequest): Issuable {
  return {
    async issue(options) {
      const longest = parseDuration(ca.record.est.ttl, 'est/ttl').seconds;
      const ttlSeconds = Math.min(longest, approved.content.limits?.ttlSeconds ?? longest);
      const { serial, record } = await issueCertificate(context, ca, approved, { ...options, ttlSeconds });
      return { serial, certificate: record.certificate, subject: record.subject, names: record.names };
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
