// Sums of records of the trail by person and day, of one thing or one application.
import { timeOf } from '../../topics/read-topic.ts';
import { said } from '../../language/language.ts';
import { resultOf, type TrailRecord } from './records.ts';

/** Subject of records: the end of the path of a thing, or the name of an approle. */
export type Subject = { readonly where: string } | { readonly who: string };

export type Use = {
  readonly user: string;
  /** the day in the zone of the browser */
  readonly fromMs: number;
  readonly toMs: number;
  readonly done: number;
  readonly refused: number;
  readonly lastMs: number;
  /** the most frequent first */
  readonly actions: readonly string[];
  readonly addresses: readonly string[];
};

/** Names and addresses in a cell. */
const mostNamed = 4;

/**
 * Tells whether a record is about this, in this tenant. The appliance searches for parts of names in all tenants that a person may see, so that
 * its answer has the records of other things as well.
 */
export function isAbout(record: TrailRecord, subject: Subject, tenant: string): boolean {
  if (record.tenant !== tenant) return false;
  if ('who' in subject) return record['user-kind'] === 'approle' && record['user-source'] === subject.who;
  return `${record.path ?? ''}/`.includes(`${subject.where}/`);
}

/** The latest first; records of no request are left out. */
export function usesIn(records: readonly TrailRecord[]): readonly Use[] {
  const groups = new Map<string, TrailRecord[]>();
  for (const record of records) {
    if (record.status === undefined) continue;
    const key = `${dayOf(timeOf(record)).getTime()} ${record.user ?? ''}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [record]);
    else group.push(record);
  }
  return [...groups.values()].map(sumOf).toSorted((left, right) => right.lastMs - left.lastMs);
}

function sumOf(records: readonly TrailRecord[]): Use {
  const times = records.map(timeOf);
  const from = dayOf(times[0] ?? 0);
  const done = records.filter((record) => resultOf(record) === 'done').length;
  return {
    user: records[0]?.user ?? 'not known',
    fromMs: from.getTime(),
    toMs: new Date(from.getFullYear(), from.getMonth(), from.getDate() + 1).getTime(),
    done,
    refused: records.length - done,
    lastMs: times.reduce((most, one) => Math.max(most, one), -Infinity),
    actions: mostFrequent(records.map(actionOf)),
    addresses: mostFrequent(records.map((record) => record['client-ip'] ?? '')),
  };
}

function dayOf(atMs: number): Date {
  const at = new Date(atMs);
  return new Date(at.getFullYear(), at.getMonth(), at.getDate());
}

/** The last part of the path of an action; otherwise what the method does. */
function actionOf({ method = '', path = '' }: TrailRecord): string {
  if (method === 'PATCH' || method === 'PUT') return said('change');
  if (method === 'DELETE') return said('delete');
  return path.split('/').at(-1) ?? '';
}

function mostFrequent(all: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const one of all) if (one !== '') counts.set(one, (counts.get(one) ?? 0) + 1);
  const sorted = [...counts].toSorted(([, left], [, right]) => right - left).map(([one]) => one);
  return sorted.length > mostNamed ? [...sorted.slice(0, mostNamed), `${sorted.length - mostNamed} more`] : sorted;
}
