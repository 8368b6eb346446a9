// Records of approvals: a request that waits for the agreement of others, until it is used or over.
import { hash } from 'node:crypto';
import type { LoginIdentity } from '../access/user.ts';
import type { Store, Table } from '../store/store.ts';
import type { Act } from './acts.ts';
import type { Outside } from './narrowing.ts';

/**
 * Somebody at a moment: the identity decides, the name is for people, the accessor names the token. `behind`: identities that made the login, and could use it as well.
 */
export type Person = {
  readonly identity: LoginIdentity;
  readonly user: string;
  readonly accessor: string;
  readonly behind?: readonly LoginIdentity[];
};

/** A rule as it was when the request was made. A later weaker one does not weaken it. */
type RuleThen = {
  readonly name: string;
  readonly needed: number;
  readonly approvers: readonly string[];
  /** as in ApprovalRule, by the ids of the roles */
  readonly distinctGroups?: readonly (readonly string[])[];
  /** as in ApprovalRule */
  readonly rejections?: number;
};

/** An approval of one person. `roles`: ids of the roles that entitled the person; `tokens`: accessors of the token and its ancestors. */
export type Vote = Person & { readonly at: string; readonly roles: readonly string[]; readonly tokens: readonly string[] };

/** A rejection of one person, which alone may not end the request. */
export type Rejection = Vote & { readonly reason: string };

export const endStates = ['used', 'rejected', 'withdrawn', 'expired', 'restored'] as const;

/** Record of a request for approval. [tenant uuid, id]. Times as formatTimestamp writes them. */
export type Approval = {
  readonly id: string;
  readonly digest: string;
  readonly requester: Person & { readonly clientIp: string };
  readonly method: string;
  /** template of the endpoint */
  readonly endpoint: string;
  /** as it was sent, without query */
  readonly path: string;
  /** segments of the paths that it concerns */
  readonly concerns: readonly (readonly string[])[];
  readonly acts: readonly Act[];
  /** shown to approvers; no secret */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly reason: string;
  readonly rules: readonly RuleThen[];
  /** rules that were not about it because of its values, with those that they had; absent for none */
  readonly outside?: readonly Pick<Outside, 'name' | 'values'>[];
  readonly from: string;
  readonly approveUntil: string;
  /** from the last needed approval on */
  readonly useWithinSeconds: number;
  /** in the order of time, of each person one */
  readonly votes: readonly Vote[];
  /** the same of those who have rejected it; nobody is in both. Absent for none */
  readonly rejections?: readonly Rejection[];
  readonly state: 'open' | (typeof endStates)[number];
  readonly end?: { readonly at: string; readonly by?: Person; readonly reason?: string };
};

/** Longer parameters are shown where one request is, while it is open. */
const longestKept = 16 << 10;

/** The parameters of a request among many, or of one that is over: long ones by size and digest. */
export function briefParameters(parameters: Approval['parameters']): Approval['parameters'] {
  const text = JSON.stringify(parameters);
  return text.length <= longestKept ? parameters : { bytes: text.length, sha256: hash('sha256', text) };
}

/** Tells whether parameters are a size and a digest alone, from which somebody who knows most of them finds the rest. */
export function isBrief(parameters: Approval['parameters']): boolean {
  return Object.keys(parameters).join() === 'bytes,sha256';
}

/** A request that is over. */
export function asEnded(approval: Approval, state: Exclude<Approval['state'], 'open'>, end: NonNullable<Approval['end']>): Approval {
  return { ...approval, state, end, parameters: briefParameters(approval.parameters) };
}

export const approvalTable = (store: Store): Table<Approval> => store.tenantTable<Approval>('approvals');

/** Open requests of a tenant and how many each of its people made in an hour, in one record: requests are limited by it. [tenant uuid] */
export type Book = {
  readonly open: readonly BookEntry[];
  /** `own`: without those of logins that the person has made; absent in older records */
  readonly asked: readonly { readonly by: string; readonly hour: number; readonly times: number; readonly own?: number }[];
};

/** `by`: who asked; `people`: with the makers of that login, absent in older records. `tokens`: accessors with which it was approved, and their ancestors. */
type BookEntry = {
  readonly id: string;
  readonly digest: string;
  readonly by: string;
  readonly people?: readonly string[];
  readonly until: string;
  readonly tokens: readonly string[];
};

export const bookTable = (store: Store): Table<Book> => store.tenantTable<Book>('approval-books');

export const emptyBook: Book = { open: [], asked: [] };
