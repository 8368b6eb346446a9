// The resource certificate role: which certificates log in, what they get, and how tightly it is bound to them.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { requireOwnBounds } from '../../../core/access/policy/granting.ts';
import { invalid } from '../../../core/base/texts/invalid.ts';
import { readDer } from '../../../core/base/texts/pem.ts';
import { defineResource, keptNames, type AnyResource, type Change, type Plan } from '../../../core/http/resource/resource.ts';
import { givesLess, requireKnownPolicies, requireLives, widenedTokens } from '../../../core/platform/sessions/login-role.ts';
import type { ClientAuthority } from '../../../core/plugin/services/certificate-authority.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import { certificateTag, type Logins } from '../context.ts';
import { findPatternProblem } from '../names.ts';
import { asks } from '../responders.ts';
import { roleDocument, type RoleDocument, type RoleRecord } from '../role-record.ts';

const stateFields = z.object({
  notices: z.array(z.string()).describe('What an administrator should know, in sentences.'),
});

export const rolePath = 'keystore/authentication/certificate/roles';

export function roleResource(logins: Logins): AnyResource {
  return defineResource<RoleDocument, RoleRecord>({
    path: rolePath,
    tag: certificateTag,
    noun: 'certificate role',
    act: 'change-trust',
    removalEnds: 'deletes the role: no certificate logs in by it, and the tokens of such logins end',
    nameField: 'name',
    scope: 'tenant',
    table: logins.roles,
    document: roleDocument,
    stateFields,
    // Only holders of the policies may give them to more certificates.
    judgedBy: {
      ...Object.fromEntries(conditions.map((field) => [field, ['tokenPolicies', 'trustCa'].filter((other) => other !== field)])),
      tokenBoundCidrs: ['tokenPolicies'],
      tokenTtl: ['tokenPolicies', 'tokenMaxTtl'],
      tokenMaxTtl: ['tokenPolicies', 'tokenTtl'],
    },
    warnings: warningsOf,
    plan: (change) => planRole(logins, change),
    planRemoval: ({ caller: { tenantId } }, _names, { grant }) => ({
      commit: (transaction) => logins.accounts.endGrant(transaction, tenantId, grant),
    }),
    // Roles of earlier versions have no such field.
    toDocument: ({ name: _name, anchor: _anchor, grant: _grant, ...document }) => ({
      ...document,
      ocspFromCertificate: document.ocspFromCertificate ?? false,
    }),
    toState: (record, { caller }, shows) => ({
      notices: shows('trust-ca') && shows('crl-urls') ? noticesOf(logins, caller.tenantId, record) : [],
    }),
  });
}

/** Fields that say who can log in, and how their tokens are bound. */
const conditions = [
  'trustCa',
  'nameFrom',
  'names',
  'issuedVia',
  'revocation',
  'crl',
  'crlUrls',
  'ocspUrls',
  'ocspFromCertificate',
  'boundTo',
] as const;

function planRole(logins: Logins, change: Change<RoleDocument, RoleRecord>): Plan<RoleRecord, undefined> {
  const { call, names, document: wanted, current, blindly } = change;
  const { caller } = call;
  const { tenantId } = caller;
  const { accounts } = logins;
  const kept = keptNames(current?.tokenPolicies, blindly('tokenPolicies'));
  accounts.requireHeld(caller, 'token-policies', wanted.tokenPolicies, kept);
  requireKnownPolicies(accounts, tenantId, wanted.tokenPolicies, kept);
  const authority = requireUsable(logins, tenantId, wanted, current);
  const wider = current === undefined ? undefined : widenedField(wanted, current, authority, blindly);
  if (wider !== undefined) accounts.requireHeld(caller, toKebab(wider), wanted.tokenPolicies, []);
  const gains = wanted.tokenPolicies.some((policy) => current?.tokenPolicies.includes(policy) !== true);
  if (current === undefined || wider !== undefined || gains) requireOwnBounds(caller, wanted);
  const ends =
    current !== undefined &&
    (givesLess(accounts, tenantId, wanted, current) ||
      current.anchor !== authority.anchor ||
      conditions.some((field) => !isDeepStrictEqual(wanted[field], current[field])));
  return {
    approvedFor: authority.anchor,
    commit(transaction) {
      if (ends) accounts.endGrant(transaction, tenantId, current.grant);
      const grant = current === undefined || ends ? accounts.openGrant(transaction, tenantId) : current.grant;
      return { ...wanted, name: names[0] ?? '', anchor: authority.anchor, grant };
    },
  };
}

/** Finds a field that gives the policies to more certificates, or to who has not their key, or may do so as far as the caller can know. */
function widenedField(
  wanted: RoleDocument,
  current: RoleRecord,
  authority: ClientAuthority,
  blindly: Change<RoleDocument, RoleRecord>['blindly'],
): keyof RoleDocument | undefined {
  const guessed = [...conditions, 'tokenTtl' as const, 'tokenMaxTtl' as const, 'tokenBoundCidrs' as const].find(
    (field) => blindly(field) !== undefined,
  );
  if (guessed !== undefined) return guessed;
  if (authority.anchor !== current.anchor) return 'trustCa';
  if (wanted.nameFrom !== current.nameFrom) return 'nameFrom';
  if (wanted.names.some((name) => !current.names.includes(name))) return 'names';
  const isAny = wanted.issuedVia.length === 0 && current.issuedVia.length > 0;
  if (isAny || (current.issuedVia.length > 0 && wanted.issuedVia.some((way) => !current.issuedVia.includes(way)))) return 'issuedVia';
  if (wanted.revocation === 'none' && current.revocation !== 'none') return 'revocation';
  if (wanted.crl !== current.crl) return 'crl';
  if (!isDeepStrictEqual(wanted.crlUrls, current.crlUrls)) return 'crlUrls';
  if (!isDeepStrictEqual(wanted.ocspUrls, current.ocspUrls)) return 'ocspUrls';
  if (wanted.ocspFromCertificate !== (current.ocspFromCertificate ?? false)) return 'ocspFromCertificate';
  if (tightness[wanted.boundTo] < tightness[current.boundTo]) return 'boundTo';
  return widenedTokens(wanted, current);
}

const tightness = { none: 0, key: 1, certificate: 2 } as const;

/** The CA of a role that can work. Throws `invalid-value`. */
function requireUsable(logins: Logins, tenantId: string, wanted: RoleDocument, current: RoleRecord | undefined): ClientAuthority {
  const authority = logins.authorities.findClientAuthority(tenantId, wanted.trustCa);
  if (authority === undefined) throw invalid('trust-ca', 'must name a CA of this tenant that is not of the appliance itself');
  // Another change of the role must not trust a CA that nobody has named for it.
  if (current?.trustCa === wanted.trustCa && current.anchor !== authority.anchor)
    throw invalid(
      'trust-ca',
      'names a CA that was made again, or has another certificate: delete the role, and make it again for this one',
    );
  for (const [index, pattern] of wanted.names.entries()) {
    const rule = findPatternProblem(pattern, wanted.nameFrom);
    if (rule !== undefined) throw invalid(`names/${index}`, `must ${rule}`);
  }
  requireLives(wanted);
  if (authority.isOwn) {
    const [field] = ofForeign.filter((one) => isSaid(wanted[one]));
    if (field !== undefined) throw invalid(toKebab(field), 'is for a trust-only CA: revocations of this one are known here');
    if (wanted.revocation === 'none') throw invalid('revocation', 'is for a trust-only CA: revoked certificates of this one never log in');
    return authority;
  }
  if (wanted.issuedVia.length > 0) throw invalid('issued-via', 'is for a CA with a key here: of a trust-only CA nothing is on record');
  const [idle] = wanted.revocation === 'none' ? ofForeign.filter((one) => isSaid(wanted[one])) : [];
  if (idle !== undefined) throw invalid(toKebab(idle), 'has no meaning with revocation none');
  // A URL with credentials would show them to everybody who reads the role.
  for (const field of ['crlUrls', 'ocspUrls'] as const)
    if (wanted[field]?.some((url) => new URL(url).username !== '' || new URL(url).password !== '') === true)
      throw invalid(toKebab(field), 'must be URLs without credentials');
  const isFetched = wanted.crlUrls !== undefined || asks(wanted);
  if (wanted.revocation === 'checked' && (wanted.crl !== undefined || !isFetched)) requireLists(wanted.crl, authority);
  return authority;
}

/** Fields by which revocations of a CA elsewhere are known. */
const ofForeign = ['crl', 'crlUrls', 'ocspUrls', 'ocspFromCertificate'] as const;

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== false;
}

function requireLists(crl: string | undefined, authority: ClientAuthority): void {
  if (crl === undefined)
    throw invalid(
      'crl',
      'is required for a trust-only CA: give its revocation lists, or crl-urls at which they are, or OCSP responders (ocsp-urls, ocsp-from-certificate), or say revocation none, with which revoked certificates log in',
    );
  const lists = listsIn(crl);
  if (lists.length === 0) throw invalid('crl', 'must be revocation lists in PEM (X509 CRL), or one as base64 of its DER');
  if (!lists.some((list) => authority.hasSigned(list)))
    throw invalid('crl', 'must have a complete list that the CA itself has signed, with nextUpdate and without critical extensions');
}

/** DER of the lists; none where the text has something else. */
export function listsIn(crl: string): readonly Uint8Array[] {
  return readDer(crl, 'X509 CRL') ?? [];
}

function warningsOf(role: RoleDocument | RoleRecord): readonly string[] {
  const { names, boundTo, revocation } = role;
  const isForeign = ofForeign.some((field) => isSaid(role[field])) || revocation === 'none';
  return [
    ...(boundTo === 'none' ? ['"bound-to" none: a stolen token works without the key of its certificate.'] : []),
    ...(revocation === 'none' ? ['"revocation" none: a certificate of this CA logs in after its CA has revoked it.'] : []),
    ...(isForeign && names.includes('*') ? ['"names" *: each client certificate that the CA makes, for whatever purpose, logs in.'] : []),
  ];
}

function noticesOf({ authorities, lists }: Logins, tenantId: string, record: RoleRecord): readonly string[] {
  const authority = authorities.findClientAuthority(tenantId, record.trustCa);
  if (authority?.anchor !== record.anchor) return ['The CA of the role was deleted, or has another certificate: nobody logs in.'];
  const rights = authority.isOwn ? ['Who may issue certificates of this CA can get the policies of the role.'] : [];
  const unfetched = lists
    .known(tenantId, record.crlUrls ?? [])
    .flatMap(({ url, problem }) => (problem === undefined ? [] : [`The revocation list at ${url} was not fetched: ${problem}.`]));
  return [...rights, ...warningsOf(record), ...unfetched];
}
