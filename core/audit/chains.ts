// Chains of the audit trail: their names, the acknowledgement of lost ones, and the state remembered of them outside their
// files, where an attacker who changes the files cannot change it too.
import type { Clock } from '../base/context.ts';
import type { ChainHead, HeadEntry, TrailRecord } from './line.ts';

/** Names of the chains of an appliance; if several share a store, the names begin with the id of their appliance. */
export function chainNames(appliance: string | undefined): { readonly worker: (number: number) => string; readonly supervisor: string } {
  const own = appliance === undefined ? '' : `${appliance}-`;
  return {
    worker: (number) => `${own}worker-${number}`,
    /** chain of attempts to unseal */
    supervisor: `${own}supervisor`,
  };
}

/** Id of the appliance in the name of a chain; undefined for chains of a single appliance. */
export function applianceOf(chain: string): string | undefined {
  return /^(.+)-(?:worker-\d+|supervisor)$/.exec(chain)?.[1];
}

/** The remembered state of one chain. */
export type RememberedChain = {
  /** last record covered by a signed head; `emptyChain` while the chain has only been announced */
  readonly signed?: ChainHead;
  /** last record removed under a signature, after which the chain starts; absent: not checked by any start yet */
  readonly retired?: ChainHead;
  /** last record at an orderly stop of its process; absent while a process writes the chain, and after a crash */
  readonly closed?: ChainHead;
  /** known gap: last record of a file that the next file does not continue; by the number of that record */
  readonly [gap: `gap-${number}`]: ChainHead | undefined;
};

export const gapPart = (sequence: number): `gap-${number}` => `gap-${sequence}`;

/** Change of one part of a remembered chain; without `head` the part is forgotten. */
export type MemoryChange = { readonly chain: string; readonly part: keyof RememberedChain; readonly head?: ChainHead };

/**
 * Change of a chain by none of its processes, in the form of the record that the trail writes about it.
 * `cut-off`: records are missing or replaced. `added`: there are records after the last one of an orderly stop. `changed`: the same as `cut-off`
 * while a process wrote it; if no record is missing, the file was replaced, or written to after the last record, and both numbers are those
 * of the last record.
 */
export type Discrepancy = {
  readonly event: 'cut-off' | 'added' | 'changed';
  readonly ofChain: string;
  readonly afterSequence: number;
  readonly throughSequence: number;
};

/**
 * The store lacks recorded changes: a record of the chain names a later revision of the store than it had when it was opened. The missing changes
 * were acknowledged, but not kept, because the disk lied or the store was restored alone.
 */
export type StoreBehind = {
  readonly event: 'store-behind';
  readonly ofChain: string;
  /** sequence number of the record that names the revision */
  readonly atSequence: number;
  readonly foundRevision: number;
  readonly recordedRevision: number;
};

/**
 * Findings of an opening, besides discrepancies of a chain: files of an unknown chain, copies of files beside them, and signed heads in a trail of which nothing is
 * remembered.
 */
export type OpeningFinding =
  | Discrepancy
  | StoreBehind
  | { readonly event: 'set-aside'; readonly ofChain: string; readonly files: readonly string[] }
  | { readonly event: 'copied'; readonly ofChain: string; readonly files: readonly string[] }
  | { readonly event: 'unremembered'; readonly chains: readonly string[] };

export interface TrailMemory {
  /** Returns every chain of this appliance that may exist, by name. */
  recall(): ReadonlyMap<string, RememberedChain>;
  /**
   * Returns the last signed records of chains of other appliances that share the store. Signed here too, they show when the whole trail of an
   * appliance has disappeared.
   */
  recallOthers(): readonly HeadEntry[];
  /** Makes all changes together; resolves when they are on the disk. */
  update(changes: readonly MemoryChange[]): Promise<void>;
  /** Reports discrepancies that a person must answer, before an update forgets them. Absent: only the trail records them. */
  report?(findings: readonly OpeningFinding[], clock: Clock): Promise<void>;
}

/** Trail of a permanently lost appliance. */
export type LostTrail = { readonly appliance: string; readonly chains: readonly string[] };

/** Request parameters of the record with which a person acknowledges the loss of a trail. No endpoint records others with these names. */
export function acknowledgementOf({ appliance, chains }: LostTrail): Readonly<Record<string, unknown>> {
  return { 'removed-appliance': appliance, 'lost-chains': chains };
}

/** Returns the loss that a record acknowledges: the request was granted, and the record is not in a chain of the lost appliance itself. */
export function acknowledgedIn(record: TrailRecord): LostTrail | undefined {
  const { kind, status, chain, 'request-parameters': parameters } = record;
  if (kind !== 'request' || !(Number(status) < 300) || typeof parameters !== 'object' || parameters === null) return undefined;
  const { 'removed-appliance': appliance, 'lost-chains': chains } = parameters as Readonly<Record<string, unknown>>;
  if (typeof appliance !== 'string' || !Array.isArray(chains) || applianceOf(chain) === appliance) return undefined;
  return { appliance, chains: chains.map(String) };
}
