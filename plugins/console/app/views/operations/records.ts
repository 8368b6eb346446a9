// Records of a topic, newest first.

export type TopicRecord = Readonly<Record<string, unknown>>;

/** Newest first. After an interruption the records of its last moment come again; these are left out. */
export function withNewer(before: readonly TopicRecord[], more: readonly TopicRecord[], most: number): readonly TopicRecord[] {
  const last = timeOf(before[0]);
  const ofThatMoment = new Set(before.filter((record) => timeOf(record) === last).map((record) => JSON.stringify(record)));
  const fresh = more.filter((record) => timeOf(record) !== last || !ofThatMoment.has(JSON.stringify(record)));
  return [...fresh.toReversed(), ...before].slice(0, most);
}

export function timeOf(record: TopicRecord | undefined): string | undefined {
  const at = record?.['occurred-at'];
  return typeof at === 'string' ? at : undefined;
}

export function isRecord(value: unknown): value is TopicRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
