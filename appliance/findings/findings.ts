// Findings of a start or a job that a person has to know: part of health until somebody has answered them, also over restarts.
import type { TableKinds } from '../../core/store/records/table-kinds.ts';
import type { Clock } from '../../core/base/context.ts';
import { defined } from '../../core/base/defined.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { ownKey, type Store, type StoreKey, type Table, Unreadable, type WriteTransaction } from '../../core/store/store.ts';

/** Remedies before the answer, by name of the finding, which is also that of its part of health. */
const findingRemedies = {
  'store-behind': 'put the newer store back, or make these changes again',
  'store-content':
    'compare what it has with what you know of it, end the earlier tokens, and make lacking changes again; or restore an earlier backup into an empty directory',
  'audit-trail': 'compare the trail with the heads and copies that are kept elsewhere',
  restored: 'end the earlier tokens and secret-ids, and take in what was revoked since (docs/administer/backup.md)',
  'foreign-writes':
    'find out who has a key for etcd or has put back a copy of it, remove that appliance, and end all credentials (docs/administer/cluster.md)',
  'records-unreadable': 'see in the log which they are, and restore the original records, or delete the entries as root',
  'clock-ahead':
    'if it is right, nothing is wrong; otherwise set it, accept it (keystorectl do system accept-clock), and make again what has ended or was made with it (docs/administer/operations.md)',
  'keys-lost': 'give the token back what it had, or make these keys again',
  'break-glass': 'see in the audit trail whose rules and why, and make other approval rules (docs/use/approvals.md)',
} as const;

export type FindingName = keyof typeof findingRemedies;

/**
 * [name, id of the appliance]. `message` is public, as health is: it names no path, no key and no person. An answered one stays, so that
 * the same finding is not reported again.
 */
export type Finding = {
  readonly message: string;
  readonly foundAt: string;
  /** requests fail because of it: health is 503 */
  readonly hinders?: true;
  readonly answered?: { readonly at: string; readonly by: string };
};

const findingTable = (store: Store): Table<Finding> => store.table<Finding>('findings');
export const findingTableKinds: TableKinds = { findings: { of: 'each' } };

/**
 * Key of a finding: its name alone if it was found before its finder became the first of a cluster, because it concerns the store of all.
 */
function placeOf(read: Pick<WriteTransaction, 'has'>, store: Store, name: string): StoreKey {
  const own = ownKey(store, name);
  return !read.has(findingTable(store), own) && read.has(findingTable(store), [name]) ? [name] : own;
}

const snapshot: Pick<WriteTransaction, 'has'> = { has: (table, key) => table.getFound(key) !== undefined };

/** `isEvent`: it happened once, and is added to earlier ones; other findings are a state, and replace the former one. */
export type Found = Pick<Finding, 'message' | 'hinders'> & { readonly name: FindingName; readonly isEvent?: true };

/** Of unanswered events, the latest are kept. */
const longestMessage = 1_000;

/** Notes a finding; one that says the same and was answered is not opened again. */
export function noteFinding(transaction: WriteTransaction, store: Store, clock: Clock, { name, message, hinders, isEvent }: Found): void {
  const key = placeOf(transaction, store, name);
  const before = findIn(transaction, store, key);
  if (before?.message === message && before.hinders === hinders) return;
  const isOpen = before !== undefined && before.answered === undefined;
  if (isOpen && isEvent === true && before.message.includes(message)) return;
  const text = isOpen && isEvent === true ? `${message}; ${before.message}`.slice(0, longestMessage) : message;
  transaction.put(findingTable(store), key, { message: text, foundAt: formatTimestamp(clock.now()), ...defined({ hinders }) });
}

/** As noteFinding, in a transaction of its own. */
export function recordFinding(store: Store, clock: Clock, found: Found): Promise<void> {
  return store.write((transaction) => noteFinding(transaction, store, clock, found));
}

/** A state that was found is over. No commit where there was none. */
export async function withdrawFinding(store: Store, name: FindingName): Promise<void> {
  store.refresh();
  const key = placeOf(snapshot, store, name);
  if (snapshot.has(findingTable(store), key)) await store.write((transaction) => void transaction.delete(findingTable(store), key));
}

/** Those of this appliance, by name. */
export function listFindings(store: Store): readonly (readonly [FindingName, Finding])[] {
  return (Object.keys(findingRemedies) as FindingName[]).flatMap((name) => {
    const found = findFinding(store, name);
    return found === undefined ? [] : [[name, found] as const];
  });
}

export function findFinding(store: Store, name: string): Finding | undefined {
  if (!Object.hasOwn(findingRemedies, name)) return undefined;
  const found = findingTable(store).getFound(placeOf(snapshot, store, name));
  return found instanceof Unreadable ? lost : found;
}

/** Stands for a finding whose record does not open: nobody has answered it, and a person looks after what it was. */
const lost: Finding = {
  message: 'what was found is lost, as its record does not open',
  foundAt: formatTimestamp(Temporal.Instant.fromEpochMilliseconds(0)),
};

function findIn(transaction: WriteTransaction, store: Store, key: StoreKey): Finding | undefined {
  return transaction.deleteUnreadable(findingTable(store), key) ? lost : transaction.get(findingTable(store), key);
}

/** Answers a finding: a person knows of it and has acted. Returns the kept record; undefined if there is nothing to answer. */
export function answerFinding(store: Store, clock: Clock, name: string, by: string): Promise<Finding | undefined> {
  return store.write((transaction) => {
    const key = placeOf(transaction, store, name);
    const found = findIn(transaction, store, key);
    if (found === undefined || found.answered !== undefined) return found;
    const answered = { ...found, answered: { at: formatTimestamp(clock.now()), by } };
    transaction.put(findingTable(store), key, answered);
    return answered;
  });
}

/** Remedy for a finding, for people. */
export function remedyOf(name: FindingName): string {
  return `${findingRemedies[name]}; then answer it (keystorectl do findings ${name} answer)`;
}

/** Hours for which a finding is shown although it was answered: who made it must not be the one who hides it. */
const shownHours: Partial<Record<FindingName, number>> = { 'break-glass': 30 * 24 };

/** Time of a finding that is shown after it was answered, so that the next of its name is told from it; undefined for others. */
export function incidentOf(store: Store, name: string): string | undefined {
  return Object.hasOwn(shownHours, name) ? findFinding(store, name)?.foundAt : undefined;
}

/** A part of health. */
type FindingPart = {
  readonly name: string;
  readonly state: 'unanswered' | 'answered';
  readonly reason: string;
  readonly hinders?: true;
};

/** Parts of health, for unanswered findings, and for answered ones that are shown for a time nevertheless. */
export function findingParts(store: Store, clock: Clock): readonly FindingPart[] {
  return listFindings(store).flatMap(([name, { message, hinders, foundAt, answered }]): readonly FindingPart[] => {
    if (answered === undefined) return [{ name, state: 'unanswered', reason: `${message}: ${remedyOf(name)}`, ...defined({ hinders }) }];
    const until = Temporal.Instant.from(foundAt).add({ hours: shownHours[name] ?? 0 });
    if (Temporal.Instant.compare(clock.now(), until) >= 0) return [];
    return [{ name, state: 'answered', reason: `${message}: shown until ${formatTimestamp(until)}` }];
  });
}
