// The resource OIDC service: a tenant's identity provider.
import { isDeepStrictEqual } from 'node:util';
import { defined } from '../../../core/base/defined.ts';
import { z } from 'zod';
import { invalid } from '../../../core/base/texts/invalid.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import { defineResource, type AnyResource, type Change } from '../../../core/http/resource/resource.ts';
import { requireUnbound } from '../../../core/access/policy/granting.ts';
import { isLonger } from '../../../core/base/time.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import { topLevelName } from '../../../core/identity/claims.ts';
import { findDiscoveryUrlProblem } from '../../../core/identity/discovery.ts';
import { isLoopback } from '../../../core/outbound/outbound.ts';
import { findCaCertsProblem } from '../../../core/outbound/ca-certs.ts';
import type { Oidc } from '../context.ts';
import type { SessionsEnd } from '../records/end-session.ts';
import { callbackPath, serviceDocument, type ServiceDocument, type ServiceRecord } from '../records/service-record.ts';
import { oidcTag } from '../tags.ts';

const stateFields = z.object({
  notices: z.array(z.string()).describe('What an administrator should know, in sentences.'),
});

/** Fields that decide who gets what is sent to the token endpoint. */
const secretSentTo = ['discoveryUrl', 'expectedIssuer', 'providerHosts', 'useRootCaCerts', 'caCerts'] as const;

export function serviceResource(oidc: Oidc): AnyResource {
  return defineResource<ServiceDocument, ServiceRecord, string>({
    path: 'keystore/authentication/oidc',
    tag: oidcTag,
    noun: 'OIDC service',
    act: 'change-trust',
    removalEnds: 'deletes the OIDC service with its roles: nobody can sign in through it',
    nameField: 'name',
    scope: 'tenant',
    table: oidc.services,
    document: serviceDocument,
    stateFields,
    fieldRights: widening.map((path) => ({
      field: path.map(toKebab).join('/'),
      policy: 'root',
      when: 'it gives more, and the own token does not have all policies of the roles',
    })),
    secretFields: ['clientSecret'],
    notRemovableByMerge: ['clientSecret'],
    secretsSentTo: { clientSecret: secretSentTo },
    // A secret cannot be read, so a replace without it keeps the present one.
    complete: ({ document, current }) => ({
      ...document,
      ...defined({ clientSecret: document.clientSecret ?? current?.clientSecret, providerHosts: hostsOf(document, current) }),
    }),
    plan: (change) => planService(oidc, change),
    planRemoval: (call, names) => planRemoval(oidc, call, names[0] as string),
    toDocument: ({ name: _name, revision: _revision, ...rest }) => ({
      ...rest,
      roleSelect: { ...rest.roleSelect, keysOfObject: rest.roleSelect.keysOfObject ?? false },
    }),
    toState: (record, call, shows) => ({ notices: noticesOf(oidc, call, record, shows) }),
  });
}

/** Returns no hosts but that of the provider, unless the service was made before others could be named. */
function hostsOf({ providerHosts, discoveryUrl }: ServiceDocument, current: ServiceRecord | undefined): string[] | undefined {
  const isOfBefore = current !== undefined && current.providerHosts === undefined && current.discoveryUrl === discoveryUrl;
  return providerHosts ?? (isOfBefore ? undefined : []);
}

function planService(oidc: Oidc, { call, document: wanted, current, names, blindly }: Change<ServiceDocument, ServiceRecord>) {
  const { clientSecret } = wanted;
  if (clientSecret === undefined) {
    throw invalid('client-secret', 'is required', 'missing-field');
  }
  const problem = findDiscoveryUrlProblem(wanted.discoveryUrl, oidc.allowHttpLoopback);
  if (problem !== undefined) throw invalid('discovery-url', problem);
  const caProblem = wanted.caCerts === undefined ? undefined : findCaCertsProblem(wanted.caCerts);
  if (caProblem !== undefined) throw invalid('ca-certs', caProblem);
  for (const [index, uri] of wanted.allowedRedirectUris.entries()) {
    const rule = findRedirectUriProblem(uri);
    if (rule !== undefined) throw invalid(`allowed-redirect-uris/${index}`, rule);
  }
  if (!wanted.roleSelect.roleClaim.startsWith('/') && wanted.roleSelect.roleClaim.trim() === '') {
    throw invalid('role-select/role-claim', 'must name a claim');
  }
  requireSignable(oidc, call, wanted, current, blindly);
  const name = names.at(-1) as string;
  const wider = current === undefined ? undefined : widenedField(wanted, current, blindly);
  if (wider !== undefined) {
    const roles = oidc.rolesOf(call.caller.tenantId, name);
    // People may match each of them alone.
    for (const { tokenPolicies } of roles) oidc.accounts.requireHeld(call.caller, wider, tokenPolicies, []);
    if (roles.length > 0) requireUnbound(call.caller, 'What a sign-in gives');
  }
  return {
    prepare: async () => (await oidc.hsm.random(16)).toHex(),
    commit: (_transaction: WriteTransaction, revision: string): ServiceRecord => ({ ...wanted, name, clientSecret, revision }),
  };
}

/** Fields that decide what is signed with the key of google-groups, and who gets it. */
const signedFor = ['googleGroups', ...secretSentTo] as const;

/**
 * Throws policy-denied unless the caller may sign with the key of google-groups, wherever the change has it sign something else than before.
 * Throws invalid-value for a key that cannot, and for a role claim that has no room for groups.
 */
function requireSignable(
  { transitKeys }: Oidc,
  { caller, access }: EndpointCall,
  wanted: ServiceDocument,
  current: ServiceRecord | undefined,
  blindly: Blindly,
): void {
  const { googleGroups, roleSelect } = wanted;
  if (googleGroups === undefined) return;
  if (topLevelName(roleSelect.roleClaim) === undefined)
    throw invalid(
      'role-select/role-claim',
      'must be the name of a claim, such as groups, where google-groups is set: its values are the groups',
    );
  const isSame = signedFor.every((field) => blindly(field) === undefined && isDeepStrictEqual(wanted[field], current?.[field]));
  if (current !== undefined && isSame) return;
  transitKeys.requireMaySign(access, googleGroups.transitKey);
  const key = transitKeys.natureOf(caller.tenantId, googleGroups.transitKey);
  if (key?.signs !== true || !key.cipher.startsWith('rsa-'))
    throw invalid('google-groups/transit-key', 'must name a transit key that is there, of a cipher such as rsa-2048, with the use sign');
}

type Blindly = Change<ServiceDocument, ServiceRecord>['blindly'];

const widening: readonly (readonly string[])[] = [
  ['discoveryUrl'],
  ['clientId'],
  ['useRootCaCerts'],
  ['caCerts'],
  ['providerHosts'],
  ['expectedIssuer'],
  ['roleSelect', 'roleClaim'],
  ['roleSelect', 'keysOfObject'],
  ['roleSelect', 'roleWithoutGroups'],
  ['googleGroups'],
  ['allowedRedirectUris'],
  ['sessionTtl'],
  ['clockTolerance'],
];

/**
 * The field by which more people or longer sessions may get the policies of the roles, which the caller must hold then: another provider or role
 * claim can make any person match a role, and another redirect URI get what the provider answers to others.
 */
function widenedField(wanted: ServiceDocument, current: ServiceRecord, blindly: Blindly): string | undefined {
  const guessed = widening.find((path) => blindly(...path) !== undefined);
  if (guessed !== undefined) return guessed.map(toKebab).join('/');
  const changed = (['discoveryUrl', 'expectedIssuer', 'clientId', 'useRootCaCerts', 'caCerts'] as const).find(
    (field) => wanted[field] !== current[field],
  );
  if (changed !== undefined) return toKebab(changed);
  const { providerHosts: hosts } = current;
  if (hosts !== undefined && wanted.providerHosts?.every((host) => hosts.includes(host)) !== true) return 'provider-hosts';
  const selects = (['roleClaim', 'keysOfObject', 'roleWithoutGroups'] as const).find(
    (field) => (wanted.roleSelect[field] ?? false) !== (current.roleSelect[field] ?? false),
  );
  if (selects !== undefined) return `role-select/${toKebab(selects)}`;
  if (!isDeepStrictEqual(wanted.googleGroups, current.googleGroups)) return 'google-groups';
  if (wanted.allowedRedirectUris.some((uri) => !current.allowedRedirectUris.includes(uri))) return 'allowed-redirect-uris';
  const longer = (['sessionTtl', 'clockTolerance'] as const).find((field) => isLonger(wanted[field], current[field]));
  return longer === undefined ? undefined : toKebab(longer);
}

/**
 * Returns the reason for which a redirect URI cannot be used (R7), or undefined. It is compared octet by octet, so only its
 * normal form is accepted.
 */
export function findRedirectUriProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    return 'must be https (http for a loopback host)';
  if (url.username !== '' || url.password !== '') return 'must not carry credentials';
  if (text.includes('?') || text.includes('#') || text.includes('*')) return 'must not have a query, fragment or wildcard';
  if (url.pathname !== callbackPath) return `must have the path ${callbackPath}`;
  return url.href === text ? undefined : `must be written in its normal form, ${url.href}`;
}

/** Plans the removal of a service with its roles and the sessions that it has given. */
function planRemoval(oidc: Oidc, { caller: { tenantId } }: EndpointCall, service: string): SessionsEnd {
  const ending = oidc.endSessions(tenantId, (session) => session.service === service);
  return {
    commit(transaction) {
      for (const [key, { grant }] of Array.from(transaction.entries(oidc.roles, [tenantId, service]))) {
        if (grant !== undefined) oidc.accounts.endGrant(transaction, tenantId, grant);
        transaction.delete(oidc.roles, key);
      }
      // Those that do not open go, too.
      for (const key of Array.from(transaction.keys(oidc.roles, [tenantId, service]))) transaction.delete(oidc.roles, key);
      ending.commit(transaction);
    },
    after: () => ending.after(),
  };
}

/** Notices that follow from fields, and from roles, that the caller may read. */
function noticesOf(oidc: Oidc, call: EndpointCall, record: ServiceRecord, shows: (field: string) => boolean): readonly string[] {
  const roles = `keystore/authentication/oidc/${record.name}/roles`.split('/');
  const mayList = (['config', 'state'] as const).some((tree) => call.access.allowsAt(['v1', tree, ...roles], 'read'));
  return [
    ...(record.verboseLogging && shows('verbose-logging')
      ? ['verbose-logging is on: claims of people are written to system:logs. Turn it off when the set-up works.']
      : []),
    ...(record.providerHosts === undefined && shows('provider-hosts')
      ? [
          'provider-hosts is not set: the token endpoint of the provider, which is sent the client secret, may be at any host. Set it, to [] where there is no other host.',
        ]
      : []),
    ...(mayList && oidc.rolesOf(call.caller.tenantId, record.name).length === 0 ? ['There is no role, so no one can sign in.'] : []),
    ...(shows('discovery-url') && new URL(record.discoveryUrl).protocol === 'http:' ? ['The provider is called without TLS.'] : []),
    ...(shows('use-root-ca-certs') && shows('ca-certs') && !record.useRootCaCerts && record.caCerts === undefined
      ? ['use-root-ca-certs is false and ca-certs is empty: no provider is trusted.']
      : []),
  ];
}
