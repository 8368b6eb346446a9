// The TLS CA resource: makes, changes and removes CAs, and shows what they are.
import { certificateLabels, readDer, seenInPem } from '../../core/base/texts/pem.ts';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { defined } from '../../core/base/defined.ts';
import { fail } from '../../core/base/errors.ts';
import { systemTenantName } from '../../core/access/tenants.ts';
import type { EndpointCall } from '../../core/http/endpoint.ts';
import { type AnyResource, type Change, defineResource, type Plan, type Removal } from '../../core/http/resource/resource.ts';
import type { EnrolmentProtocol } from '../../core/plugin/services/certificate-authority.ts';
import type { StoreKey } from '../../core/store/store.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import type { KeyType } from '../../hsm/api.ts';
import { type CaDocument, caDocument, caStateFields, findKeyType, keyFields, paddingOf, requireNoKeyFields } from './document.ts';
import { acmeDocument, cmpDocument, cmpSettings, enrolmentSettings, requireFitSecret, scepSettings } from './enrolment/document.ts';
import {
  certificatesOf,
  discardGeneration,
  keepGeneration,
  type MadeGeneration,
  makeCaGeneration,
  requireCaCertificate,
  requireIssuingCa,
} from './life.ts';
import { requireSubject } from './issuing/subject.ts';
import { formatCertificatePem, readCertificate } from './der/certificate.ts';
import { failCa } from './errors.ts';
import type { CaContext } from './context.ts';
import { registrationState } from './registration/registration.ts';
import { publishedStatus } from './status/published.ts';
import { findOutstanding, keepLastCrls, lastGeneration, type MadeLastCrl, makeLastCrls, type Outstanding } from './status/last-crl.ts';
import { findUsableCa, newestCertificate, ofTheAppliance } from './authority/lookup.ts';
import { ownNames } from './own/names.ts';
import { constraintsOf, nameLimitsOf } from './issuing/certifying.ts';
import { limitsAsIssuer, requireNamesLeft, requirePolicyWithin } from './issuing/issuer-limits.ts';
import { familiesUnder } from './issuing/csr.ts';
import { disabledAcme, disabledCmp, disabledScep, type ScepSettings } from './records/enrolments.ts';
import { type CaRecord, nameLimitFields, newestGeneration } from './records/records.ts';
import { endOfCa, endTrust, removeCaRecords, revokeOwnCertificates, serialsOf, sweepRemovedCas } from './removal.ts';
import { revoking } from './actions/revoke.ts';
import { actsOfCa } from './authority/acts.ts';
import { caTag } from './tags.ts';
import {
  enrolmentRights,
  requireAcmeSigner,
  requireCmpSigner,
  requireScepSigner,
  requireSigner,
  requireSignerOfTrusting,
} from './wider-enrolment.ts';

/** `/v1/config/keystore/tls/ca` and its state tree. `protocols`: how devices enrol here; attached after this call. */
export function caResource(context: CaContext, protocols: readonly EnrolmentProtocol[]): AnyResource {
  return defineResource<CaDocument, CaRecord, MadeGeneration | undefined>({
    path: 'keystore/tls/ca',
    tag: caTag,
    noun: 'TLS CA',
    acts: (change) => actsOfCa(context, change),
    removalEnds: 'destroys the key of the CA: it can no longer issue or revoke',
    nameField: 'name',
    scope: 'tenant',
    table: context.tables.cas,
    document: caDocument,
    stateFields: caStateFields,
    creationFields: ['certKeyType', 'certKeyCurve', 'certKeyBits', 'signatureAlgorithm', 'subject', 'issuingCa', ...nameLimitFields],
    judgedBy: {
      ...{ certKeyCurve: ['certKeyType'], certKeyBits: ['certKeyType'], signatureAlgorithm: ['certKeyType'] },
      certKeyType: ['certKeyCurve', 'certKeyBits', 'signatureAlgorithm'],
    },
    removalJudgedBy: ['deletionAllowed', 'issuingCa'],
    removalTells: [{ list: 'keystore/tls/ca', field: 'issuing-ca' }],
    secretFields: ['est.initialEnrollSecret', 'scep.initialEnrollSecret', 'cmp.initialEnrollSecret'],
    fieldRights: enrolmentRights,
    removalRights: [
      { field: 'issuing-ca', operation: 'execute', path: '/v1/state/keystore/tls/ca/{}/revoke', when: 'no certificate of the CA is valid' },
    ],
    errors: ['unsupported-key-type', 'invalid-certificate', 'ca-expired', 'in-use', 'deletion-not-allowed', 'clock-implausible'],
    complete: completeNewCa,
    plan: (change) => planChange(context, protocols, change),
    planRemoval: (call, [name = ''], current) => planRemoval(context, call, name, current),
    toDocument,
    toState: (record, call, shows) => toState(context, protocols, record, call, shows),
  });
}

type CaChange = Change<CaDocument, CaRecord>;

/** Key and subject of a new CA that does not say; choices that do not go together stay for the plan to refuse. */
function completeNewCa({ names: [name = ''], document, current }: Omit<CaChange, 'call'>): CaDocument {
  const keyType = current === undefined && document.caCert === undefined ? findKeyType(document) : undefined;
  return keyType === undefined ? document : { ...document, ...keyFields(keyType), subject: document.subject ?? `CN=${name}` };
}

function planChange(
  context: CaContext,
  protocols: readonly EnrolmentProtocol[],
  change: CaChange,
): Plan<CaRecord, MadeGeneration | undefined> {
  const { current, document, names } = change;
  const [name = ''] = names;
  requireFreeName(protocols, change);
  if (current?.ownedByAppliance === true) throw fail('built-in', { detail: ofTheAppliance });
  const trustedCaId = requireTrustCa(context, change, name);
  const est = enrolmentSettings(document);
  requireFitSecret('est', est, current?.est);
  const scep = scepSettings(document);
  requireFitSecret('scep', scep, current?.scep);
  const nextCaId = requireNextCa(context, change, name);
  requireScepPossible(scep, current === undefined ? findKeyType(document) : current.keyType, document.caCert !== undefined);
  const { acme } = document;
  const cmp = cmpSettings(document);
  requireFitSecret('cmp', cmp, current?.cmp);
  for (const [name, { enabled }] of Object.entries({ acme, cmp }))
    if (enabled && document.caCert !== undefined)
      throw fail('invalid-value', { detail: `A CA with "ca-cert" is trust-only and issues nothing: "${name}/enabled" stays false.` });
  const trustCertificate = document.caCert === undefined ? undefined : readTrustCertificate(context, document.caCert);
  if (current !== undefined) {
    requireSigner(change, est, current.est);
    requireScepSigner(change, est, scep, current.scep ?? disabledScep);
    requireAcmeSigner(change, est, acme, current.acme ?? disabledAcme);
    requireCmpSigner(change, est, cmp, current.cmp ?? disabledCmp);
    if ((trustCertificate === undefined) !== (current.trustCertificate === undefined)) {
      throw fail('immutable-field', { detail: 'A CA with a key cannot become trust-only, nor the reverse; make another CA.' });
    }
    if (!isDeepStrictEqual(trustCertificate, current.trustCertificate)) requireSignerOfTrusting(context, change, current);
    requirePolicyWithin(certificatesOf(newestGeneration(current)), est, current.est);
    const { ttl, deletionAllowed, deltaCrl } = document;
    return {
      commit(transaction) {
        if (!isDeepStrictEqual(trustCertificate, current.trustCertificate))
          for (const ends of context.ends) ends.removed(transaction, change.call.caller.tenantId, current.id);
        return { ...current, ttl, deletionAllowed, deltaCrl, est, scep, acme, cmp, trustedCaId, nextCaId, trustCertificate };
      },
    };
  }
  const { ttl, deletionAllowed, deltaCrl } = document;
  const createdAt = formatTimestamp(context.clock.now());
  const first = { name, createdAt, ttl, deletionAllowed, deltaCrl, est, scep, acme, cmp, trustedCaId, nextCaId, generations: [] };
  if (trustCertificate !== undefined) {
    requireNoKeyFields(document);
    return { commit: () => ({ ...first, id: randomUUID(), keyType: undefined, subject: '', issuingCa: undefined, trustCertificate }) };
  }
  return planKeyedCa(context, change, { ...first, trustCertificate: undefined });
}

function requireFreeName(protocols: readonly EnrolmentProtocol[], { call, names: [name = ''], current }: CaChange): void {
  if (current === undefined && call.caller.tenantName === systemTenantName && ownNames.has(name))
    throw fail('invalid-value', { detail: `"${name}" is the name of a CA that the appliance makes for itself.` });
  const protocol = protocols.find(({ reservedNames }) => reservedNames.has(name));
  if (protocol === undefined) return;
  throw fail('invalid-value', { detail: `"${name}" is the name of an ${protocol.title} operation and cannot name a CA.` });
}

/** A new CA with a key: everything that can be refused is refused before the token makes one. */
function planKeyedCa(
  context: CaContext,
  { call, document }: CaChange,
  first: Omit<CaRecord, 'id' | 'keyType' | 'subject' | 'issuingCa'>,
): Plan<CaRecord, MadeGeneration | undefined> {
  const keyType = requireKeyType(context, document);
  const { subject = '' } = document;
  const signing = paddingOf(document, keyType);
  requireSubject(subject);
  const { tenantId } = call.caller;
  const issuer = document.issuingCa === undefined ? undefined : requireIssuingCa(context, tenantId, document.issuingCa);
  const limits = constraintsOf(document);
  requireNamesLeft(certificatesOf(issuer?.newest), limits);
  requirePolicyWithin([limitsAsIssuer(limits), ...certificatesOf(issuer?.newest)], first.est);
  const caId = randomUUID();
  const wish = {
    tenantId,
    caId,
    keyType,
    ...signing,
    subject,
    ttl: document.ttl,
    issuingCa: document.issuingCa,
    ...nameLimitsOf(document),
    lastGeneration: lastGeneration(context, tenantId, first.name),
  };
  return {
    prepare: () => makeCaGeneration(context, wish),
    commit(transaction, made) {
      if (made === undefined) throw new Error('a CA without a key');
      keepGeneration(context, transaction, made);
      return {
        ...first,
        id: caId,
        keyType,
        ...signing,
        subject,
        issuingCa: document.issuingCa,
        ...nameLimitsOf(document),
        generations: [made.generation],
      };
    },
    discard: async (made) => {
      if (made !== undefined) await discardGeneration(context, made);
    },
  };
}

function requireKeyType(context: CaContext, document: CaDocument): KeyType {
  const keyType = findKeyType(document);
  if (keyType === undefined) {
    throw fail('invalid-value', { detail: '"cert-key-curve" belongs to cert-key-type ecdsa and "cert-key-bits" to rsa.' });
  }
  if (context.hsm.offers(keyType)) return keyType;
  const mechanism = context.hsm.mechanismFor(keyType);
  throw failCa('unsupported-key-type', {
    detail: `No configured token, or not that of every appliance of the cluster, offers ${mechanism}, which cert-key-type ${document.certKeyType ?? 'ecdsa'} needs: add a token that does under hsm.tokens in the configuration, and start again.`,
  });
}

/** Answers of SCEP are encrypted to the key of the device, which is RSA. */
function requireScepPossible({ enabled }: ScepSettings, keyType: KeyType | undefined, isTrustOnly: boolean): void {
  if (!enabled) return;
  if (isTrustOnly)
    throw fail('invalid-value', { detail: 'A CA with "ca-cert" is trust-only and issues nothing: "scep/enabled" stays false.' });
  if (keyType !== undefined && !familiesUnder(keyType).includes('rsa'))
    throw fail('invalid-value', {
      detail:
        'SCEP encrypts to RSA keys of devices, which a CA with a key for ML-DSA does not certify: "scep/enabled" stays false, and devices enrol by EST.',
    });
}

/**
 * The id of the trust CA; undefined without one, and for a CA that trusts itself. A trust CA that is deleted later only makes first enrolments 401,
 * and one that gets its name is not trusted: otherwise a person who may make CAs would choose who enrols here.
 */
function requireTrustCa(context: CaContext, { call, document, current }: CaChange, name: string): string | undefined {
  const trusted = document.est.initialEnrollTrustCa;
  if (trusted === undefined || trusted === name) return undefined;
  if (trusted === current?.est.initialEnrollTrustCa) return current.trustedCaId;
  const found = findUsableCa(context, call.caller.tenantId, trusted);
  if (found === undefined) throw fail('invalid-value', { detail: '"est/initial-enroll-trust-ca" must name a CA of this tenant.' });
  return found.record.id;
}

/** The id of the CA that is named as the next one; undefined without one. A later CA of its name is not announced. */
function requireNextCa(context: CaContext, { call, document, current }: CaChange, name: string): string | undefined {
  const { nextCa } = document.scep;
  if (nextCa === undefined) return undefined;
  if (nextCa === current?.scep?.nextCa) return current.nextCaId;
  const found = nextCa === name ? undefined : findUsableCa(context, call.caller.tenantId, nextCa);
  if (found === undefined) throw fail('invalid-value', { detail: '"scep/next-ca" must name another CA of this tenant.' });
  return found.record.id;
}

function readTrustCertificate(context: CaContext, pem: string): Uint8Array {
  const [der, ...more] = readDer(pem, ...certificateLabels) ?? [];
  if (der === undefined || more.length > 0)
    throw failCa('invalid-certificate', { detail: `"ca-cert" must be one certificate in PEM; this is ${seenInPem(pem)}.` });
  return requireCaCertificate(context, der).der;
}

/** Plans a removal. The keys are destroyed permanently: relying parties keep the last CRLs, signed while there is a key and complete. */
function planRemoval(context: CaContext, call: EndpointCall, name: string, current: CaRecord): Removal {
  requireUnused(context, call, name, current);
  const { tenantId } = call.caller;
  const ca = { tenantId, record: current };
  const outstanding = findOutstanding(context, ca);
  requireDeletable(current, outstanding);
  if (outstanding.valid === 0 && current.issuingCa !== undefined)
    call.access.requireEffectAt(
      ['v1', 'state', 'keystore', 'tls', 'ca', current.issuingCa, 'revoke'],
      'execute',
      revoking(serialsOf(current), endOfCa),
    );
  let lastCrls: readonly MadeLastCrl[] = [];
  return {
    async prepare() {
      lastCrls = await makeLastCrls(context, ca, outstanding);
    },
    commit(transaction) {
      requireNoneBelow(call, name, Iterator.from(transaction.allEntries(context.tables.cas, [tenantId])));
      if (!isDeepStrictEqual(findOutstanding(context, ca, transaction), outstanding)) throw fail('conflict', { overtaken: true });
      keepLastCrls(context, transaction, ca, lastCrls);
      endTrust(context, transaction, ca);
      if (outstanding.valid === 0) revokeOwnCertificates(context, transaction, ca);
      removeCaRecords(context, transaction, tenantId, current);
    },
    // Records and keys that cannot be removed now, because the token is unreachable, are left to the hourly job.
    after: () => sweepRemovedCas(context).catch(() => undefined),
  };
}

/** Requires that a CA may be deleted. Unlike a key, one that nothing depends on may go without a flag. */
function requireDeletable({ name, deletionAllowed }: CaRecord, { valid, validUntil }: Outstanding): void {
  if (valid === 0 || deletionAllowed === true) return;
  const are = valid === 1 ? 'certificate of it is' : 'certificates of it are';
  throw fail('deletion-not-allowed', {
    detail: `${valid} ${are} valid, the last until ${validUntil}: CA "${name}" takes its key and its OCSP responder with it, and a last CRL alone stays. Revoke them first, or set deletion-allowed to true.`,
  });
}

function requireUnused(context: CaContext, call: EndpointCall, name: string, current: CaRecord): void {
  if (current.ownedByAppliance === true)
    throw fail('in-use', { detail: 'This CA certifies the appliance itself: its listeners, or the members of its cluster.' });
  requireNoneBelow(call, name, Iterator.from(context.tables.cas.allEntries([call.caller.tenantId])));
}

/**
 * Requires that no CA below exists; called again in the transaction: another may have been certified meanwhile. Names it to callers who may
 * read its issuer.
 */
function requireNoneBelow({ access }: EndpointCall, name: string, cas: IteratorObject<readonly [StoreKey, CaRecord]>): void {
  const below = cas.find(([, record]) => record.issuingCa === name)?.[1];
  if (below === undefined) return;
  const isShown = ['config', 'state'].some((tree) => access.shownAt(['v1', tree, 'keystore', 'tls', 'ca', below.name])('issuing-ca'));
  throw fail('in-use', { detail: `${isShown ? `CA "${below.name}"` : 'A CA'} is certified by this one; delete it first.` });
}

const copyOf = (list: readonly string[] | undefined): string[] | undefined => list && [...list];

function toDocument(record: CaRecord): CaDocument {
  const {
    allowedDomains,
    allowedUris,
    allowedEmails,
    allowedOtherNames,
    allowWildcards = false,
    serverKeygen = false,
    ...settings
  } = record.est;
  const shared = {
    ttl: record.ttl,
    deltaCrl: record.deltaCrl ?? false,
    deletionAllowed: record.deletionAllowed ?? false,
    est: {
      ...settings,
      allowWildcards,
      serverKeygen,
      allowedDomains: [...allowedDomains],
      ...defined({ allowedUris: copyOf(allowedUris), allowedEmails: copyOf(allowedEmails), allowedOtherNames: copyOf(allowedOtherNames) }),
    },
    scep: { ...(record.scep ?? disabledScep), allowOld: [...(record.scep ?? disabledScep).allowOld] },
    acme: acmeDocument(record.acme ?? disabledAcme),
    cmp: cmpDocument(record.cmp ?? disabledCmp),
  };
  if (record.trustCertificate !== undefined) return { ...shared, caCert: formatCertificatePem(record.trustCertificate) };
  return {
    ...(record.keyType === undefined ? {} : keyFields(record.keyType)),
    ...defined({ signatureAlgorithm: record.padding }),
    subject: record.subject,
    ...defined({ issuingCa: record.issuingCa }),
    ...record.nameLimits,
    ...shared,
  };
}

function toState(
  context: CaContext,
  protocols: readonly EnrolmentProtocol[],
  record: CaRecord,
  call: EndpointCall,
  shows: (field: string) => boolean,
): Record<string, unknown> {
  const newest = newestGeneration(record);
  const isEnrolled = record.est.enabled && newest !== undefined;
  const urlsOf = (name: string): readonly string[] =>
    protocols.filter((protocol) => protocol.name === name).flatMap((protocol) => protocol.urls(call.caller.tenantId, record.name));
  const registration = registrationState(context, { tenantId: call.caller.tenantId, record });
  const certificate = readCertificate(newestCertificate(record));
  return {
    uuid: record.id,
    creationTime: record.createdAt,
    trustOnly: newest === undefined,
    caCert: formatCertificatePem(certificate.der),
    chain: [certificate.der, ...(newest?.chain ?? [])].map(formatCertificatePem).join(''),
    serial: certificate.serial,
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    ...defined({ keyVersion: newest?.generation }),
    ...publishedStatus(context, call.caller.tenantId, record),
    est: {
      // The existence of any would reveal a hidden field.
      ...(shows('est/enabled') ? { httpsUrl: isEnrolled ? urlsOf('est') : [] } : {}),
    },
    scep: {
      ...(shows('scep/enabled') ? { url: record.scep?.enabled === true ? urlsOf('scep') : [] } : {}),
      ...registration,
    },
    acme: {
      ...(shows('acme/enabled') ? { directoryUrl: record.acme?.enabled === true ? urlsOf('acme') : [] } : {}),
    },
    cmp: {
      ...(shows('cmp/enabled') ? { url: record.cmp?.enabled === true ? urlsOf('cmp') : [] } : {}),
      ...registration,
    },
  };
}
