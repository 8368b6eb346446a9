// Rules of approvals as a resource: a tenant's own, beside its policies and stricter than each of them.
import { z } from 'zod';
import { acts } from '../../approvals/acts.ts';
import type { ApproverSource } from '../../approvals/approver-source.ts';
import { type ApprovalRule, type ApproverRole, mostRules, ruleTable } from '../../approvals/rules.ts';
import { roleIdsOf } from '../../approvals/standing.ts';
import { approleTable } from '../../access/approles/approles.ts';
import { readPattern } from '../../access/policy/policy.ts';
import { lineageOf, type Read, tokenTable } from '../../access/tokens/record.ts';
import { identityKey } from '../../access/user.ts';
import { fail } from '../../base/errors.ts';
import { naming, type NamedEntry } from '../../http/named-entries.ts';
import { defineResource, type AnyResource, type Change } from '../../http/resource/resource.ts';
import { tags } from '../../http/tags.ts';
import type { Store } from '../../store/store.ts';
import { durationText, integer } from '../../wire/fields.ts';

const mostNames = 32;

const named = (resource: string): NamedEntry => ({
  resource,
  needs: [],
  because: 'A rule gives nobody a right: it names people who may agree to what others ask for.',
});

const roleNames = () => z.array(naming(z.string().min(1).max(512), named('roles'))).max(mostNames);
const approleNames = () => z.array(naming(z.string().min(1).max(128), named('keystore/authentication/approles'))).max(mostNames);
const ofRoles = {
  description: 'Roles of sign-ins and of workloads, each as kind/service/role.',
  example: ['company-login/staff/key-officers'],
};
const ofApproles = { description: 'Approles. To name one says that it is the login of one person.', example: ['alice'] };

const approvers = z
  .object({ roles: roleNames().default([]).meta(ofRoles), approles: approleNames().default([]).meta(ofApproles) })
  .meta({ typeName: 'Approvers' });
const document = z.object({
  acts: z
    .array(z.enum(acts).meta({ typeName: 'Act' }))
    .min(1)
    .max(acts.length)
    .meta({
      description: 'Acts that need approval. Changes of trust fall under every rule of the tenant, whether it names them or not.',
      example: ['take-keys-out', 'destroy'],
    }),
  paths: z
    .array(
      z
        .string()
        .max(2_048)
        .refine((path) => readPattern(path) !== undefined, 'must be a path as in policies'),
    )
    .max(mostNames)
    .default([])
    .meta({
      description:
        'Paths that the rule is about, as in policies, each with all below it; none: all. The trees /v1/config and /v1/state count as one.',
      example: ['/v1/config/keystore/**'],
    }),
  needed: integer(1, 8).meta({ description: 'How many people besides the one who asks must approve.', example: 2 }),
  approvers: approvers.meta({
    description: 'Whose people approve: those who logged in by one of these roles.',
    example: { approles: ['alice', 'bob', 'carol'] },
  }),
  approveWithin: durationText({ minSeconds: 300, maxSeconds: 14 * 86_400 })
    .default('24h')
    .meta({ description: 'Time from the request in which people can approve.', example: '24h' }),
  useWithin: durationText({ minSeconds: 60, maxSeconds: 86_400 })
    .default('1h')
    .meta({ description: 'Time from the last needed approval in which the approved request can be sent.', example: '1h' }),
  force: z.boolean().default(false).describe('Save the rule although fewer people are logged in by its roles than it needs.'),
});

type RuleDocument = z.output<typeof document>;

const stateFields = z.object({
  canApprove: z.int().min(0).meta({ description: 'People with a token by one of the roles at present.', example: 4 }),
  missingRoles: z.array(z.string()).describe('Roles that are no longer there: nobody approves by them.'),
});

export type RuleResourceOptions = { readonly store: Store; readonly sources: () => readonly ApproverSource[] };

export function ruleResource(options: RuleResourceOptions): AnyResource {
  const { store } = options;
  return defineResource<RuleDocument, ApprovalRule>({
    path: 'approval/rules',
    tag: tags.approvals,
    noun: 'approval rule',
    act: 'change-trust',
    removalEnds: 'takes the protection of the rule away',
    nameField: 'name',
    scope: 'tenant',
    table: ruleTable(store),
    document,
    recordedWhole: true,
    stateFields,
    plan({ call: { caller }, document: wanted, current }: Change<RuleDocument, ApprovalRule>) {
      const { tenantId } = caller;
      if (current === undefined && ruleTable(store).count([tenantId]) >= mostRules)
        throw fail('invalid-value', { detail: `A tenant has at most ${mostRules} rules: change one of them.` });
      const roles = resolved(options, tenantId, wanted.approvers, current);
      if (roles.length === 0) throw invalid('approvers', 'must name at least one role: without approvers nothing could be approved');
      const able = peopleOf(store, tenantId, roles);
      if (able <= wanted.needed && !wanted.force)
        throw fail('in-use', {
          detail: `${able} people are logged in by these roles, and the rule needs ${wanted.needed} besides the one who asks: have them log in first, or set "force" to true. Nobody could change such a rule if too few can approve.`,
        });
      const { acts: named, paths, needed, approveWithin, useWithin, force } = wanted;
      return {
        commit: () => ({ acts: named, paths, needed, approveWithin, useWithin, force, approvers: roles }),
      };
    },
    toDocument: documentOf,
    toState: ({ approvers: roles }, { caller: { tenantId } }) => ({
      canApprove: peopleOf(store, tenantId, roles),
      missingRoles: roles.filter((role) => idOf(options, tenantId, role.kind, role.name) !== role.id).map(({ name }) => name),
    }),
    errors: ['in-use'],
  });
}

/** The roles by id. One that is not there at present keeps the id that the rule has for it. */
function resolved(
  { store, sources }: RuleResourceOptions,
  tenantId: string,
  names: RuleDocument['approvers'],
  current: ApprovalRule | undefined,
): readonly ApproverRole[] {
  const resolve = (kind: ApproverRole['kind'], list: keyof RuleDocument['approvers']): readonly ApproverRole[] =>
    names[list].map((name) => {
      const id = idOf({ store, sources }, tenantId, kind, name);
      if (id !== undefined) return { kind, name, id };
      const kept = current?.approvers.find((role) => role.kind === kind && role.name === name);
      if (kept !== undefined) return kept;
      throw invalid(`approvers/${list}`, `names "${name}", which is not there, or has no id yet: save that role once more`);
    });
  return [...resolve('role', 'roles'), ...resolve('approle', 'approles')];
}

function idOf({ store, sources }: RuleResourceOptions, tenantId: string, kind: ApproverRole['kind'], name: string): string | undefined {
  if (kind === 'approle') return approleTable(store).get([tenantId, name])?.id;
  const slash = name.indexOf('/');
  return sources()
    .find((source) => source.name === name.slice(0, slash))
    ?.idOf(tenantId, name.slice(slash + 1));
}

/** Counts the people who have a token by one of the roles. */
function peopleOf(store: Store, tenantId: string, roles: readonly ApproverRole[]): number {
  const read: Read = (table, key) => table.get(key);
  const people = new Set<string>();
  for (const [, record] of tokenTable(store).entries([tenantId])) {
    const lineage = record.identity === undefined ? undefined : lineageOf(store, record);
    if (lineage === undefined || record.identity === undefined) continue;
    if (roleIdsOf(store, tenantId, lineage, read).some((id) => roles.some((role) => role.id === id)))
      people.add(identityKey(record.identity));
  }
  return people.size;
}

function documentOf(rule: ApprovalRule): RuleDocument {
  const { acts: named, paths, needed, approveWithin, useWithin, force, approvers: roles } = rule;
  const namesOf = (some: readonly ApproverRole[]): RuleDocument['approvers'] => ({
    roles: some.filter(({ kind }) => kind === 'role').map(({ name }) => name),
    approles: some.filter(({ kind }) => kind === 'approle').map(({ name }) => name),
  });
  return { ...{ needed, approveWithin, useWithin, force }, acts: [...named], paths: [...paths], approvers: namesOf(roles) };
}

function invalid(field: string, rule: string): Error {
  return fail('invalid-value', { detail: `"${field}" ${rule}.`, items: [{ message: rule, info: field }] });
}
