// Records of what needs a person: since when, which channels have told it, and that it is over.
import { defined } from '../../core/base/defined.ts';
import type { Notice } from '../../core/base/context.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import type { TableKinds } from '../../core/store/records/table-kinds.ts';
import { getIfOpen, getOrDrop, type Store, type StoreKey, type Table, Unreadable, type WriteTransaction } from '../../core/store/store.ts';

export const channelNames = ['mail', 'webhook'] as const;
export type ChannelName = (typeof channelNames)[number];

/** Something that needs a person, until every channel has told that it is over. [uuid of the tenant, name] */
export type NoticeRecord = Notice & {
  readonly since: string;
  /** ids of appliances that see it in themselves, and `store` for what all of them know. Empty: it is over. */
  readonly seenBy: readonly string[];
  readonly overSince?: string;
  /** when each channel has told of it, and of its end */
  readonly told: Told;
  /** when each channel has told that it began, within the last hour: what comes and goes is told a few times */
  readonly lately?: Lately;
  /** channels whose server does not take this message, though it takes others */
  readonly refused?: Readonly<Partial<Record<ChannelName, Refused>>>;
};

export type Told = Readonly<Partial<Record<ChannelName, { readonly begun: string; readonly over?: string }>>>;
export type Lately = Readonly<Partial<Record<ChannelName, readonly string[]>>>;
type Refused = { readonly times: number; readonly nextAt: string };

/** Deliveries of a channel. [name] */
export type ChannelRecord = {
  readonly lastSentAt?: string;
  readonly failuresInARow: number;
  readonly lastFailureAt?: string;
  readonly lastFailure?: string;
  /** not before this time: it failed */
  readonly nextAt?: string;
  /** addresses that the server refused of the message that it took last */
  readonly refusedReceivers?: readonly string[];
  /** the last message that was given up, as the server refused it every time */
  readonly lastGivenUp?: { readonly at: string; readonly tenant: string; readonly notice: string; readonly reason: string };
};

export const noticeTable = (store: Store): Table<NoticeRecord> => store.tenantTable<NoticeRecord>('notices');
export const channelTable = (store: Store): Table<ChannelRecord> => store.table<ChannelRecord>('notice-channels');
export const noticeTableKinds: TableKinds = { notices: { of: 'all', fills: true }, 'notice-channels': { of: 'all', fills: true } };

const noDeliveries: ChannelRecord = { failuresInARow: 0 };

/** Deliveries of a channel; one whose record does not open has begun again. */
export function deliveriesOf(store: Store, channel: ChannelName): ChannelRecord {
  return getIfOpen(channelTable(store), [channel]) ?? noDeliveries;
}

/** As deliveriesOf, inside a transaction. */
export function deliveriesIn(transaction: WriteTransaction, store: Store, channel: ChannelName): ChannelRecord {
  return getOrDrop(transaction, channelTable(store), [channel]) ?? noDeliveries;
}

/**
 * Notes what one source sees in a tenant at a moment. Writes only where something has begun or ended, so that a look that finds nothing new costs no
 * commit.
 */
export async function noteSeen(store: Store, tenantId: string, source: string, seen: readonly Notice[], present: string): Promise<void> {
  const table = noticeTable(store);
  const before = new Map(Array.from(table.entriesFound([tenantId]), ([key, record]) => [String(key.at(-1)), record]));
  const names = new Set(seen.map(({ name }) => name));
  const isSeen = (record: NoticeRecord | Unreadable | undefined): boolean =>
    !(record instanceof Unreadable) && record?.seenBy.includes(source) === true;
  const begun = seen.filter(({ name }) => !isSeen(before.get(name)));
  const ended = [...before].filter(([name, record]) => isSeen(record) && !names.has(name)).map(([name]) => name);
  // One that does not open is told once more rather than never: a source that still sees it notes it again.
  const lost = [...before].filter(([, record]) => record instanceof Unreadable).map(([name]) => name);
  if (begun.length === 0 && ended.length === 0 && lost.length === 0) return;
  await store.write((transaction) => {
    for (const name of lost) transaction.deleteUnreadable(table, [tenantId, name]);
    for (const notice of begun) {
      const key: StoreKey = [tenantId, notice.name];
      const known = getOrDrop(transaction, table, key);
      const lasting = returned(known ?? { ...notice, since: present, seenBy: [], told: {} }, present);
      transaction.put(table, key, { ...lasting, seenBy: [...new Set([...lasting.seenBy, source])] });
    }
    for (const name of ended) {
      const key: StoreKey = [tenantId, name];
      const known = getOrDrop(transaction, table, key);
      if (known === undefined) continue;
      const seenBy = known.seenBy.filter((one) => one !== source);
      const overSince = seenBy.length === 0 ? (known.overSince ?? present) : undefined;
      // Nobody was told that it began and waits to be told that it is over.
      const isTold = Object.values(known.told).every(({ over }) => over !== undefined);
      if (overSince !== undefined && isTold && !isToldLately(known, present)) transaction.delete(table, key);
      else transaction.put(table, key, { ...known, seenBy, ...defined({ overSince }) });
    }
  });
}

/**
 * Record of a notice that is there again. For channels that have told its end this is an incident of its own, with a time and so with ids of its own; for others it
 * has lasted.
 */
export function returned({ overSince, refused: _refused, ...known }: NoticeRecord, present: string): NoticeRecord {
  const told: Told = Object.fromEntries(Object.entries(known.told).filter(([, { over }]) => over === undefined));
  const isUntold = overSince !== undefined && Object.keys(told).length === 0;
  const isNew = isUntold || Object.keys(told).length < Object.keys(known.told).length;
  return { ...known, told, ...(isNew ? { since: present } : {}) };
}

/** Times within the hour before a moment at which a channel has told that it began. */
export function latelyTold({ lately }: Pick<NoticeRecord, 'lately'>, channel: ChannelName, present: string): readonly string[] {
  const hourAgo = formatTimestamp(Temporal.Instant.from(present).subtract({ hours: 1 }));
  return (lately?.[channel] ?? []).filter((time) => time > hourAgo && time <= present);
}

/** A record of what is over stays as long as it counts how often that was told. */
export function isToldLately(record: Pick<NoticeRecord, 'lately'>, present: string): boolean {
  return channelNames.some((channel) => latelyTold(record, channel, present).length > 0);
}

/** Time since which it lasts; undefined where nobody has noted it, or the record does not open. */
export function sinceOf(store: Store, tenantId: string, name: string): string | undefined {
  return getIfOpen(noticeTable(store), [tenantId, name])?.since;
}

/** The records that sources which are gone have seen, without these: they see nothing any longer. */
export function withoutSources(
  records: Iterable<readonly [StoreKey, NoticeRecord]>,
  isGone: (source: string) => boolean,
  present: string,
): readonly (readonly [StoreKey, NoticeRecord])[] {
  return Array.from(records)
    .filter(([, { seenBy }]) => seenBy.some(isGone))
    .map(([key, record]) => {
      const seenBy = record.seenBy.filter((source) => !isGone(source));
      return [key, { ...record, seenBy, ...(seenBy.length === 0 ? { overSince: present } : {}) }] as const;
    });
}
