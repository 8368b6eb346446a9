// What callers saw of counters, and whether some order of the operations that agrees with time explains it: whether it is linearizable.

/** An operation that was answered. Times as the caller measured them, on one monotonic clock. */
export type Operation = {
  /** `add` adds one and answers the sum; `read` answers it */
  readonly kind: 'add' | 'read';
  readonly key: string;
  readonly calledMs: number;
  readonly answeredMs: number;
  readonly value: number;
  /** where it was asked, for messages */
  readonly by: string;
};

/** Additions of which nobody knows whether they happened, by key. */
export type Unknown = ReadonlyMap<string, number>;

/**
 * Why a history cannot be, one line for each fault. No search is needed: each addition answers a sum of its own, so the sums are the only
 * order that is possible, a read comes after the addition whose sum it answers, and what is left is whether that order agrees with time.
 */
export function faultsOf(operations: readonly Operation[], unknown: Unknown): readonly string[] {
  return [...Map.groupBy(operations, ({ key }) => key)].flatMap(([key, all]) => [
    ...sumsTwice(all),
    ...countFaults(key, all, unknown.get(key) ?? 0),
    ...turnedRound(all),
  ]);
}

function sumsTwice(operations: readonly Operation[]): string[] {
  const adds = operations.filter(({ kind }) => kind === 'add');
  const bySum = Map.groupBy(adds, ({ value }) => value);
  return [...bySum.values()].filter(({ length }) => length > 1).map((same) => `${same.map(describe).join(' and ')}: the same sum twice`);
}

/** A sum that no answered addition has is one of an addition whose outcome is unknown. */
function countFaults(key: string, operations: readonly Operation[], unknown: number): string[] {
  const sums = new Set(operations.flatMap(({ kind, value }) => (kind === 'add' ? [value] : [])));
  const most = operations.reduce((highest, { value }) => Math.max(highest, value), 0);
  const others = most - sums.size;
  return others > unknown ? [`${key}: ${others} additions that nobody made, or that were refused, are counted; ${unknown} may be`] : [];
}

/** Operations that were over before one began whose place is earlier. */
function turnedRound(operations: readonly Operation[]): string[] {
  const ordered = operations.toSorted((one, other) => placeOf(one) - placeOf(other));
  const faults: string[] = [];
  let latest: Operation | undefined;
  for (const same of Map.groupBy(ordered, placeOf).values()) {
    // The latest begin among all earlier places decides for every operation of this place.
    for (const one of same)
      if (latest !== undefined && one.answeredMs < latest.calledMs)
        faults.push(`${describe(one)} was over before ${describe(latest)} began`);
    for (const one of same) if (latest === undefined || one.calledMs > latest.calledMs) latest = one;
  }
  return faults;
}

function placeOf({ kind, value }: Operation): number {
  return kind === 'add' ? 2 * value : 2 * value + 1;
}

function describe({ kind, key, value, by, calledMs, answeredMs }: Operation): string {
  return `${kind} ${key} = ${value} by ${by} (${calledMs.toFixed(1)} to ${answeredMs.toFixed(1)} ms)`;
}
