// The resource KMIP client: whose certificate it is, the space that it works in, and the policies by which its operations are judged.
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { requireOwnBounds } from '../../../core/access/policy/granting.ts';
import { isReservedUser } from '../../../core/access/user.ts';
import { areWithin } from '../../../core/base/addresses.ts';
import { defined } from '../../../core/base/defined.ts';
import { failAt, invalid } from '../../../core/base/texts/invalid.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { type AnyResource, type Change, defineResource, keptNames, type Plan } from '../../../core/http/resource/resource.ts';
import { requireKnownPolicies } from '../../../core/platform/sessions/login-role.ts';
import type { ClientAuthority } from '../../../core/plugin/services/certificate-authority.ts';
import { timestampText } from '../../../core/wire/fields.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import type { Kmip } from '../context.ts';
import { kmipTag } from '../tags.ts';
import { type ClientDocument, clientDocument, type ClientRecord } from '../records/client-record.ts';
import { type Owner, ownersAt, placeOfFingerprint, placeOfName, putPlaces } from './places.ts';
import { listsIn } from './recognise.ts';

const stateFields = z.object({
  creationTime: timestampText().describe('When it was made.'),
  notices: z.array(z.string()).describe('What an administrator should know, in sentences.'),
});

const clientPath = 'keystore/kmip-clients';

/** Fields that say who is taken for the client. */
const conditions = [
  'space',
  'fingerprints',
  'trustCa',
  'nameFrom',
  'certificateName',
  'revocation',
  'crl',
  'username',
  'password',
] as const;

export function clientResource(kmip: Kmip): AnyResource {
  return defineResource<ClientDocument, ClientRecord>({
    path: clientPath,
    tag: kmipTag,
    noun: 'KMIP client',
    act: 'change-trust',
    removalEnds: 'deletes the client: its next request is refused, on open connections too; its objects stay',
    nameField: 'name',
    scope: 'tenant',
    table: kmip.tables.clients,
    document: clientDocument,
    stateFields,
    secretFields: ['password'],
    // It cannot be read, so a replace without it keeps the present one.
    // Without a username the password goes as well; otherwise one that is not stated stays.
    complete: ({ document, current }) =>
      document.username === undefined ? document : { ...document, ...defined({ password: document.password ?? current?.password }) },
    // Only holders of the policies may give them to more certificates.
    judgedBy: {
      ...Object.fromEntries(conditions.map((field) => [field, ['tokenPolicies', 'trustCa'].filter((other) => other !== field)])),
      enabled: ['tokenPolicies'],
      tokenBoundCidrs: ['tokenPolicies'],
    },
    warnings: warningsOf,
    errors: ['already-exists'],
    plan: (change) => planClient(kmip, change),
    planRemoval: ({ caller: { tenantId }, now }, [name = ''], record) => ({
      commit: (transaction) => putPlaces(transaction, kmip.tables, [tenantId, name], record, undefined, formatTimestamp(now)),
    }),
    toDocument: ({ name: _name, tenantName: _tenantName, id: _id, created: _created, anchor: _anchor, ...document }) => document,
    toState: (record, { caller }, shows) => ({
      creationTime: record.created,
      notices: shows('trust-ca') ? noticesOf(kmip, caller.tenantId, record) : [],
    }),
  });
}

function planClient(kmip: Kmip, change: Change<ClientDocument, ClientRecord>): Plan<ClientRecord, undefined> {
  const { call, names, document: wanted, current, blindly } = change;
  const { caller, now } = call;
  const { tenantId, tenantName } = caller;
  const { accounts, tables } = kmip;
  const [name = ''] = names;
  if (current === undefined && isReservedUser(name)) throw invalid('name', 'must not read as root');
  const kept = keptNames(current?.tokenPolicies, blindly('tokenPolicies'));
  accounts.requireHeld(caller, 'token-policies', wanted.tokenPolicies, kept);
  requireKnownPolicies(accounts, tenantId, wanted.tokenPolicies, kept);
  const authority = requireUsable(kmip, tenantId, wanted, current);
  const wider = current === undefined ? undefined : widenedField(wanted, current, authority, blindly);
  if (wider !== undefined) accounts.requireHeld(caller, toKebab(wider), wanted.tokenPolicies, []);
  const gains = wanted.tokenPolicies.some((policy) => current?.tokenPolicies.includes(policy) !== true);
  if (current === undefined || wider !== undefined || gains) requireOwnBounds(caller, wanted);
  const owner = [tenantId, name] as const;
  requireUnclaimed(kmip, owner, wanted, current, authority);
  return {
    approvedFor: authority?.anchor,
    commit(transaction) {
      if (!transaction.has(tables.spaces, [tenantId, wanted.space])) throw unknownSpace();
      requireUnclaimed(kmip, owner, wanted, current, authority);
      putPlaces(transaction, tables, owner, current, wanted, formatTimestamp(now));
      return {
        ...wanted,
        ...{ name, tenantName, id: current?.id ?? randomUUID(), created: current?.created ?? formatTimestamp(now) },
        ...(authority === undefined ? {} : { anchor: authority.anchor }),
      };
    },
  };
}

/** Finds a field that gives the policies, or the objects of another space, to more certificates, or may do so as far as the caller can know. */
function widenedField(
  wanted: ClientDocument,
  current: ClientRecord,
  authority: ClientAuthority | undefined,
  blindly: Change<ClientDocument, ClientRecord>['blindly'],
): keyof ClientDocument | undefined {
  const guessed = [...conditions, 'enabled' as const, 'tokenBoundCidrs' as const].find((field) => blindly(field) !== undefined);
  if (guessed !== undefined) return guessed;
  if (authority?.anchor !== current.anchor) return 'trustCa';
  const changed = conditions.find((field) => !isDeepStrictEqual(wanted[field], current[field]));
  if (changed !== undefined) return changed;
  if (wanted.enabled && !current.enabled) return 'enabled';
  return reachesBeyond(wanted.tokenBoundCidrs, current.tokenBoundCidrs) ? 'tokenBoundCidrs' : undefined;
}

/** Tells whether ranges have addresses that others do not have; an empty list has all. */
function reachesBeyond(ranges: readonly string[], others: readonly string[]): boolean {
  return others.length > 0 && (ranges.length === 0 || !areWithin(ranges, others));
}

/** Throws `invalid-value`. Returns the CA of the entry; undefined for one with fingerprints. */
function requireUsable(
  { tables, authorities }: Kmip,
  tenantId: string,
  wanted: ClientDocument,
  current: ClientRecord | undefined,
): ClientAuthority | undefined {
  if (!tables.spaces.has([tenantId, wanted.space])) throw unknownSpace();
  const { fingerprints, trustCa, certificateName, crl, revocation, username, password } = wanted;
  if ((username === undefined) !== (password === undefined))
    throw invalid(username === undefined ? 'username' : 'password', 'is required with the other of the two: give both, or none');
  if (trustCa === undefined) {
    if (fingerprints.length === 0)
      throw invalid('fingerprints', 'must have the SHA-256 of a certificate, unless trust-ca and certificate-name are given');
    if (certificateName !== undefined) throw invalid('certificate-name', 'is for a CA: give trust-ca, too');
    if (crl !== undefined) throw invalid('crl', 'is for a trust-only CA: an entry by fingerprint ends when the fingerprint goes');
    if (revocation === 'none')
      throw invalid('revocation', 'is for a trust-only CA: an entry by fingerprint ends when the fingerprint goes');
    return undefined;
  }
  if (fingerprints.length > 0) throw invalid('fingerprints', 'are in place of a CA and a name: leave them out, or trust-ca');
  if (certificateName === undefined) throw invalid('certificate-name', 'is required with trust-ca: the name that the certificate has');
  const authority = authorities.findClientAuthority(tenantId, trustCa);
  if (authority === undefined) throw invalid('trust-ca', 'must name a CA of this tenant that is not of the appliance itself');
  // Another change of the entry must not trust a CA that nobody has named for it.
  if (current?.trustCa === trustCa && current.anchor !== authority.anchor)
    throw invalid(
      'trust-ca',
      'names a CA that was made again, or has another certificate: delete the client, and make it again for this one',
    );
  requireRevocation(wanted, authority);
  return authority;
}

function requireRevocation({ crl, revocation }: ClientDocument, authority: ClientAuthority): void {
  if (authority.isOwn) {
    if (crl !== undefined) throw invalid('crl', 'is for a trust-only CA: revocations of this one are known here');
    if (revocation === 'none') throw invalid('revocation', 'is for a trust-only CA: revoked certificates of this one are never taken');
    return;
  }
  if (revocation === 'none') {
    if (crl !== undefined) throw invalid('crl', 'has no meaning with revocation none');
    return;
  }
  if (crl === undefined)
    throw invalid(
      'crl',
      'is required for a trust-only CA: give its revocation lists, or say revocation none, with which revoked certificates are taken',
    );
  const lists = listsIn(crl);
  if (lists.length === 0) throw invalid('crl', 'must be revocation lists in PEM (X509 CRL), or one as base64 of its DER');
  if (!lists.some((list) => authority.hasSigned(list)))
    throw invalid('crl', 'must have a complete list that the CA itself has signed, with nextUpdate and without critical extensions');
}

/**
 * Throws `already-exists` where another entry has the certificate: a fingerprint and a name of a CA elsewhere once in the appliance, a name of
 * another CA once in a tenant.
 */
function requireUnclaimed(
  { tables }: Kmip,
  [tenantId, name]: readonly [string, string],
  wanted: ClientDocument,
  current: ClientRecord | undefined,
  authority: ClientAuthority | undefined,
): void {
  const isOther = (owner: Owner): boolean => owner.tenantId !== tenantId || owner.name !== name;
  for (const [index, fingerprint] of wanted.fingerprints.entries()) {
    const isNew = current?.fingerprints.includes(fingerprint) !== true;
    const worksElsewhere = isNew && (tables.firstTenants.get([fingerprint])?.tenantId ?? tenantId) !== tenantId;
    if (worksElsewhere || Array.from(ownersAt(tables, placeOfFingerprint(fingerprint))).some(isOther))
      throw claimed(`fingerprints/${index}`);
  }
  const { certificateName, nameFrom, trustCa } = wanted;
  if (certificateName === undefined || authority === undefined) return;
  const hasIt = (owner: Owner): boolean => {
    const record = tables.clients.get([owner.tenantId, owner.name]);
    return owner.tenantId === tenantId
      ? record?.trustCa === trustCa
      : !authority.isOwn && record?.anchor !== undefined && certificateIn(record.anchor) === certificateIn(authority.anchor);
  };
  const others = Array.from(ownersAt(tables, placeOfName(nameFrom, certificateName))).filter(isOther);
  if (others.some(hasIt)) throw claimed('certificate-name');
}

/** The certificate of a CA elsewhere, behind the id that the CA has in its tenant; undefined for an own CA. */
function certificateIn(anchor: string): string | undefined {
  return anchor.split('/')[1];
}

function claimed(field: string): Error {
  return failAt(field, `"${field}" is that of another KMIP client.`, 'already-exists');
}

function warningsOf({ revocation, tokenPolicies }: ClientDocument): readonly string[] {
  return [
    ...(revocation === 'none' ? ['"revocation" none: a certificate of this CA is taken after its CA has revoked it.'] : []),
    ...(tokenPolicies.length === 0 ? ['"token-policies" is empty: every operation of the client is refused.'] : []),
  ];
}

function noticesOf({ authorities }: Kmip, tenantId: string, record: ClientRecord): readonly string[] {
  const { trustCa, anchor } = record;
  if (trustCa === undefined) return warningsOf(record);
  const authority = authorities.findClientAuthority(tenantId, trustCa);
  if (authority?.anchor !== anchor) return ['The CA of the client was deleted, or has another certificate: its requests are refused.'];
  const rights = authority?.isOwn === true ? ['Who may issue certificates of this CA can be this client.'] : [];
  return [...rights, ...warningsOf(record)];
}

function unknownSpace(): Error {
  return invalid('space', 'must name a KMIP space of this tenant');
}
