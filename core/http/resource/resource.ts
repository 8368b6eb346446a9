// The contract of a resource: its list and entry endpoints in both trees are made from one definition (api 2 to 10).
import type { z } from 'zod';
import type { Act } from '../../approvals/acts.ts';
import type { WriteTransaction, StoreKey, Table } from '../../store/store.ts';
import type { EndpointCall, FieldRight, Tag } from '../endpoint.ts';

/** A creation, replacement or merge with its complete, parsed document. */
export type Change<Document, Rec> = {
  readonly call: EndpointCall;
  /** path parameters of the entry, parents first, own name last */
  readonly names: readonly string[];
  /** the new document, after defaults and merge */
  readonly document: Document;
  /** the present record; undefined on creation */
  readonly current: Rec | undefined;
  /**
   * The value at a path of names (camelCase) that the request states and whose present value policies hide from its caller; undefined for any other.
   * It is null where a replacement leaves it out. A plan
   * that accepts some changes and refuses others takes such a value for a change: which one is accepted would tell the present one.
   */
  readonly blindly: (...path: readonly string[]) => unknown;
};

/** Returns the present names of a list that a change may keep although its caller could not add them; `stated`: blindly stated value. */
export function keptNames(present: readonly string[] = [], stated: unknown): readonly string[] {
  return Array.isArray(stated) ? present.filter((name) => !stated.includes(name)) : present;
}

/**
 * Steps of a change. `plan` makes every check that needs no token and throws refusals; with `validate=true` the
 * platform stops there. `prepare` does the slow work outside the transaction (HSM). `commit` builds the new record inside it:
 * the platform re-reads the record first and starts over when it changed since `plan`, so `current` is never stale.
 */
export type Plan<Rec, Prepared> = {
  /** Identifies the entries that the document names, for approvals: another CA of the same name is another change. */
  readonly approvedFor?: unknown;
  prepare?(): Promise<Prepared>;
  commit(transaction: WriteTransaction, prepared: Prepared): Rec;
  /** Undoes `prepare` if its result was not committed: another change came first, or the store could not be written. */
  discard?(prepared: Prepared): Promise<void>;
  /** Runs after the commit, before the answer. */
  after?(): Promise<void>;
};

/** A change of an entry, for its acts. */
export type ActChange<Document> = {
  readonly call: EndpointCall;
  readonly names: readonly string[];
  /** undefined for a creation */
  readonly before: Document | undefined;
  /** undefined for a removal */
  readonly after: Document | undefined;
};

/** A query parameter that selects entries of a list. */
export type ListFilter<Rec> = {
  readonly description: string;
  /** of the parameter, for the API description; a value that is not in its `enum` is refused */
  readonly schema: { readonly type: 'string' | 'boolean'; readonly enum?: readonly string[]; readonly examples: readonly unknown[] };
  /** fields (wire form) that it reveals: an entry with a hidden one does not fit. None: the name alone */
  readonly tellsAbout: readonly string[];
} & (FitsEntry<Rec> | FitsName);

type FitsEntry<Rec> = {
  /** Tells whether an entry fits a value of the parameter; a boolean comes as `true` or `false`. */
  fits(entry: Listed<Rec>, value: string, call: EndpointCall): boolean;
};

/** Of filters that tell about no field: the record of an entry with another name is not opened. */
type FitsName = { fitsName(name: string, value: string): boolean };

export type Listed<Rec> = { readonly name: string; readonly record: Rec };

/** Filters by the names of the parameters, in the order of generated clients. */
export type ListFilters<Rec> = Readonly<Record<string, ListFilter<Rec>>>;

export type Resource<Document, Rec, Prepared> = {
  /** below /v1/config and /v1/state: `keystore/transit-keys`; children carry parameters: `…/oidc/{service}/roles` */
  readonly path: string;
  readonly tag: Tag;
  /** `transit key`, for messages */
  readonly noun: string;
  /** wire name and path parameter of the entry's name, normally `name` */
  readonly nameField: string;
  /** default: api 11 */
  readonly namePattern?: RegExp;
  /** the rule of `namePattern` in words, to follow "must be" */
  readonly nameRule?: string;
  /** `tenant`: keys start with the caller's tenant uuid; `system`: shared, visible to the system tenant only */
  readonly scope: 'tenant' | 'system';
  readonly table: Table<Rec>;
  /** writable fields without the name: zod object, camelCase, every optional field with its default */
  readonly document: z.ZodObject;
  /** read-only fields the state adds: zod object, camelCase */
  readonly stateFields: z.ZodObject;
  /** 409 immutable-field when changed after creation; PUT may leave them out */
  readonly creationFields?: readonly (keyof Document & string)[];
  /** booleans that never go back to false: 409 one-way-flag; PUT may leave them out */
  readonly oneWayFields?: readonly (keyof Document & string)[];
  /** write-only; the state shows `<field>-set` (dotted path for containers: `est.initialEnrollSecret`) */
  readonly secretFields?: readonly string[];
  /**
   * secrets sent to a recipient, with the fields that name the recipient: if one of these changes, the secret must be stated again.
   * Otherwise a caller who may change an address but not read the secret could have it sent to another address
   */
  readonly secretsSentTo?: Readonly<Record<string, readonly (keyof Document & string)[]>>;
  /**
   * fields (dotted paths) whose validity depends on others, of the document or the state: a caller who cannot see one of those changes them
   * only together with it
   */
  readonly judgedBy?: Readonly<Record<string, readonly string[]>>;
  /** of these fields, those with a value that is valid whatever the others are: who states it needs to see none of them */
  readonly validAnyway?: Readonly<Record<string, string | number | boolean>>;
  /** of these fields, those whose default in a replacement depends on the others as well */
  readonly defaultedBy?: readonly string[];
  /** fields for which a removal may be refused: a caller who cannot see them gets no dry run of it */
  readonly removalJudgedBy?: readonly (keyof Document & string)[];
  /** fields of other entries for which a removal may be refused: a caller who may not see them in all of these gets no dry run of it */
  readonly removalTells?: readonly ToldByRemoval<Rec>[];
  /** containers, and required secrets, that a merge cannot remove: null is refused */
  readonly notRemovableByMerge?: readonly (keyof Document & string)[];
  /** entries of every tenant; they are not stored and cannot be changed */
  readonly builtIn?: ReadonlyMap<string, Rec>;
  /** false: everything below the parents is 404 */
  parentExists?(call: EndpointCall, parents: readonly string[]): boolean;
  /** the key of an entry, its name last; called with the parents' names alone for lists. Default: tenant uuid (scope `tenant`), names */
  key?(call: EndpointCall, names: readonly string[]): StoreKey;
  /** Fills in defaults that depend on the name or on other fields, so that policies and `validate=true` see them too. */
  complete?(change: Omit<Change<Document, Rec>, 'call' | 'blindly'>): Document;
  /** Warnings about accepted input that is probably a mistake, in answers to creations, replacements and merges. */
  warnings?(document: Document): readonly string[];
  plan(change: Change<Document, Rec>): Plan<Rec, Prepared>;
  /** Checks that the entry may be removed (throws `in-use`, `deletion-not-allowed`, …) and returns further steps. */
  planRemoval?(call: EndpointCall, names: readonly string[], current: Rec): Removal;
  toDocument(record: Rec): Document;
  /** Makes the state. `shows`: tells whether the caller sees a field (wire form) of this entry, for derived fields. */
  toState(record: Rec, call: EndpointCall, shows: (field: string) => boolean): Record<string, unknown>;
  /** query parameters of its lists that select entries */
  readonly filters?: ListFilters<Rec>;
  /** needs of some changes of a field besides, for `policy/check`; `plan` checks them */
  readonly fieldRights?: readonly FieldRight[];
  /** the same for creations, and for removals */
  readonly creationRights?: readonly FieldRight[];
  readonly removalRights?: readonly FieldRight[];
  /** effect of a removal beyond the entry itself, following "this" */
  readonly removalEnds?: string;
  /** the act of all its changes; with neither this nor `acts` every change counts as every act */
  readonly act?: Act;
  /** Acts of a change, by the present and the wanted document. */
  acts?(change: ActChange<Document>): readonly Act[];
  /** true if entries can be created in batches, under the path of the list with `-batch` */
  readonly inBatches?: true;
  /** true if the record of a change has the complete document, however long: its effect must be traceable */
  readonly recordedWhole?: true;
  readonly errors?: readonly string[];
};

/** A field of the entries of a list on which a removal depends. */
type ToldByRemoval<Rec> = {
  /** path of the list below the tree, with parameters of the resource */
  readonly list: string;
  /** wire form */
  readonly field: string;
  /** condition, for `policy/check`, to follow "and" */
  readonly when?: string;
  /** Tells whether it depends on the field. Absent: always. */
  depends?(call: EndpointCall, current: Rec): boolean;
};

/** Steps of a removal. `prepare`: slow work before the transaction. If `commit` throws an overtaken `conflict`, the removal starts over. */
export type Removal = { prepare?(): Promise<void>; commit?(transaction: WriteTransaction): void; after?(): Promise<void> };

export type AnyResource = Resource<never, never, never>;

/** Checks the types of a resource; the registry does not keep them. */
export function defineResource<Document, Rec, Prepared = undefined>(resource: Resource<Document, Rec, Prepared>): AnyResource {
  return resource as unknown as AnyResource;
}
