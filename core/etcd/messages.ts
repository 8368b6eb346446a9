// Messages of etcd as keystored writes and reads them. Numbers of 64 bits that may exceed 2^53 stay text; revisions do not.

/** A range of keys: from `key` up to `range_end`, exclusive; without it one key. */
export type KeyRange = { readonly key: Uint8Array; readonly range_end?: Uint8Array };

/**
 * One condition of a transaction, for a key or for every key of a range. Enums are numbers: from a name that the proto files do not know, the
 * encoder makes 0, another comparison, without an error.
 */
export type Compare = KeyRange & {
  readonly target: number;
  readonly result: number;
  readonly create_revision?: number;
  readonly mod_revision?: number;
  readonly value?: Uint8Array;
};

/** CompareTarget and CompareResult of rpc.proto. */
const target = { create: 1, mod: 2, value: 3 } as const;
const result = { equal: 0, less: 2 } as const;

export type Operation =
  | { readonly request_put: { readonly key: Uint8Array; readonly value: Uint8Array } }
  | { readonly request_delete_range: KeyRange }
  | { readonly request_range: RangeRequest };

export type RangeRequest = KeyRange & {
  readonly limit?: number;
  /** 0: the newest */
  readonly revision?: number;
  /** from the member's own disk, without asking the others: may be old */
  readonly serializable?: boolean;
  readonly keys_only?: boolean;
};

export type TxnRequest = {
  readonly compare: readonly Compare[];
  readonly success: readonly Operation[];
  readonly failure: readonly Operation[];
};

export type Header = { readonly cluster_id: string; readonly member_id: string; readonly revision: string; readonly raft_term: string };

export type KeyValue = {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly create_revision: string;
  readonly mod_revision: string;
};

export type RangeAnswer = { readonly header: Header; readonly kvs: readonly KeyValue[]; readonly more: boolean };

export type TxnAnswer = {
  readonly header: Header;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly response_range?: RangeAnswer }[];
};

export type StatusAnswer = {
  readonly header: Header;
  readonly version: string;
  readonly dbSize: string;
  readonly dbSizeInUse: string;
  /** `0` before 3.6 */
  readonly dbSizeQuota: string;
  /** `0`: none */
  readonly leader: string;
  readonly errors: readonly string[];
  readonly isLearner: boolean;
};

/** Numbers of the enumerations of the proto files: a name that these do not know would become 0. */
export const alarm = { none: 0, noSpace: 1, get: 0, end: 2 } as const;

export type AlarmRequest = { readonly action: number; readonly memberID: string; readonly alarm: number };

export type AlarmsAnswer = { readonly alarms: readonly Pick<AlarmRequest, 'memberID' | 'alarm'>[] };

/** One server of etcd. Its id is a number of 64 bits, as text. */
export type EtcdServer = {
  readonly ID: string;
  /** empty until it has started once */
  readonly name: string;
  readonly peerURLs: readonly string[];
  readonly clientURLs: readonly string[];
  /** true while it is filled from the others and does not count for the majority */
  readonly isLearner: boolean;
};

export type MembersAnswer = { readonly header: Header; readonly members: readonly EtcdServer[] };

export type WatchAnswer = {
  readonly header: Header;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compact_revision: string;
  readonly cancel_reason: string;
  /** true if more of the same message follows */
  readonly fragment: boolean;
  /** type 0: put; 1: deletion */
  readonly events: readonly { readonly type: number; readonly kv: KeyValue }[];
};

export type WatchRequest =
  | {
      readonly create_request: KeyRange & {
        readonly start_revision: number;
        readonly progress_notify: boolean;
        readonly fragment: boolean;
      };
    }
  | { readonly progress_request: Record<string, never> };

/** Condition: the key was last changed at this revision; 0: it does not exist. */
export function unchangedSince(key: Uint8Array, revision: number): Compare {
  return { key, target: target.mod, result: result.equal, mod_revision: revision };
}

/** Condition: no key of the range was made or changed after this revision. Ignores deleted keys. */
export function noneAfter(range: KeyRange, revision: number): Compare {
  return { ...range, target: target.mod, result: result.less, mod_revision: revision + 1 };
}

/** Condition: the key exists and has this value. */
export function hasValue(key: Uint8Array, value: Uint8Array): Compare {
  return { key, target: target.value, result: result.equal, value };
}

/** Condition: no key of the range exists. */
export function noneOf(range: KeyRange): Compare {
  return { ...range, target: target.create, result: result.equal, create_revision: 0 };
}

export function put(key: Uint8Array, value: Uint8Array): Operation {
  return { request_put: { key, value } };
}

export function remove(range: KeyRange): Operation {
  return { request_delete_range: range };
}

export function read(request: RangeRequest): Operation {
  return { request_range: request };
}

/** All keys that begin with a prefix, which ends below 0xFF. */
export function prefixed(prefix: Uint8Array): KeyRange & { readonly range_end: Uint8Array } {
  const end = Buffer.from(prefix);
  end[end.length - 1] = (end.at(-1) ?? 0) + 1;
  return { key: prefix, range_end: end };
}

/** A revision, below 2^53 by far: at 10,000 changes a second it gets there in 28,000 years. */
export function revisionOf(text: string): number {
  const revision = Number(text);
  if (!Number.isSafeInteger(revision)) throw new RangeError(`etcd gave the revision ${text}`);
  return revision;
}
