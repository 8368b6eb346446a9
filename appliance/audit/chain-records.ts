// Records of the chains of the audit trail in the store: the appliance of a cluster that each belongs to, and the chains of departed
// appliances.
import type { TableKinds } from '../../core/store/records/table-kinds.ts';
import { applianceOf, type OpeningFinding, type RememberedChain, type TrailMemory, type StoreBehind } from '../../core/audit/chains.ts';
import type { HeadEntry } from '../../core/audit/line.ts';
import type { ChainHead } from '../../core/audit/line.ts';
import type { Clock } from '../../core/base/context.ts';
import { ranged } from '../../core/base/texts/counted.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { removedReason } from '../../core/cluster/entry.ts';
import { listStreams } from '../../core/log/stream-files.ts';
import type { Store, Table, WriteTransaction } from '../../core/store/store.ts';
import { type Found, noteFinding } from '../findings/findings.ts';
import { StartRefused } from '../start-refused.ts';

/** [chain, part] */
const chainTable = (store: Store): Table<ChainHead> => store.table<ChainHead>('audit-chains');
/** ['latest']: the last signature in records of earlier versions */
const signedTable = (store: Store): Table<readonly HeadEntry[]> => store.table<readonly HeadEntry[]>('audit-signed-heads');

/** Time at which an appliance left permanently, its name then, and the caller who declared it. */
export type Departure = { readonly name: string; readonly at: string; readonly by: string };

/**
 * An appliance that has written audit records in this cluster. `chains`: those it had begun when it stood alone, which are not named by it.
 */
type ApplianceRecord = { readonly since: string; readonly chains: readonly string[]; readonly removed?: Departure };

/** [id of the appliance]; a record stays when its appliance has left, because its trail stays */
const applianceTable = (store: Store): Table<ApplianceRecord> => store.table<ApplianceRecord>('appliances');

export const chainTableKinds: TableKinds = {
  'audit-chains': { of: 'chains' },
  'audit-signed-heads': { of: 'all', fills: true },
  appliances: { of: 'cluster' },
};

/** Migrates the heads that an earlier version remembered. */
export async function adoptMemory(store: Store): Promise<void> {
  await store.write((transaction) => {
    const latest = transaction.get(signedTable(store), ['latest']) ?? [];
    for (const { chain, sequence, hash } of latest) transaction.put(chainTable(store), [chain, 'signed'], { sequence, hash });
    transaction.delete(signedTable(store), ['latest']);
  });
}

/**
 * At its first start in a cluster, records an appliance. The one that the cluster began with has files of chains in its `directory` that
 * are named by no appliance; they are its own from then on. Throws StartRefused for one that was removed.
 */
export async function registerAppliance(store: Store, directory: string, clock: Clock): Promise<void> {
  const { appliance } = store;
  const appliances = applianceTable(store);
  const known = appliance === undefined ? undefined : appliances.get([appliance]);
  if (known?.removed !== undefined) throw new StartRefused(`cluster: ${removedReason}`);
  if (appliance === undefined || known !== undefined) return;
  const streams = await listStreams(directory);
  await store.write((transaction) => {
    if (transaction.has(appliances, [appliance])) return;
    const owned = new Set(Array.from(transaction.allEntries(appliances, []), ([, { chains }]) => chains).flat());
    const names = new Set(Array.from(transaction.keys(chainTable(store), []), ([chain]) => String(chain)));
    const unowned = [...names].filter((chain) => applianceOf(chain) === undefined && !owned.has(chain));
    const chains = unowned.some((chain) => streams.has(chain)) ? unowned : [];
    transaction.put(appliances, [appliance], { since: formatTimestamp(clock.now()), chains });
  });
}

/**
 * Tells whether the cluster began with the store of this appliance, or it stands alone: then records that name no appliance are its own.
 */
export function isFirstAppliance(store: Store): boolean {
  return store.appliance === undefined || (applianceTable(store).get([store.appliance])?.chains ?? []).length > 0;
}

/** The memory of this appliance. */
export function memoryIn(store: Store): TrailMemory {
  return {
    recall() {
      store.refresh();
      const chains = new Map<string, RememberedChain>();
      const isOwn = ownChains(store);
      for (const [[chain, part], head] of chainTable(store).entries([])) {
        const name = String(chain);
        if (isOwn(name)) chains.set(name, { ...chains.get(name), [String(part)]: head });
      }
      return chains;
    },
    recallOthers() {
      if (store.appliance === undefined) return [];
      const isOwn = ownChains(store);
      return lastSignedHeads(store).filter(({ chain }) => !isOwn(chain));
    },
    update: (changes) =>
      store.write((transaction) => {
        for (const { chain, part, head } of changes) {
          if (head === undefined) transaction.delete(chainTable(store), [chain, part]);
          else transaction.put(chainTable(store), [chain, part], { sequence: head.sequence, hash: head.hash });
        }
      }),
    report: (findings, clock) =>
      store.write((transaction) => {
        for (const found of describeTrail(findings)) noteFinding(transaction, store, clock, { ...found, isEvent: true });
      }),
  };
}

/** Gaps, in one sentence each: records that the store lacks according to the chain that knows most, and faults of the trail. */
function describeTrail(findings: readonly OpeningFinding[]): readonly Found[] {
  const behind = findings.flatMap((one) => (one.event === 'store-behind' ? [one] : []));
  const [most] = behind.toSorted((one, other) => other.recordedRevision - one.recordedRevision);
  // A store that was brought back remembers an earlier end of these chains.
  const isExplained = (one: OpeningFinding): boolean => one.event === 'added' && behind.some(({ ofChain }) => ofChain === one.ofChain);
  const ofTrail = findings.flatMap((one) => (one.event === 'store-behind' || isExplained(one) ? [] : [describeOne(one)]));
  const lost = most === undefined ? 0 : most.recordedRevision - most.foundRevision;
  return [
    ...(most === undefined
      ? []
      : [
          {
            name: 'store-behind' as const,
            message: `the store lacks ${lost} acknowledged commit${lost === 1 ? '' : 's'}: the audit trail names revision ${most.recordedRevision} of it, and it was opened with ${most.foundRevision}`,
          },
        ]),
    ...(ofTrail.length === 0 ? [] : [{ name: 'audit-trail' as const, message: ofTrail.join('; ') }]),
  ];
}

function describeOne(finding: Exclude<OpeningFinding, StoreBehind>): string {
  if (finding.event === 'unremembered')
    return `the store remembers nothing of the audit trail, which has ${finding.chains.length === 1 ? 'a chain' : `${finding.chains.length} chains`} with signed heads`;
  if (finding.event === 'copied')
    return `copies of files of chain ${finding.ofChain} of the audit trail lay beside them and were set aside (${finding.files.join(', ')})`;
  if (finding.event === 'set-aside')
    return `files of chain ${finding.ofChain} of the audit trail, which this appliance never began, were set aside (${finding.files.length})`;
  const { event, ofChain, afterSequence, throughSequence } = finding;
  const isNoRecord = event === 'changed' && afterSequence === throughSequence;
  if (isNoRecord)
    return `the file of chain ${ofChain} of the audit trail was replaced, or written to after record ${throughSequence}, while the appliance ran`;
  const what = event === 'added' ? 'added' : `cut off or replaced${event === 'changed' ? ' while the appliance ran' : ''}`;
  const were = afterSequence + 1 === throughSequence ? 'was' : 'were';
  return `${ranged(afterSequence + 1, throughSequence, 'record')} of chain ${ofChain} of the audit trail ${were} ${what}`;
}

/** The last signed position of every chain, of all appliances. */
export function lastSignedHeads(store: Store): readonly HeadEntry[] {
  store.refresh();
  return Array.from(chainTable(store).entries([])).flatMap(([[chain, part], { sequence, hash }]) =>
    part === 'signed' && sequence > 0 ? [{ chain: String(chain), sequence, hash }] : [],
  );
}

/** Records that an appliance is permanently gone. Idempotent: the first record stays. */
export function recordDeparture(transaction: WriteTransaction, store: Store, appliance: string, departure: Departure): Departure {
  const known = transaction.get(applianceTable(store), [appliance]) ?? { since: departure.at, chains: [] };
  if (known.removed !== undefined) return known.removed;
  transaction.put(applianceTable(store), [appliance], { ...known, removed: departure });
  return departure;
}

/** The permanently departed appliances, by id. */
export function listDepartures(store: Store): ReadonlyMap<string, Departure> {
  const records = Array.from(applianceTable(store).entries([]), ([[id], { removed }]) => [String(id), removed] as const);
  return new Map(records.flatMap(([id, removed]) => (removed === undefined ? [] : [[id, removed]])));
}

/** Tells whether an appliance of that id ever wrote audit records in this cluster. */
export function hasRegistered(store: Store, appliance: string): boolean {
  return applianceTable(store).has([appliance]);
}

/** As hasRegistered, as a transaction sees it; also true after a removal, so that no appliance joins by that id again. */
export function isRegistered(transaction: WriteTransaction, store: Store, appliance: string): boolean {
  return transaction.has(applianceTable(store), [appliance]);
}

/** The chains of an appliance of which a head was signed: those that a verification expects to find. */
export function signedChainsOf(store: Store, appliance: string): readonly string[] {
  const isOf = chainsOf(store, appliance);
  return lastSignedHeads(store).flatMap(({ chain }) => (isOf(chain) ? [chain] : []));
}

/** Tells the chains of this appliance from those of others. */
function ownChains(store: Store): (chain: string) => boolean {
  return store.appliance === undefined ? () => true : chainsOf(store, store.appliance);
}

function chainsOf(store: Store, appliance: string): (chain: string) => boolean {
  const former = new Set(applianceTable(store).get([appliance])?.chains);
  return (chain) => applianceOf(chain) === appliance || former.has(chain);
}
