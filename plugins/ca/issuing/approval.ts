// Approval of requests: only the functions here make an ApprovedRequest, and certificates are issued for nothing else.
import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { Certificate } from '../der/certificate.ts';
import type { VerifiedCsr } from './csr.ts';
import { failCa } from '../errors.ts';
import { dnsName, ipAddress } from '../der/extensions.ts';
import { findForbiddenName, type IdentityPolicy } from './identity-policy.ts';
import type { CertifiedNames } from './name-constraints.ts';
import { formatAlternativeName, parseAlternativeName } from '../names/alternative-name.ts';
import { areSameNames, isAmongNames } from '../names/same-name.ts';
import { parseIpAddress } from '../../../core/der/ip.ts';
import { commonName, formatName, isSameName, parseName, readName, readRelativeNames } from '../../../core/der/name.ts';
import { extensionId, nameAttributes } from '../../../core/der/oids.ts';
import type { KeyFamily } from '../der/public-key.ts';
import { readAlternativeNames } from '../der/read-extensions.ts';
import type { FixedIdentity } from '../records/enrolments.ts';
import type { Purpose, RenewalLimits } from '../records/records.ts';

/** Beside those that are asked for: the purpose of a registration authority. */
export type CertifiedPurpose = Purpose | 'cmcRA';

/** The parts of a certificate that come from the request; the profile decides the rest. */
type RequestContent = {
  /** DER Name */
  readonly subject: Uint8Array;
  /** DER GeneralName entries, as they stood in the request */
  readonly alternativeNames: readonly Uint8Array[];
  /** DER SubjectPublicKeyInfo */
  readonly publicKey: Uint8Array;
  readonly keyFamily: KeyFamily;
  readonly purposes: readonly CertifiedPurpose[];
  /** serial number of the certificate that is renewed, which has the same names; undefined when none is */
  readonly renews: string | undefined;
  /** limits kept with the certificate, for its renewals; undefined if only the rules for devices count */
  readonly limits?: RenewalLimits | undefined;
};

/** A request that was approved by policy, by an administrator, or by the appliance for its listeners. */
class ApprovedRequest {
  // Private, so that an object literal is not accepted as an approval.
  readonly #content: RequestContent;

  constructor(content: RequestContent) {
    this.#content = content;
  }

  get content(): RequestContent {
    return this.#content;
  }
}
export type { ApprovedRequest };

/** Approves a device's first enrolment: every name must be allowed. Throws `identity-not-allowed`. */
export function approveByPolicy(csr: VerifiedCsr, policy: IdentityPolicy): ApprovedRequest {
  return approveNames(csr, policy, {});
}

/**
 * Approves a first enrolment of a device whose identity an administrator wrote down: exactly this subject, and of these alternative names any.
 * The identity policy counts as well, unless the administrator may allow other names. Throws `identity-not-allowed`.
 */
export function approveIdentity(csr: VerifiedCsr, identity: FixedIdentity, policy: IdentityPolicy): ApprovedRequest {
  const { subject, alternativeNames } = csr.content;
  const wanted = parseName(identity.subject);
  if (wanted === undefined || !isDeepStrictEqual(relativesOf(wanted), relativesOf(subject)))
    throw refusal(`the secret is for the subject "${identity.subject}" alone`);
  const allowed = identity.names.map(parseAlternativeName);
  const other = alternativeNames.find((name) => !isAmongNames(name, allowed));
  if (other !== undefined) throw refusal(`the secret is not for the alternative name "${formatAlternativeName(other)}"`);
  const limits: RenewalLimits = { purposes: ['clientAuth', 'serverAuth'], namesAllowed: true };
  return approveNames(csr, policy, identity.beyondPolicy ? { limits } : {});
}

/**
 * Approves a request whose names were proved to a protocol, which renews it as well: every name must be allowed, and the subject says nothing
 * else, which nobody has proved. Throws `identity-not-allowed`.
 */
export function approveProven(
  csr: VerifiedCsr,
  policy: IdentityPolicy,
  { purposes, protocol }: { readonly purposes: readonly Purpose[]; readonly protocol: string },
): ApprovedRequest {
  const problem = findForbiddenName(policy, csr.content);
  if (problem !== undefined) throw refusal(problem);
  const unproved = formatUnproved(csr);
  if (unproved !== '') throw refusal(`nobody has proved "${unproved}" of the subject`);
  return approved(csr, purposes, { limits: { purposes, provedTo: protocol } });
}

/** The attributes of a subject beside its common names, as text: no protocol proves them. Empty without any. */
export function formatUnproved(csr: VerifiedCsr): string {
  return formatName(csr.content.subjectAttributes.filter(({ type }) => type !== nameAttributes.CN));
}

/** The certificate that is renewed, and what its renewals keep to. */
type Renewal = { readonly renews?: string; readonly limits?: RenewalLimits | undefined };

function approveNames(csr: VerifiedCsr, policy: IdentityPolicy, renewal: Renewal, names: CertifiedNames = csr.content): ApprovedRequest {
  const { changesSubject, wantsServerAuth } = csr.content;
  if (changesSubject) throw refusal('ChangeSubjectName is not supported');
  const { subject, alternativeNames } = names;
  const identity = { subjectAttributes: readName(subject), alternativeNames };
  const problem = renewal.limits?.namesAllowed === true ? undefined : findForbiddenName(policy, identity);
  if (problem !== undefined) throw refusal(problem);
  // A usage that cannot be given is left out, as at the first issue: devices ask by the same template forever.
  const isForServers = wantsServerAuth && renewal.limits?.purposes.includes('serverAuth') !== false;
  return approved(csr, isForServers ? ['clientAuth', 'serverAuth'] : ['clientAuth'], renewal, names);
}

/**
 * Approves a renewal: same subject and same set of alternative names as the certificate it renews, as RFC 5280 7 compares them, and the policy as of now;
 * of the usages those within the limits alone. The names are certified as they are on record, however the request writes them.
 */
export function approveRenewal(
  csr: VerifiedCsr,
  held: Certificate,
  policy: IdentityPolicy,
  limits: RenewalLimits | undefined,
): ApprovedRequest {
  // A holder who had a name once would keep it by its certificate alone.
  if (limits?.provedTo !== undefined)
    throw refusal(`its names were proved by ${limits.provedTo.toUpperCase()} and are proved again: renew the certificate by it`);
  const names = { subject: held.subject, alternativeNames: readAlternativeNames(held.extensions.get(extensionId.subjectAltName)) };
  if (!isSameIdentity(csr, names)) throw refusal('subject and alternative names must be those of the certificate that is renewed');
  return approveNames(csr, policy, { renews: held.serial, limits }, names);
}

/**
 * Approves a request for a caller who may sign freely: the names are the caller's decision, the profile stays that of the appliance. Throws
 * `invalid-csr` for a request that names nobody (RFC 5280 4.1.2.6: without a subject there are alternative names).
 */
export function approveByAdministrator(csr: VerifiedCsr, limits: RenewalLimits): ApprovedRequest {
  const { subjectAttributes, alternativeNames } = csr.content;
  if (alternativeNames.every(({ content }) => content.length === 0) && subjectAttributes.every(({ value }) => value.trim() === '')) {
    throw failCa('invalid-csr', { detail: 'The certification request names nobody: give it a subject, or a subjectAltName.' });
  }
  return approved(csr, limits.purposes, { limits });
}

/** Approves what a caller of `sign-csr` asks for: every name must be allowed, as for devices. Throws `identity-not-allowed`. */
export function approveWithin(csr: VerifiedCsr, policy: IdentityPolicy, limits: RenewalLimits): ApprovedRequest {
  const problem = findForbiddenName(policy, csr.content);
  if (problem !== undefined) throw refusal(problem);
  return approved(csr, limits.purposes, { limits });
}

/** Approves the appliance's own listener certificate (an EC key) for these host names and addresses; the first that is short enough is the common name. */
export function approveListener(publicKey: Uint8Array, hosts: readonly string[], keyFamily: KeyFamily = 'ec'): ApprovedRequest {
  return new ApprovedRequest({
    // RFC 5280 A.1: a common name has at most 64 characters; clients compare the alternative names.
    subject: commonName(hosts.find((host) => host.length <= 64) ?? 'keystored'),
    alternativeNames: hosts.map((host) => (isIP(host) > 0 ? ipAddress(parseIpAddress(host)) : dnsName(host))),
    renews: undefined,
    publicKey,
    keyFamily,
    purposes: ['serverAuth'],
  });
}

/**
 * Approves the certificate of a member of a cluster: names are not those of the request. Etcd compares the address with that of the one
 * that connects, and the common name is the id of the appliance.
 */
export function approveMember(csr: VerifiedCsr, appliance: string, address: string): ApprovedRequest {
  const { publicKey, keyFamily } = csr.content;
  return new ApprovedRequest({
    ...{ subject: commonName(appliance), alternativeNames: [ipAddress(parseIpAddress(address))], renews: undefined },
    ...{ publicKey, keyFamily, purposes: ['serverAuth', 'clientAuth'] },
  });
}

/** Approves the certificate of a CA's own registration authority. */
export function approveRegistration(publicKey: Uint8Array, caName: string, keyFamily: KeyFamily): ApprovedRequest {
  return new ApprovedRequest({
    ...{ subject: commonName(`${caName.slice(0, 40)} registration`), alternativeNames: [], renews: undefined },
    ...{ publicKey, keyFamily, purposes: ['cmcRA'] },
  });
}

function approved(
  csr: VerifiedCsr,
  purposes: readonly Purpose[],
  { renews, limits }: Renewal,
  { subject, alternativeNames }: CertifiedNames = csr.content,
): ApprovedRequest {
  const { publicKey, keyFamily } = csr.content;
  const names = { subject, alternativeNames: alternativeNames.map(({ whole }) => whole), renews };
  return new ApprovedRequest({ ...names, publicKey, keyFamily, purposes, limits });
}

/** The attributes that share each relative name; of which comes first there is up to the string types. */
const relativesOf = (name: Uint8Array): string[][] =>
  readRelativeNames(name).map((attributes) => attributes.map(({ type, value }) => `${type} ${value}`).toSorted());

/** Names that cannot be read are those of nobody. */
function isSameIdentity({ content }: VerifiedCsr, names: CertifiedNames): boolean {
  return isSameName(content.subject, names.subject) && areSameNames(content.alternativeNames, names.alternativeNames);
}

const refusal = (problem: string) => failCa('identity-not-allowed', { detail: `The requested identity is not permitted: ${problem}.` });
