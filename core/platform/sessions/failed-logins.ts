// Sign-ins that were refused of late, by tenant and by who signs in: many of them need a person, who is told once and not of each.
//
// What unauthenticated callers send is counted in memory, and stored by the minute: neither their number nor what they say makes another record, or another notice.
import type { AuditRecord } from '../../audit/record.ts';
import type { Clock, Job, Notice } from '../../base/context.ts';
import type { TableKinds } from '../../store/records/table-kinds.ts';
import { getIfOpen, getOrDrop, type Store, type Table } from '../../store/store.ts';
import { openTenants, systemTenantName } from '../../access/tenants.ts';

/** More than these within an hour are told. People mistype, and programs try again. */
const tolerated = 30;
const hourSeconds = 3_600;
const bucketSeconds = 600;
const storeEverySeconds = 60;
/** Pairs of tenant and way that are stored: those with the most failures. */
const mostStored = 1_000;

type Way = 'applications' | 'workloads' | 'certificates' | 'people';
/** By its path, that of the API and of others that stand for it; any other is of a person at a page. */
const ways: readonly (readonly [Way, RegExp])[] = [
  ['applications', /\/approle(?:-login|\/)/],
  ['workloads', /\/jwt(?:-login|\/)/],
  ['certificates', /\/cert(?:ificate-login|\/)/],
];

/** `buckets`: failures by the second since 1970 with which ten minutes begin. `source`: undefined after the second address. */
type Counted = {
  readonly tenant: string;
  readonly way: Way;
  readonly buckets: Readonly<Record<string, number>>;
  readonly source?: string | undefined;
};

/** [`recent`] */
const table = (store: Store): Table<readonly Counted[]> => store.table<readonly Counted[]>('failed-sign-ins');
const key = ['recent'];
export const failedLoginTableKinds: TableKinds = { 'failed-sign-ins': { of: 'all', fills: true } };

export class FailedLogins {
  readonly #store: Store;
  readonly #clock: Clock;
  #counted = new Map<string, Counted>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Counts the record of a refused sign-in. One that names no tenant is told in `system`: records name no tenant that there is not. */
  note({ kind, accessor, status, code, tenant = systemTenantName, path = '', clientIp = '' }: AuditRecord): void {
    const isRefused = code !== undefined && (status === undefined || (status >= 400 && status < 500));
    if (kind !== 'login' || accessor !== undefined || !isRefused) return;
    const way = ways.find(([, pattern]) => pattern.test(path))?.[0] ?? 'people';
    this.#count({ tenant, way, buckets: { [this.#bucket()]: 1 }, source: clientIp });
  }

  #count(one: Counted): void {
    const name = `${one.tenant} ${one.way}`;
    this.#counted.set(name, joined(this.#counted.get(name), one));
  }

  /** Stores what this process has counted. */
  get job(): Job {
    return {
      ...{ name: 'failed-sign-ins', everySeconds: storeEverySeconds, isOfEachProcess: true, whileClockInDoubt: true },
      run: () => this.store(),
    };
  }

  /** Keeps counting what could not be written. */
  async store(): Promise<void> {
    this.#store.refresh();
    const [counted, first] = [this.#counted, this.#first()];
    const hasOld = (getIfOpen(table(this.#store), key) ?? []).some(({ buckets }) =>
      Object.keys(buckets).some((one) => Number(one) < first),
    );
    if (counted.size === 0 && !hasOld) return;
    this.#counted = new Map();
    const written = this.#store.write((transaction) => {
      const all = new Map((getOrDrop(transaction, table(this.#store), key) ?? []).map((one) => [`${one.tenant} ${one.way}`, one]));
      for (const [name, one] of counted) all.set(name, joined(all.get(name), one));
      const kept = [...all.values()].map((one) => withoutOld(one, first)).filter((one) => sumOf(one) > 0);
      const most = kept.toSorted((one, other) => sumOf(other) - sumOf(one)).slice(0, mostStored);
      if (most.length === 0) transaction.delete(table(this.#store), key);
      else transaction.put(table(this.#store), key, most);
    });
    await written.catch((error: unknown) => {
      for (const one of counted.values()) this.#count(one);
      throw error;
    });
  }

  /** At most one for each way to sign in. They end with the hour of the failures. */
  notices(tenantId: string, path: string): readonly Notice[] {
    const [first, tenants] = [this.#first(), openTenants(this.#store)];
    return (getIfOpen(table(this.#store), key) ?? []).flatMap((one) => {
      if (sumOf(withoutOld(one, first)) <= tolerated || tenants.findByName(one.tenant)?.uuid !== tenantId) return [];
      const from = one.source === undefined ? 'several addresses' : 'one address';
      const text = `More than ${tolerated} sign-ins of ${one.way} were refused within an hour, from ${from}`;
      return [{ name: `sign-ins-refused ${one.way}`, text, path }];
    });
  }

  #nowSeconds(): number {
    return Math.floor(this.#clock.now().epochMilliseconds / 1_000);
  }

  #bucket(): string {
    return String(this.#nowSeconds() - (this.#nowSeconds() % bucketSeconds));
  }

  #first(): number {
    return this.#nowSeconds() - hourSeconds;
  }
}

function joined(one: Counted | undefined, other: Counted): Counted {
  if (one === undefined) return other;
  const buckets = { ...one.buckets };
  for (const [bucket, count] of Object.entries(other.buckets)) buckets[bucket] = (buckets[bucket] ?? 0) + count;
  return { ...one, buckets, source: one.source === other.source ? one.source : undefined };
}

function withoutOld(one: Counted, first: number): Counted {
  return { ...one, buckets: Object.fromEntries(Object.entries(one.buckets).filter(([bucket]) => Number(bucket) >= first)) };
}

function sumOf({ buckets }: Counted): number {
  return Object.values(buckets).reduce((sum, count) => sum + count, 0);
}
