// Approles as a resource: logins for machines, with which policies, from where and for how long.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { cidrsField } from '../../base/addresses.ts';
import type { Clock } from '../../base/context.ts';
import { fail } from '../../base/errors.ts';
import { invalid } from '../../base/texts/invalid.ts';
import { durationText, integer, timestampText } from '../../wire/fields.ts';
import { tokenFieldsOf } from '../token-fields.ts';
import { defineResource, keptNames, type AnyResource, type Change } from '../../http/resource/resource.ts';
import { endGrant, openGrant } from '../../access/logins/grants.ts';
import { requireHeld, requireOwnBounds, requirePolicies, widens } from '../../access/policy/granting.ts';
import type { Policies } from '../../access/policy/policies.ts';
import type { Store } from '../../store/store.ts';
import { formatTimestamp, isLonger, parseDuration } from '../../base/time.ts';
import { toKebab } from '../../wire/schema.ts';
import { requireOtherApprovers } from '../../approvals/ending.ts';
import { namesApprover } from '../../approvals/rules.ts';
import { approleTable, dropRoleId, putRoleId, roleIdOf, type Approle, type ApproleDocument } from '../../access/approles/approles.ts';
import { countSecretIds, dropSecretIdsInPieces } from '../../access/approles/secret-ids.ts';
import { isReservedUser } from '../../access/user.ts';
import { tags } from '../../http/tags.ts';

/** Below /v1/config and /v1/state. */
export const approlePath = 'keystore/authentication/approles';

const document = z.object({
  ...tokenFieldsOf({ ttl: '1d', maxTtl: '32d' }),
  secretIdTtl: durationText({ minSeconds: 1 })
    .optional()
    .meta({ description: 'Time for which a secret-id can be used; absent: without limit.', example: '90d' }),
  secretIdNumUses: integer(0, 1_000_000_000)
    .default(0)
    .meta({ description: 'How often a secret-id can be used; 0: as often as one likes.', example: 1 }),
  secretIdBoundCidrs: cidrsField()
    .default([])
    .meta({ description: 'Ranges of addresses one may log in from; empty: from anywhere.', example: ['10.1.0.0/16'] }),
  fixedRoleId: z
    .string()
    .regex(/^[\w][\w.-]{0,127}$/, 'must be letters, digits, dots, hyphens and underscores, at most 128')
    .optional()
    .meta({ description: 'A role-id of your own choice; unless given, one is made.', example: 'build-server-1' }),
});

const stateFields = z.object({
  roleId: z.string().meta({ description: 'What a login names.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
  creationTime: timestampText().describe('When it was made.'),
  secretIds: z.int().meta({ description: 'Number of secret-ids on record.', example: 1 }),
});

export type ApproleResourceOptions = { readonly store: Store; readonly clock: Clock; readonly policies: Policies };

export function approleResource({ store, clock, policies }: ApproleResourceOptions): AnyResource {
  return defineResource<ApproleDocument, Approle>({
    path: approlePath,
    tag: tags.approles,
    noun: 'approle',
    // A caller who gets into an approle of approvers approves.
    acts: ({ call: { caller }, names: [name = ''] }) => {
      const approle = approleTable(store).get([caller.tenantId, name]);
      return approle !== undefined && namesApprover(store, caller.tenantId, approle.id) ? ['change-trust'] : [];
    },
    removalEnds: 'deletes the approle with its secret-ids and tokens: programs can no longer log in with it',
    nameField: 'name',
    scope: 'tenant',
    table: approleTable(store),
    document,
    stateFields,
    errors: ['already-exists', 'last-approver'],
    fieldRights: widening.map((field) => ({
      field: toKebab(field),
      policy: 'root',
      when: 'it gives more, and the own token does not have all of token-policies',
    })),
    // Only holders of the policies may extend the approle to more callers.
    judgedBy: {
      ...Object.fromEntries(widening.map((field) => [field, ['tokenPolicies']])),
      tokenTtl: ['tokenPolicies', 'tokenMaxTtl'],
      tokenMaxTtl: ['tokenPolicies', 'tokenTtl'],
    },
    plan({ call: { caller }, names: [name = ''], document: wanted, current, blindly }) {
      if (current === undefined && isReservedUser(name)) throw reservedName();
      const before = current?.tokenPolicies ?? [];
      const kept = keptNames(before, blindly('tokenPolicies'));
      requireHeld(policies, caller, 'token-policies', wanted.tokenPolicies, kept);
      requirePolicies(policies, caller, 'token-policies', wanted.tokenPolicies, kept);
      // More addresses, longer lives and another role-id give the policies to more callers.
      const wider = current === undefined ? undefined : widenedField(wanted, current, blindly);
      if (wider !== undefined) requireHeld(policies, caller, toKebab(wider), wanted.tokenPolicies, []);
      const gains = wanted.tokenPolicies.some((policy) => !before.includes(policy));
      if (current === undefined || wider !== undefined || gains) requireOwnBounds(caller, wanted);
      requireOrder(wanted);
      // Tokens contain the names of their policies: a policy that is taken away, or that takes something away, reaches those to come alone.
      const isLess =
        before.some((policy) => !wanted.tokenPolicies.includes(policy)) ||
        widens(policies, caller.tenantId, before, [wanted.tokenPolicies]) !== undefined;
      const made = {
        ...wanted,
        id: current?.id ?? randomUUID(),
        ownRoleId: current?.ownRoleId ?? randomUUID(),
        creationTime: current?.creationTime ?? formatTimestamp(clock.now()),
      };
      return {
        commit(transaction) {
          requirePolicies(policies, caller, 'token-policies', wanted.tokenPolicies, kept, (table, key) => transaction.get(table, key));
          if (current !== undefined && isLess) endGrant(transaction, store, caller.tenantId, current.grantId);
          const grantId = current === undefined || isLess ? openGrant(transaction, store, caller.tenantId) : current.grantId;
          const approle: Approle = { ...made, grantId };
          putRoleId(transaction, store, [caller.tenantId, name], approle, current);
          return approle;
        },
      };
    },
    planRemoval: ({ caller }, [name = ''], approle) => ({
      commit(transaction) {
        requireOtherApprovers(transaction, store, caller.tenantId, approle.id);
        endGrant(transaction, store, caller.tenantId, approle.grantId);
        dropRoleId(transaction, store, [caller.tenantId, name], approle);
      },
      // No login takes them without the approle. Cut off here, the job for expired secret-ids removes them.
      after: () => dropSecretIdsInPieces(store, caller.tenantId, approle.id).catch(() => undefined),
    }),
    toDocument: documentOf,
    toState: (approle, { caller }) => ({
      roleId: roleIdOf(approle),
      creationTime: approle.creationTime,
      secretIds: countSecretIds(store, caller.tenantId, approle.id),
    }),
  });
}

const widening = [
  'secretIdBoundCidrs',
  'tokenBoundCidrs',
  'tokenTtl',
  'tokenMaxTtl',
  'secretIdTtl',
  'secretIdNumUses',
  'fixedRoleId',
] as const satisfies readonly (keyof ApproleDocument)[];

/** Finds a field that extends the grant of the approle, or may do so as far as the caller can know. */
function widenedField(
  wanted: ApproleDocument,
  present: ApproleDocument,
  blindly: Change<ApproleDocument, Approle>['blindly'],
): keyof ApproleDocument | undefined {
  return (
    widening.find((field) => blindly(field) !== undefined) ??
    (['secretIdBoundCidrs', 'tokenBoundCidrs'] as const).find((field) => isWider(wanted[field], present[field])) ??
    (['tokenTtl', 'tokenMaxTtl', 'secretIdTtl'] as const).find((field) => isLonger(wanted[field], present[field])) ??
    (usesOf(wanted) > usesOf(present) ? 'secretIdNumUses' : undefined) ??
    (wanted.fixedRoleId === present.fixedRoleId ? undefined : 'fixedRoleId')
  );
}

function usesOf({ secretIdNumUses }: ApproleDocument): number {
  return secretIdNumUses === 0 ? Infinity : secretIdNumUses;
}

/** An empty list of ranges allows every address. */
function isWider(wanted: readonly string[], present: readonly string[]): boolean {
  return present.length > 0 && (wanted.length === 0 || wanted.some((range) => !present.includes(range)));
}

function documentOf(approle: Approle): ApproleDocument {
  const { tokenPolicies, tokenTtl, tokenMaxTtl, tokenBoundCidrs, secretIdTtl, secretIdNumUses, secretIdBoundCidrs, fixedRoleId } = approle;
  return { tokenPolicies, tokenTtl, tokenMaxTtl, tokenBoundCidrs, secretIdTtl, secretIdNumUses, secretIdBoundCidrs, fixedRoleId };
}

function reservedName() {
  return invalid('name', 'is the user of root tokens in the audit trail; choose another name');
}

function requireOrder({ tokenTtl, tokenMaxTtl }: ApproleDocument): void {
  if (parseDuration(tokenTtl, 'token-ttl').seconds <= parseDuration(tokenMaxTtl, 'token-max-ttl').seconds) return;
  throw fail('invalid-value', {
    detail: '"token-ttl" must not be longer than "token-max-ttl".',
    items: [{ message: 'must not be longer than token-max-ttl', info: 'token-ttl' }],
  });
}
