// The chains of the audit trail: how they are named, how the loss of some is acknowledged, and what is remembered of them outside of their
// files, where an attacker who changes the files cannot change it too.
import type { Clock } from '../base/context.ts';
import type { Discrepancy, StoreBehind } from './examine.ts';
import type { HeadEntry } from './heads.ts';
import type { ChainHead, TrailRecord } from './line.ts';

/** Names of the chains of an appliance; those of several that share a store are told apart by the id of the appliance in front. */
export function chainNames(appliance: string | undefined): { readonly worker: (number: number) => string; readonly supervisor: string } {
  const own = appliance === undefined ? '' : `${appliance}-`;
  return {
    worker: (number) => `${own}worker-${number}`,
    /** of attempts to unseal */
    supervisor: `${own}supervisor`,
  };
}

/** The id of the appliance that a chain is named by; undefined for chains of one that stood alone. */
export function applianceOf(chain: string): string | undefined {
  return /^(.+)-(?:worker-\d+|supervisor)$/.exec(chain)?.[1];
}

/** The remembered state of one chain. */
export type RememberedChain = {
  /** the last record covered by a signed head; `emptyChain` while the chain has only been announced */
  readonly signed?: ChainHead;
  /** the last record that was removed under a signature; the chain starts after it; absent: not checked by any start yet */
  readonly retired?: ChainHead;
  /** the last record when its process stopped in order; absent while a process writes the chain, and after a crash */
  readonly closed?: ChainHead;
  /** records after which a file begins that does not go on after the file before it, which is known; by the number of that record */
  readonly [gap: `gap-${number}`]: ChainHead | undefined;
};

export const gapPart = (sequence: number): `gap-${number}` => `gap-${sequence}`;

/** Without `head` this part is forgotten. */
export type MemoryChange = { readonly chain: string; readonly part: keyof RememberedChain; readonly head?: ChainHead };

/** Besides what is wrong with a chain: files of an unknown chain, and signed heads in a trail of which nothing is remembered. */
export type OpeningFinding =
  | Discrepancy
  | StoreBehind
  | { readonly event: 'set-aside'; readonly ofChain: string; readonly files: readonly string[] }
  | { readonly event: 'unremembered'; readonly chains: readonly string[] };

export interface TrailMemory {
  /** Every chain of this appliance that may exist, by name. */
  recall(): ReadonlyMap<string, RememberedChain>;
  /**
   * The last signed records of chains of other appliances that share the store. Signed here too, they show when the whole trail of an
   * appliance has disappeared.
   */
  recallOthers(): readonly HeadEntry[];
  /** Makes all changes together; resolves when they are on the disk. */
  update(changes: readonly MemoryChange[]): Promise<void>;
  /** What does not agree with it, until a person has answered: told before it is forgotten by an update. Absent: the trail alone says so. */
  report?(findings: readonly OpeningFinding[], clock: Clock): Promise<void>;
}

/** The trail of an appliance that is gone for ever. */
export type LostTrail = { readonly appliance: string; readonly chains: readonly string[] };

/** The request parameters of the record with which a person acknowledges that a trail is lost. No endpoint notes others of these names. */
export function acknowledgementOf({ appliance, chains }: LostTrail): Readonly<Record<string, unknown>> {
  return { 'removed-appliance': appliance, 'lost-chains': chains };
}

/** The loss that a record acknowledges: the request was granted, and it is not in a chain of the lost appliance itself. */
export function acknowledgedIn(record: TrailRecord): LostTrail | undefined {
  const { kind, status, chain, 'request-parameters': parameters } = record;
  if (kind !== 'request' || !(Number(status) < 300) || typeof parameters !== 'object' || parameters === null) return undefined;
  const { 'removed-appliance': appliance, 'lost-chains': chains } = parameters as Readonly<Record<string, unknown>>;
  if (typeof appliance !== 'string' || !Array.isArray(chains) || applianceOf(chain) === appliance) return undefined;
  return { appliance, chains: chains.map(String) };
}
