// Tenants as a resource: seen and changed by the system tenant only, deleted only when empty.
import { z } from 'zod';
import type { Read } from '../../access/tokens/record.ts';
import type { Clock } from '../../base/context.ts';
import { dropRecentLogins } from '../../access/logins/recent-logins.ts';
import { dropApprovals } from '../../approvals/ending.ts';
import { fail } from '../../base/errors.ts';
import { nameField, timestampText } from '../../wire/fields.ts';
import type { EndpointCall } from '../../http/endpoint.ts';
import { givenPolicy, naming } from '../../http/named-entries.ts';
import { defineResource, keptNames, type AnyResource, type Change } from '../../http/resource/resource.ts';
import { needsSystemRoot, reservedRefusal } from '../../access/reserved.ts';
import { requireHeld, unknownPolicies } from '../../access/policy/granting.ts';
import type { Policies } from '../../access/policy/policies.ts';
import { toKebab } from '../../wire/schema.ts';
import { shownText } from '../../wire/shown-text.ts';
import type { Store } from '../../store/store.ts';
import {
  addTenant,
  dropTenantUuid,
  systemTenantName,
  tenantKinds,
  type Tenant,
  type TenantKind,
  type Tenants,
} from '../../access/tenants.ts';
import { tags } from '../../http/tags.ts';
import { dropTokens } from './dead-tenants.ts';

const mostPerMinute = 100_000_000;

const document = z.object({
  descriptiveName: shownText({ maxCharacters: 256 }).default('').meta({ description: 'A name for people.', example: 'Payments' }),
  kind: z
    .enum(tenantKinds)
    .meta({ typeName: 'TenantKind' })
    .default('application-owner')
    .describe('What the tenant is; there is one system tenant.'),
  policies: z
    .array(naming(nameField(), givenPolicy))
    .max(64)
    .meta({ whenEmpty: [] })
    .optional()
    .describe('What the whole tenant may do at most; default by kind.'),
  requestsPerMinute: quota('Requests that the tenant may send in a minute to one appliance; 0: as many as it likes.', 6_000),
  tokenSecondsPerMinute: quota('Seconds of the HSM that the tenant may use in a minute at one appliance; 0: as many as it likes.', 6),
});

function quota(description: string, example: number) {
  return z.int().min(0).max(mostPerMinute).default(0).meta({ description, example });
}

const stateFields = z.object({
  uuid: z.uuid().describe('Stands for the tenant in EST paths.'),
  creationTime: timestampText().describe('When the tenant was made.'),
  rootTokenIssued: z.boolean().describe('`true` once the one root token of the tenant was made.'),
});

/** Default policies by kind. */
const usualPolicies: Readonly<Record<TenantKind, readonly string[]>> = {
  system: ['root'],
  'site-provider': ['root'],
  'application-owner': ['app-owner-tenant'],
};

export type TenantResourceOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly tenants: Tenants;
  readonly policies: Policies;
  /** all resources: a tenant is empty if none of scope `tenant` has an entry of it */
  readonly resources: () => readonly AnyResource[];
};

type Bounds = Pick<z.output<typeof document>, 'requestsPerMinute' | 'tokenSecondsPerMinute'>;
const noQuotas: Bounds = { requestsPerMinute: 0, tokenSecondsPerMinute: 0 };

const bounds = ['policies', 'requestsPerMinute', 'tokenSecondsPerMinute'] as const;

/** Finds the field (wire form) of a bound that would change. */
function changedBound(
  wanted: readonly string[],
  quotas: Bounds,
  current: Tenant,
  blindly: Change<unknown, Tenant>['blindly'] = () => undefined,
): string | undefined {
  const guessed = bounds.find((field) => blindly(field) !== undefined);
  if (guessed !== undefined) return toKebab(guessed);
  if (!isSame(wanted, current.policies)) return 'policies';
  if (quotas.requestsPerMinute !== (current.requestsPerMinute ?? 0)) return 'requests-per-minute';
  return quotas.tokenSecondsPerMinute === (current.tokenSecondsPerMinute ?? 0) ? undefined : 'token-seconds-per-minute';
}

/** Throws policy-denied for callers other than root of the tenant `system`. */
function requireSystemRoot({ caller }: EndpointCall, to: string): void {
  if (reservedRefusal('system-root', caller) !== undefined) throw fail('policy-denied', { detail: `${to}: ${needsSystemRoot}` });
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return new Set(left).symmetricDifference(new Set(right)).size === 0;
}

export function tenantResource({ store, clock, tenants, policies, resources }: TenantResourceOptions): AnyResource {
  /** Requires that policies exist. Called again in the transaction: a policy may have been deleted meanwhile. */
  function requirePolicies(names: readonly string[], read?: Read): void {
    const owner = tenants.findByName(systemTenantName)?.uuid ?? '';
    const unknown = names.filter((name) => policies.find(owner, name, read) === undefined);
    if (unknown.length > 0) throw unknownPolicies('policies', unknown, 'built-in policies or policies of the system tenant');
  }

  /** Requires that the tenant is empty. Called again in the transaction: an entry may have been made meanwhile. */
  function requireEmpty(isEmpty: (table: AnyResource['table']) => boolean): void {
    const full = resources().find(({ scope, table }) => scope === 'tenant' && !isEmpty(table));
    if (full !== undefined) throw fail('in-use', { detail: `The tenant is not empty: delete every ${full.noun} in it first.` });
  }

  return defineResource<z.output<typeof document>, Tenant>({
    path: 'tenants',
    tag: tags.tenants,
    noun: 'tenant',
    acts: ({ after }) => (after === undefined ? ['destroy', 'change-trust'] : ['change-trust']),
    removalEnds: 'deletes the tenant with its tokens',
    nameField: 'name',
    scope: 'system',
    table: tenants.table,
    document,
    stateFields,
    creationFields: ['kind'],
    errors: ['in-use'],
    complete: ({ document: wanted }) => ({ ...wanted, policies: wanted.policies ?? [...usualPolicies[wanted.kind]] }),
    plan({ call, names: [name = ''], document: { descriptiveName, kind, policies: wanted = [], ...quotas }, current, blindly }) {
      // Each change may lift bounds: what one policy refuses, another one may allow, and without it nothing refuses it.
      const changed = current === undefined ? undefined : changedBound(wanted, quotas, current, blindly);
      if (changed !== undefined) requireSystemRoot(call, `To change "${changed}"`);
      requireHeld(policies, call.caller, 'policies', wanted, [
        ...usualPolicies['application-owner'],
        ...keptNames(current?.policies, blindly('policies')),
      ]);
      requirePolicies(wanted);
      if (current === undefined && kind === 'system') {
        throw fail('invalid-value', {
          detail: '"kind" must be "site-provider" or "application-owner".',
          items: [{ message: 'one system tenant exists', info: 'kind' }],
        });
      }
      if (kind === 'system' && wanted.join() !== 'root') {
        throw fail('built-in', { detail: 'The system tenant keeps the policy root: without it nobody could give it back.' });
      }
      if (kind === 'system' && (quotas.requestsPerMinute > 0 || quotas.tokenSecondsPerMinute > 0)) {
        throw fail('built-in', { detail: 'The system tenant has no quotas: when they were used up, nobody could change them.' });
      }
      const fields = { name, descriptiveName, kind, policies: wanted, ...quotas };
      return {
        commit(transaction) {
          requirePolicies(wanted, (table, key) => transaction.get(table, key));
          return current === undefined ? addTenant(transaction, store, clock, fields) : { ...current, ...fields };
        },
      };
    },
    fieldRights: bounds.map((field) => ({ field: toKebab(field), policy: 'root' })),
    removalRights: bounds.map((field) => ({ field: toKebab(field), policy: 'root', when: 'it is not the usual one' })),
    judgedBy: { policies: ['kind'] },
    defaultedBy: ['policies'],
    removalJudgedBy: [...bounds, 'kind'],
    planRemoval(call, _, current) {
      const { uuid, kind } = current;
      if (kind === 'system') throw fail('built-in', { detail: 'The system tenant cannot be deleted.' });
      // A tenant that is made again under the name has the usual bounds.
      const bound = changedBound(usualPolicies[kind], noQuotas, current);
      if (bound !== undefined) requireSystemRoot(call, `To delete a tenant that is bounded by "${bound}"`);
      requireEmpty((table) => table.count([uuid]) === 0);
      return {
        commit(transaction) {
          requireEmpty((table) => Iterator.from(transaction.keys(table, [uuid])).next().done === true);
          dropTenantUuid(transaction, store, uuid);
        },
        after: () => dropRest(store, uuid),
      };
    },
    toDocument: ({ descriptiveName, kind, policies: names, requestsPerMinute = 0, tokenSecondsPerMinute = 0 }) => ({
      ...{ descriptiveName, kind, policies: [...names], requestsPerMinute, tokenSecondsPerMinute },
    }),
    toState: ({ uuid, creationTime, rootTokenIssued }) => ({ uuid, creationTime, rootTokenIssued }),
  });
}

/** Without the tenant they are refused already. Cut off here, the job for dead tenants removes them. */
async function dropRest(store: Store, uuid: string): Promise<void> {
  await dropTokens(store, uuid).catch(() => undefined);
  await dropApprovals(store, uuid).catch(() => undefined);
  await dropRecentLogins(store, uuid).catch(() => undefined);
}
