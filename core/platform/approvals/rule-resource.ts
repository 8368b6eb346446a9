// Rules of approvals as a resource: a tenant's own, beside its policies and stricter than each of them.
import { z } from 'zod';
import { acts } from '../../approvals/acts.ts';
import type { ApproverSource } from '../../approvals/approver-source.ts';
import { type ApprovalRule, type ApproverRole, mostRules, ruleTable } from '../../approvals/rules.ts';
import { roleIdsOf } from '../../approvals/standing.ts';
import { approleTable } from '../../access/approles/approles.ts';
import { readPattern } from '../../access/policy/patterns.ts';
import { lineageOf, type Read, tokenTable } from '../../access/tokens/record.ts';
import { personKey, recentDays, recentPeople } from '../../access/logins/recent-logins.ts';
import { fail } from '../../base/errors.ts';
import { invalid } from '../../base/texts/invalid.ts';
import type { AnyEndpoint } from '../../http/endpoint.ts';
import { naming, type NamedEntry } from '../../http/named-entries.ts';
import { defineResource, type AnyResource, type Change } from '../../http/resource/resource.ts';
import { tags } from '../../http/tags.ts';
import type { Store } from '../../store/store.ts';
import { durationText, integer } from '../../wire/fields.ts';
import { narrowingWarnings, requireKnownValues } from './narrowed-fields.ts';

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

const people = (typeName: string) =>
  z.object({ roles: roleNames().default([]).meta(ofRoles), approles: approleNames().default([]).meta(ofApproles) }).meta({ typeName });
/** Groups of a rule: no more than people whom it can need. */
const mostGroups = 8;

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
  values: z
    .record(
      z.string().min(1).max(256),
      z
        .array(z.union([z.string().max(256), z.number(), z.boolean(), z.null()]))
        .min(1)
        .max(256),
    )
    .refine((values) => Object.keys(values).length <= mostNames, `must be of at most ${mostNames} fields`)
    .default({})
    .meta({
      description:
        'Name of a field, inside containers `a/b`, to the values with which alone the rule is about a request, each field named; none: whatever they are. One that is left out counts with its default, else as null; of a list one element is enough. A field that a request cannot have, and a secret, narrows nothing.',
      example: { format: ['clear'] },
    }),
  needed: integer(1, 8).meta({ description: 'How many people besides the one who asks must approve.', example: 2 }),
  approvers: people('Approvers').meta({
    description: 'Whose people approve: those who logged in by one of these roles.',
    example: { approles: ['alice', 'bob', 'carol'] },
  }),
  distinctGroups: z
    .array(people('ApproverGroup'))
    .max(mostGroups)
    .default([])
    .meta({
      description:
        'Groups of the approvers, of each of which another person must be among those who approve: security and operations, for example.',
      example: [{ roles: ['company-login/staff/security'] }, { roles: ['company-login/staff/operations'] }],
    }),
  reasonRequired: z
    .boolean()
    .default(true)
    .describe(
      'Makes who asks say why. `false`: the header Approval-Reason may be empty, if no other rule that the request is under requires it.',
    ),
  rejections: integer(1, 8)
    .default(1)
    .meta({ description: 'How many people must reject a request to end it. Several: no single person keeps others from it.', example: 2 }),
  approveWithin: durationText({ minSeconds: 300, maxSeconds: 14 * 86_400 })
    .default('24h')
    .meta({ description: 'Time from the request in which people can approve.', example: '24h' }),
  useWithin: durationText({ minSeconds: 60, maxSeconds: 86_400 })
    .default('1h')
    .meta({ description: 'Time from the last needed approval in which the approved request can be sent.', example: '1h' }),
  force: z
    .boolean()
    .default(false)
    .describe('Save the rule although fewer people have logged in by its roles within 90 days than it needs.'),
});

type RuleDocument = z.output<typeof document>;

const stateFields = z.object({
  canApprove: z.int().min(0).meta({ description: 'People who have logged in by one of the roles within 90 days.', example: 4 }),
  missingRoles: z.array(z.string()).describe('Roles that are no longer there: nobody approves by them.'),
});

export type RuleResourceOptions = {
  readonly store: Store;
  readonly sources: () => readonly ApproverSource[];
  readonly endpoints: () => readonly AnyEndpoint[];
};

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
    plan({ call: { caller, now }, document: wanted, current }: Change<RuleDocument, ApprovalRule>) {
      const { tenantId } = caller;
      if (current === undefined && ruleTable(store).count([tenantId]) >= mostRules)
        throw fail('invalid-value', { detail: `A tenant has at most ${mostRules} rules: change one of them.` });
      const roles = resolved(options, tenantId, wanted.approvers, current);
      if (roles.length === 0) throw invalid('approvers', 'must name at least one role: without approvers nothing could be approved');
      const groups = resolvedGroups(options, tenantId, wanted, roles, current);
      requireKnownValues(options.endpoints(), wanted);
      if (!wanted.force) requireEnough(store, tenantId, now, wanted, roles, groups);
      const { approvers: _approvers, distinctGroups: _distinctGroups, ...rest } = wanted;
      return { approvedFor: roles.map(({ id }) => id), commit: () => ({ ...rest, approvers: roles, distinctGroups: groups }) };
    },
    warnings: (rule) => [...warningsOf(rule), ...narrowingWarnings(options.endpoints(), rule)],
    toDocument: documentOf,
    toState: ({ approvers: roles }, { caller: { tenantId }, now }) => ({
      canApprove: peopleOf(store, tenantId, roles, now).size,
      missingRoles: roles.filter((role) => idOf(options, tenantId, role.kind, role.name) !== role.id).map(({ name }) => name),
    }),
    errors: ['in-use'],
  });
}

/** The groups by id; throws `invalid-value` unless each is of approvers of the rule, and they are not more than the people whom it needs. */
function resolvedGroups(
  options: RuleResourceOptions,
  tenantId: string,
  { distinctGroups, needed }: RuleDocument,
  approverRoles: readonly ApproverRole[],
  current: ApprovalRule | undefined,
): readonly (readonly ApproverRole[])[] {
  if (distinctGroups.length > needed)
    throw invalid('distinct-groups', `must not be more than "needed", which is ${needed}: a person stands for one group`);
  return distinctGroups.map((names, at) => {
    const group = resolved(options, tenantId, names, current, `distinct-groups/${at}`);
    const outsider = group.find((role) => !approverRoles.some(({ id }) => id === role.id));
    if (group.length > 0 && outsider === undefined) return group;
    throw invalid(
      `distinct-groups/${at}`,
      outsider === undefined ? 'must name at least one role' : `names "${outsider.name}", which must be among "approvers" too`,
    );
  });
}

/** Throws `in-use` where too few people could approve: nobody could change such a rule. Who asks does not count, so that one more is needed than approve. */
function requireEnough(
  store: Store,
  tenantId: string,
  now: Temporal.Instant,
  { needed, rejections }: Pick<RuleDocument, 'needed' | 'rejections'>,
  roles: readonly ApproverRole[],
  groups: readonly (readonly ApproverRole[])[],
): void {
  const able = peopleOf(store, tenantId, roles, now).size;
  const lonely = groups.findIndex((group) => peopleOf(store, tenantId, group, now).size < 2);
  const most = Math.max(needed, rejections);
  if (able > most && lonely === -1) return;
  const lack =
    able <= most
      ? `${able} people have logged in by these roles within ${recentDays} days, and the rule needs ${most} besides the one who asks${needed < most ? ' to reject' : ''}`
      : `Fewer than two people of "distinct-groups/${lonely}" have logged in within ${recentDays} days, and one of them may be the one who asks`;
  throw fail('in-use', {
    detail: `${lack}: have them log in first, or set "force" to true. Nobody could change such a rule if too few can approve.`,
  });
}

/** An approle is one person. */
function warningsOf({ approvers: { roles, approles }, needed }: RuleDocument): readonly string[] {
  if (roles.length > 0 || new Set(approles).size > needed) return [];
  return ['All approvers must approve: none of them can ask for anything, and the loss of one is that of all.'];
}

/** The roles by id. One that is not there at present keeps the id that the rule has for it. */
function resolved(
  options: RuleResourceOptions,
  tenantId: string,
  names: RuleDocument['approvers'],
  current: ApprovalRule | undefined,
  field = 'approvers',
): readonly ApproverRole[] {
  const resolve = (kind: ApproverRole['kind'], list: keyof RuleDocument['approvers']): readonly ApproverRole[] =>
    names[list].map((name) => {
      const id = idOf(options, tenantId, kind, name);
      if (id !== undefined) return { kind, name, id };
      const kept = current?.approvers.find((role) => role.kind === kind && role.name === name);
      if (kept !== undefined) return kept;
      throw invalid(`${field}/${list}`, `names "${name}", which is not there, or has no id yet: save that role once more`);
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

/** The people who have logged in by one of the roles of late, or have a token by it, as personKey names them. */
function peopleOf(store: Store, tenantId: string, roles: readonly ApproverRole[], now: Temporal.Instant): ReadonlySet<string> {
  const read: Read = (table, key) => table.get(key);
  const found = new Set(roles.flatMap(({ id }) => recentPeople(store, tenantId, id, now)));
  // Sessions that have been refreshed for longer, and those of appliances of earlier versions, which noted no logins.
  for (const [, record] of tokenTable(store).entries([tenantId])) {
    const lineage = record.identity === undefined ? undefined : lineageOf(store, record);
    if (lineage === undefined || record.identity === undefined) continue;
    if (roleIdsOf(store, tenantId, lineage, read).some((id) => roles.some((role) => role.id === id))) found.add(personKey(record.identity));
  }
  return found;
}

function documentOf({
  approvers: roles,
  distinctGroups = [],
  reasonRequired = true,
  rejections = 1,
  values = {},
  ...rule
}: ApprovalRule): RuleDocument {
  const namesOf = (some: readonly ApproverRole[]): RuleDocument['approvers'] => ({
    roles: some.filter(({ kind }) => kind === 'role').map(({ name }) => name),
    approles: some.filter(({ kind }) => kind === 'approle').map(({ name }) => name),
  });
  const { acts: named, paths, needed, approveWithin, useWithin, force } = rule;
  return {
    ...{ needed, rejections, reasonRequired, approveWithin, useWithin, force },
    ...{
      acts: [...named],
      paths: [...paths],
      values: ownValues(values),
      approvers: namesOf(roles),
      distinctGroups: distinctGroups.map(namesOf),
    },
  };
}

function ownValues(values: NonNullable<ApprovalRule['values']>): RuleDocument['values'] {
  return Object.fromEntries(Object.entries(values).map(([field, some]) => [field, [...some]]));
}
