// Records of approvals: a request that waits for the agreement of others, until it is used or over.
import type { LoginIdentity } from '../access/user.ts';
import type { Store, Table } from '../store/store.ts';
import type { Act } from './acts.ts';

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
};

/** An approval of one person. `roles`: ids of the roles that entitled the person; `tokens`: accessors of the token and its ancestors. */
export type Vote = Person & { readonly at: string; readonly roles: readonly string[]; readonly tokens: readonly string[] };

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
  readonly from: string;
  readonly approveUntil: string;
  /** from the last needed approval on */
  readonly useWithinSeconds: number;
  /** in the order of time, of each person one */
  readonly votes: readonly Vote[];
  readonly state: 'open' | (typeof endStates)[number];
  readonly end?: { readonly at: string; readonly by?: Person; readonly reason?: string };
};

export const approvalTable = (store: Store): Table<Approval> => store.tenantTable<Approval>('approvals');

/** Open requests of a tenant and how many each of its people made in an hour, in one record: requests are limited by it. [tenant uuid] */
export type Book = {
  readonly open: readonly BookEntry[];
  readonly asked: readonly { readonly by: string; readonly hour: number; readonly times: number }[];
};

/** `by`: who asked. `tokens`: accessors with which it was approved, and their ancestors. */
type BookEntry = {
  readonly id: string;
  readonly digest: string;
  readonly by: string;
  readonly until: string;
  readonly tokens: readonly string[];
};

export const bookTable = (store: Store): Table<Book> => store.tenantTable<Book>('approval-books');

export const emptyBook: Book = { open: [], asked: [] };
