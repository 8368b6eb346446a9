// Judges an approval: who may approve, which approvals count at present, and whether they are enough.
import { approleTable } from '../access/approles/approles.ts';
import { grantIsOpen } from '../access/logins/grants.ts';
import { lineageOf, tokenTable, type Lineage, type Read } from '../access/tokens/record.ts';
import { identityKey, type LoginIdentity } from '../access/user.ts';
import { formatTimestamp, parseDuration } from '../base/time.ts';
import type { Store } from '../store/store.ts';
import type { Approval, Person, Vote } from './records.ts';
import { type ApproverRole, fitting, type NamedRule } from './rules.ts';

/** The lineage of a token by its accessor; undefined if it has ended. Its validity in time is not judged. */
export function lineageBy(store: Store, tenantId: string, accessor: string, read: Read): Lineage | undefined {
  const record = read(tokenTable(store), [tenantId, accessor]);
  return record === undefined ? undefined : lineageOf(store, record, read);
}

/** Ids of the roles by which the login behind a token was made. */
export function roleIdsOf(store: Store, tenantId: string, lineage: Lineage, read: Read): readonly string[] {
  const { grants = [], approle } = lineage.at(-1) as Lineage[number];
  const own = approle === undefined ? undefined : read(approleTable(store), [tenantId, approle.name]);
  return own === undefined || own.grantId !== approle?.grantId ? grants : [...grants, own.id];
}

/** Tells whether a role of approvers is still the one that was named. */
export function isThere(store: Store, tenantId: string, { kind, name, id }: ApproverRole, read: Read): boolean {
  return kind === 'approle' ? read(approleTable(store), [tenantId, name])?.id === id : grantIsOpen(store, tenantId, id, read);
}

/** A requirement at present: that of the request when it was made and that of the rule now, whichever is stricter. */
export type Requirement = {
  readonly name: string;
  readonly needed: number;
  /** ids of the roles whose people count */
  readonly approvers: readonly string[];
  /** people whose approval counts */
  readonly have: number;
  /** groups for which nobody stands who has approved, each person for one */
  readonly groupsLacking: number;
  /** people whose rejection ends the request, and those who have rejected it */
  readonly rejections: number;
  readonly rejecting: number;
  readonly isMet: boolean;
};

/** A request at present. */
export type Standing = {
  readonly requirements: readonly Requirement[];
  /** enough people have rejected it, by one of the rules */
  readonly isRejected: boolean;
  /** time of the last approval that was needed; undefined while some are missing */
  readonly grantedAt: string | undefined;
  /** end of the time in which it can be approved, or used once it is granted */
  readonly until: string;
};

/** More than any rule gives. */
const longestSeconds = 400 * 86_400;

/** The standing of a request under the rules of its tenant: of the times of a rule then and now, the shorter counts. */
export function standingOf(store: Store, tenantId: string, approval: Approval, rules: readonly NamedRule[], read: Read): Standing {
  const present = fitting(rules, approval.acts, approval.concerns, approval.outside);
  const requirementsBy = (votes: readonly Vote[]): readonly Requirement[] =>
    requirementsOf(store, tenantId, { ...approval, votes }, present, rules, read);
  const granting = approval.votes.find((_, at) => requirementsBy(approval.votes.slice(0, at + 1)).every(({ isMet }) => isMet));
  const requirements = requirementsBy(approval.votes);
  const isRejected = requirements.some(({ rejecting, rejections }) => rejecting >= rejections);
  const within = (field: 'approveWithin' | 'useWithin', then: number): number =>
    Math.min(then, ...present.map((rule) => parseDuration(rule[field], field).seconds));
  const after = (from: string, seconds: number): string => formatTimestamp(Temporal.Instant.from(from).add({ seconds }));
  if (granting === undefined) {
    const stricter = after(approval.from, within('approveWithin', longestSeconds));
    return { requirements, isRejected, grantedAt: undefined, until: stricter < approval.approveUntil ? stricter : approval.approveUntil };
  }
  return { requirements, isRejected, grantedAt: granting.at, until: after(granting.at, within('useWithin', approval.useWithinSeconds)) };
}

/**
 * The requirements of a request: of the rules when it was made, and of those that fit it at present. Approvals count by the present approvers of a rule; a
 * rule that is gone keeps those it had.
 */
function requirementsOf(
  store: Store,
  tenantId: string,
  { rules: then, votes, requester, rejections: rejected = [] }: Pick<Approval, 'rules' | 'votes' | 'requester' | 'rejections'>,
  present: readonly NamedRule[],
  everyRule: readonly NamedRule[],
  read: Read,
): readonly Requirement[] {
  const names = [...new Set([...then.map(({ name }) => name), ...present.map(({ name }) => name)])];
  return names.map((name) => {
    const was = then.find((rule) => rule.name === name);
    const is = everyRule.find((rule) => rule.name === name);
    const needed = Math.max(was?.needed ?? 1, is?.needed ?? 1);
    const rejections = Math.min(...[was, is].map((rule) => (rule === undefined ? Infinity : (rule.rejections ?? 1))));
    const approvers =
      is === undefined ? (was?.approvers ?? []) : is.approvers.filter((role) => isThere(store, tenantId, role, read)).map(({ id }) => id);
    const good = votes.filter((vote) => !isOneLogin(vote, requester) && vote.roles.some((role) => approvers.includes(role)));
    const people = peopleAmong(good);
    const have = people.length;
    const rejecting = peopleAmong(rejected.filter(({ roles }) => roles.some((role) => approvers.includes(role)))).length;
    const present = (is?.distinctGroups ?? []).map((group) =>
      group.filter((role) => isThere(store, tenantId, role, read)).map(({ id }) => id),
    );
    const groupsLacking = Math.max(...[was?.distinctGroups ?? [], present].map((groups) => groups.length - mostServed(groups, people)));
    return { name, needed, approvers, have, groupsLacking, rejections, rejecting, isMet: have >= needed && groupsLacking === 0 };
  });
}

/** The number of groups for each of which another person can stand: who is of two groups stands for one of them. */
function mostServed(groups: readonly (readonly string[])[], people: readonly Vote[]): number {
  const standing = new Map<Vote, readonly string[]>();
  // Moves a person who stands for another group: that makes room where somebody else can stand for that (Kuhn).
  const isServed = (group: readonly string[], asked: Set<Vote>): boolean =>
    people.some((person) => {
      if (asked.has(person) || !person.roles.some((role) => group.includes(role))) return false;
      asked.add(person);
      const other = standing.get(person);
      if (other !== undefined && !isServed(other, asked)) return false;
      standing.set(person, group);
      return true;
    });
  return groups.filter((group) => isServed(group, new Set())).length;
}

/** Those of them that are surely different people, the earlier first. */
function peopleAmong(votes: readonly Vote[]): readonly Vote[] {
  return votes.reduce<readonly Vote[]>((known, vote) => (known.some((one) => isOneLogin(one, vote)) ? known : [...known, vote]), []);
}

/**
 * Tells whether one person may be both, who then do not approve for each other: the same identity by whichever token, also where a provider lets it in both as a person and as a workload, or one that made the login of the other. Root tokens
 * set up every login, and approve nothing.
 */
export function isOneLogin(one: Person, other: Person): boolean {
  return isSame(one.identity, other.identity) || isMadeBy(one, other) || isMadeBy(other, one);
}

function isMadeBy({ behind = [] }: Person, { identity }: Person): boolean {
  return identity.kind !== 'root-token' && behind.some((maker) => isSame(maker, identity));
}

function isSame(one: LoginIdentity, other: LoginIdentity): boolean {
  return identityKey(ofProvider(one)) === identityKey(ofProvider(other));
}

/** A provider gives a subject to one person or program, whichever way that logs in. */
function ofProvider(identity: LoginIdentity): LoginIdentity {
  return identity.kind === 'workload' ? { ...identity, kind: 'sign-in' } : identity;
}
