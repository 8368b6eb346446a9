// Reads a topic and continues: an interrupted stream is opened again where it ended, and no record is repeated.
import { Refusal } from '../api/request.ts';

/** A record of a topic. Fields are absent where they do not apply, or where policies hide them. */
export type TopicRecord = Readonly<Record<string, unknown>>;

/** `refused`: not tried again. `read`: everything of a period that is over is there. */
export type TopicState = 'reading' | 'live' | 'interrupted' | 'read' | 'refused';

export type TopicQuery = Readonly<Record<string, string>>;

/** The values of one request, in the pieces in which they come; anything else than a record is left out. */
export type OpenStream = (query: TopicQuery, signal: AbortSignal) => AsyncIterable<readonly unknown[]>;

export type Wanted = {
  /** `since` or `limit` of the first request */
  readonly begin: TopicQuery;
  /** additional parameters of every request */
  readonly filters?: TopicQuery;
  /** records after this time are not wanted; milliseconds */
  readonly untilMs?: number | undefined;
  /** true to go on with later records */
  readonly isLive: boolean;
};

export type Into = {
  /** receives records in the order of the topic */
  readonly add: (records: readonly TopicRecord[]) => void;
  readonly tell: (state: TopicState, error?: unknown) => void;
};

/** Pause before a stream is opened again; doubled each time that nothing came, four times at most. */
const usualPauseMs = 2_000;
const mostDoublings = 4;
/** Processes write beside each other: what is this much older than the newest record may still come. */
const overlapMs = 5_000;

/** Ends when everything was read, when the appliance refuses, and after `signal`; never rejects. */
export async function readTopic(
  open: OpenStream,
  { begin, filters, untilMs = Infinity, isLive }: Wanted,
  signal: AbortSignal,
  { add, tell }: Into,
  pauseMs = usualPauseMs,
): Promise<void> {
  const latest = new Latest();
  let failures = 0;
  for (;;) {
    try {
      const since = latest.since;
      const query = { ...filters, ...(since === undefined ? begin : { since }), ...(isLive ? { follow: 'true' } : {}) };
      const repeated = latest.repeated();
      for await (const values of open(query, signal)) {
        if (signal.aborted) return;
        failures = 0;
        const records = values.filter(isRecord);
        const end = records.findIndex((record) => timeOf(record) > untilMs);
        const wanted = (end === -1 ? records : records.slice(0, end)).filter(
          (record) => repeated.size === 0 || !repeated.delete(JSON.stringify(record)),
        );
        latest.note(wanted);
        add(wanted);
        if (end !== -1) return tell('read');
        tell(isLive ? 'live' : 'reading');
      }
      if (signal.aborted) return;
      if (!isLive) return tell('read');
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refusal && error.status >= 400 && error.status < 500 && error.status !== 429) return tell('refused', error);
    }
    tell('interrupted');
    await new Promise((done) => setTimeout(done, pauseMs * 2 ** Math.min(failures, mostDoublings)));
    failures += 1;
    if (signal.aborted) return;
  }
}

/** Time of a record; NaN if it has none. */
export function timeOf(record: TopicRecord): number {
  return Date.parse(timestampOf(record));
}

/** Time of a record as the topic writes it; empty if it has none. */
export function timestampOf({ 'occurred-at': at }: TopicRecord): string {
  return typeof at === 'string' ? at : '';
}

/** The records that a stream which is opened again would bring once more. */
class Latest {
  #records: TopicRecord[] = [];
  #newestMs = -Infinity;

  note(records: readonly TopicRecord[]): void {
    for (const record of records) {
      this.#newestMs = Math.max(this.#newestMs, timeOf(record) || -Infinity);
      this.#records.push(record);
    }
    this.#records = this.#records.filter((record) => timeOf(record) >= this.#newestMs - overlapMs);
  }

  /** Time from which to read on; undefined before the first record. */
  get since(): string | undefined {
    return this.#newestMs === -Infinity ? undefined : new Date(this.#newestMs - overlapMs).toISOString();
  }

  repeated(): Set<string> {
    return new Set(this.#records.map((record) => JSON.stringify(record)));
  }
}

function isRecord(value: unknown): value is TopicRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
