// The resource JWT issuer: a platform whose tokens are taken, where its keys are, and whom TLS trusts for it.
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { fail } from '../../../core/base/errors.ts';
import { invalid } from '../../../core/base/texts/invalid.ts';
import { defined } from '../../../core/base/defined.ts';
import { isLonger } from '../../../core/base/time.ts';
import { requireOwnBounds } from '../../../core/access/policy/granting.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import { defineResource, type AnyResource, type Change, type Plan, type Removal } from '../../../core/http/resource/resource.ts';
import { findDiscoveryUrlProblem } from '../../../core/identity/discovery.ts';
import { findUnseen } from '../../../core/wire/unseen-text.ts';
import { findCaCertsProblem } from '../../../core/outbound/ca-certs.ts';
import { isAllowedUrl } from '../../../core/outbound/outbound.ts';
import { timestampText } from '../../../core/wire/fields.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import type { Jwt } from '../context.ts';
import { readStaticKeys } from '../keys/key-set.ts';
import { issuerDocument, type IssuerDocument, type IssuerRecord } from '../records/issuer-record.ts';
import { platforms } from '../records/platforms.ts';
import { jwtTag } from '../tags.ts';
import { isTrustDomain } from '../token/judge.ts';

export const issuerPath = 'keystore/authentication/jwt';

const stateFields = z.object({
  keys: z.int().optional().meta({ description: 'Number of keys that were fetched last and verify tokens.', example: 2 }),
  keysFetchedTime: timestampText().optional().describe('When they were fetched last.'),
  notices: z.array(z.string()).describe('What an administrator should know, in sentences.'),
});

/** Roles that are deleted with their issuer: a transaction of a shared store takes 128 operations. */
const mostRolesRemoved = 32;

export function issuerResource(jwt: Jwt): AnyResource {
  return defineResource<IssuerDocument, IssuerRecord>({
    path: issuerPath,
    tag: jwtTag,
    noun: 'JWT issuer',
    act: 'change-trust',
    removalEnds: 'deletes the issuer with its roles: no workload logs in by it, and the tokens of such logins end',
    nameField: 'name',
    scope: 'tenant',
    table: jwt.issuers,
    document: issuerDocument,
    stateFields,
    creationFields: ['kind'],
    errors: ['in-use'],
    complete: ({ document }) => withDefaults(document),
    plan: (change) => planIssuer(jwt, change),
    planRemoval: (call, names) => planRemoval(jwt, call, names[0] as string),
    toDocument: ({ name: _name, keySource: _keySource, grant: _grant, ...document }) => document,
    toState: (record, call, shows) => stateOf(jwt, call, record, shows),
  });
}

/** Fills in the issuer of a platform that has one for all, and the metadata at the issuer where no other source of keys is named. */
function withDefaults(document: IssuerDocument): IssuerDocument {
  const { issuer: known, hasDiscovery } = platforms[document.kind];
  const issuer = document.issuer ?? known;
  const hasSource = sourcesOf(document).length > 0;
  const discoveryUrl = hasSource || !hasDiscovery || issuer === undefined || isTrustDomain(issuer) ? document.discoveryUrl : issuer;
  return { ...document, ...defined({ issuer, discoveryUrl }) };
}

const sources = ['discoveryUrl', 'jwksUrl', 'staticKeys'] as const;
const sourcesOf = (document: IssuerDocument) => sources.filter((field) => document[field] !== undefined);

function planIssuer(jwt: Jwt, change: Change<IssuerDocument, IssuerRecord>): Plan<IssuerRecord, undefined> {
  const { call, document: wanted, current, names, blindly } = change;
  const issuer = requireUsable(jwt, wanted);
  const name = names.at(-1) as string;
  const wider = current === undefined ? undefined : widenedField(wanted, current, blindly);
  if (wider !== undefined) requireGiven(jwt, call, name, wider);
  const isOther = current === undefined || others.some((field) => !isDeepStrictEqual(wanted[field], current[field]));
  const isOtherSource = current === undefined || keysOf.some((field) => !isDeepStrictEqual(wanted[field], current[field]));
  return {
    commit(transaction) {
      const { tenantId } = call.caller;
      if (current !== undefined && isOther) jwt.accounts.endGrant(transaction, tenantId, current.grant);
      if (isOtherSource) transaction.delete(jwt.keys, [tenantId, name]);
      return {
        ...wanted,
        name,
        issuer,
        keySource: isOtherSource ? randomUUID() : current.keySource,
        grant: isOther ? jwt.accounts.openGrant(transaction, tenantId) : current.grant,
      };
    },
  };
}

/** Fields that say where the keys come from. */
const keysOf = ['issuer', ...sources, 'providerHosts', 'useRootCaCerts', 'caCerts'] as const;
/** Fields that say who can log in: with another value, earlier tokens end. */
const others = [...keysOf, 'algorithms'] as const;

/** Throws `invalid-value` and `missing-field`; returns the issuer. */
function requireUsable(jwt: Jwt, document: IssuerDocument): string {
  const { kind, issuer, discoveryUrl, jwksUrl, staticKeys, caCerts } = document;
  if (issuer === undefined)
    throw fail('missing-field', {
      detail: `"issuer" is required for kind ${kind}: the text that iss of its tokens has.`,
      items: [{ message: 'is required', info: 'issuer' }],
    });
  if (findUnseen(issuer) !== undefined || /\s/.test(issuer)) throw invalid('issuer', 'must not contain white space or unseen characters');
  if (isTrustDomain(issuer) && !/^spiffe:\/\/[a-z0-9._-]{1,255}$/.test(issuer))
    throw invalid('issuer', 'must be a trust domain without a path, such as spiffe://example.org, or the text that iss has');
  // The same words refuse what accepts accounts of every directory.
  const problem = /^https?:/.test(issuer) ? findDiscoveryUrlProblem(issuer, true) : undefined;
  if (problem !== undefined && kind === 'entra') throw invalid('issuer', problem);
  const named = sourcesOf(document);
  if (named.length !== 1) {
    const how = kind === 'kubernetes' ? ' (kubectl get --raw /openid/v1/jwks prints what "static-keys" takes)' : '';
    const seen = named.length === 0 ? 'none' : named.map(toKebab).join(' and ');
    throw invalid(
      named[1] === undefined ? 'static-keys' : toKebab(named[1]),
      `must be the only source of keys: name one of discovery-url, jwks-url and static-keys${how}; there is ${seen}`,
    );
  }
  const urlProblem = discoveryUrl === undefined ? undefined : findDiscoveryUrlProblem(discoveryUrl, jwt.allowHttpLoopback);
  if (urlProblem !== undefined) throw invalid('discovery-url', urlProblem);
  const keySetUrl = jwksUrl === undefined ? undefined : URL.parse(jwksUrl);
  if (keySetUrl !== undefined && (keySetUrl === null || /[\s#]/.test(jwksUrl ?? '') || !isAllowedUrl(keySetUrl, jwt.allowHttpLoopback)))
    throw invalid('jwks-url', 'must be an https URL without credentials, fragment and white space');
  const caProblem = caCerts === undefined ? undefined : findCaCertsProblem(caCerts);
  if (caProblem !== undefined) throw invalid('ca-certs', caProblem);
  if (staticKeys !== undefined) requireStaticKeys(staticKeys);
  return issuer;
}

function requireStaticKeys(text: string): void {
  try {
    readStaticKeys(text);
  } catch (error) {
    throw invalid(
      'static-keys',
      `must be a key set in JSON or public keys in PEM, and each key must verify: ${(error as Error).message.replace(/\.$/, '')}`,
    );
  }
}

type Blindly = Change<IssuerDocument, IssuerRecord>['blindly'];

/**
 * The field by which others may get the policies of the roles, which the caller must hold then: another issuer or other keys can make any token match a role.
 */
function widenedField(wanted: IssuerDocument, current: IssuerRecord, blindly: Blindly): string | undefined {
  const guessed = [...others, 'clockTolerance' as const].find((field) => blindly(field) !== undefined);
  if (guessed !== undefined) return toKebab(guessed);
  const changed = keysOf.find((field) => !isDeepStrictEqual(wanted[field], current[field]));
  if (changed !== undefined) return toKebab(changed);
  if (wanted.algorithms.some((algorithm) => !current.algorithms.includes(algorithm))) return 'algorithms';
  return isLonger(wanted.clockTolerance, current.clockTolerance) ? 'clock-tolerance' : undefined;
}

function requireGiven(jwt: Jwt, { caller }: EndpointCall, issuer: string, field: string): void {
  const roles = Array.from(jwt.roles.allEntries([caller.tenantId, issuer]), ([, role]) => role);
  for (const role of roles) {
    jwt.accounts.requireHeld(caller, field, role.tokenPolicies, []);
    requireOwnBounds(caller, role);
  }
}

/** Plans the removal of an issuer with its roles: the end of its grant ends all tokens at once. */
function planRemoval(jwt: Jwt, { caller: { tenantId } }: EndpointCall, issuer: string): Removal {
  return {
    commit(transaction) {
      const roles = Array.from(transaction.entries(jwt.roles, [tenantId, issuer]));
      if (roles.length > mostRolesRemoved)
        throw fail('in-use', {
          detail: `The issuer has ${roles.length} roles, and ${mostRolesRemoved} are deleted with it at most: delete others first.`,
        });
      const record = transaction.get(jwt.issuers, [tenantId, issuer]);
      if (record !== undefined) jwt.accounts.endGrant(transaction, tenantId, record.grant);
      for (const [key, { grant }] of roles) {
        jwt.accounts.endGrant(transaction, tenantId, grant);
        transaction.delete(jwt.rolePlaces, [tenantId, String(key.at(-1)), issuer]);
        transaction.delete(jwt.roles, key);
      }
      transaction.delete(jwt.keys, [tenantId, issuer]);
    },
  };
}

function stateOf(jwt: Jwt, { caller }: EndpointCall, record: IssuerRecord, shows: (field: string) => boolean) {
  const { tenantId, tenantName } = caller;
  const kept = jwt.issuerKeys.find({ tenantId, tenantName, issuer: record.name, record });
  const tells = sources.every((field) => shows(toKebab(field)));
  return {
    ...(tells && kept?.fetchedTime !== undefined ? { keys: kept.keys.length, keysFetchedTime: kept.fetchedTime } : {}),
    notices: [
      ...(tells && kept?.problem !== undefined ? [`The last attempt to fetch the keys failed. ${kept.problem}`] : []),
      ...(tells && kept !== undefined && kept.skipped.length > 0
        ? [`${kept.skipped.length} keys of the set are not used: "test" says why.`]
        : []),
      ...(tells && (record.jwksUrl ?? record.discoveryUrl ?? '').startsWith('http:') ? ['The issuer is asked without TLS.'] : []),
    ],
  };
}
