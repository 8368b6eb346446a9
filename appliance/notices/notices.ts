// Sees what needs a person, in every tenant, and sends it through the channels: once when it has begun, and once when it is over.
import type { Clock, HealthPart, Job, Log, Notice } from '../../core/base/context.ts';
import { defined } from '../../core/base/defined.ts';
import { reasonOf } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { openTenants, systemTenantName, type Tenant } from '../../core/access/tenants.ts';
import { incidentOf } from '../findings/findings.ts';
import type { RunningPlugins } from '../../core/plugin/lifecycle.ts';
import type { Appliances } from '../../core/plugin/services/appliances.ts';
import { getOrDrop, type Store, type StoreKey } from '../../core/store/store.ts';
import type { PinOrigin } from '../tokens/pin-origin.ts';
import { type Message, messageOf, MessageRefused, type Sent } from './message.ts';
import {
  type ChannelName,
  type ChannelRecord,
  channelTable,
  deliveriesIn,
  deliveriesOf,
  isToldLately,
  latelyTold,
  type NoticeRecord,
  noteSeen,
  noticeTable,
  returned,
  withoutSources,
} from './records.ts';

/** A way to send a message. Rejects with what to mend, with MessageRefused where the server takes others. */
export type Channel = { readonly name: ChannelName; send(message: Message, signal: AbortSignal): Promise<Sent> };

export type NoticesParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly channels: readonly Channel[];
  /** base URL of the appliance */
  readonly publicUrl: () => string;
  /** the parts of this appliance, as all its workers see them */
  readonly health: () => Promise<readonly HealthPart[]>;
  readonly pinOrigin: () => PinOrigin;
  readonly appliances: Appliances;
  readonly running: () => Pick<RunningPlugins, 'notices'>;
};

const lookEverySeconds = 15;
const forgetEverySeconds = 600;
/** Time that something lasts before it is told, and is away before it is over. */
const lastsSeconds = 30;
/** Messages of one look: more of them wait for the next. */
const mostAtOnce = 20;
/** Times within an hour that a channel tells that one thing has begun: what comes and goes must not fill a mailbox. */
const mostBegunPerHour = 3;
const firstPauseSeconds = 30;
const longestPauseSeconds = 3_600;
/** Tries of a message that alone is refused, within some minutes. */
const mostRefusals = 5;

/** Notices of the parts of health that have a problem. */
function noticesOfHealth(parts: readonly HealthPart[], store: Store): readonly Notice[] {
  return parts.flatMap(({ name, state, reason }) => {
    if (reason === undefined) return [];
    const isFinding = state === 'unanswered' || state === 'answered';
    const incident = isFinding ? incidentOf(store, name) : undefined;
    return [
      {
        name: ['health', name, ...(incident === undefined ? [] : [incident])].join(' '),
        text: `${name}: ${reason}`,
        path: `/v1/state/system/${isFinding ? 'findings' : 'health'}`,
      },
    ];
  });
}

/** Notices about this appliance alone. A PIN in a file makes an attended start worth nothing, and nobody is hindered by that. */
export async function noticesOfMachine({
  store,
  health,
  pinOrigin,
}: Pick<NoticesParts, 'store' | 'health' | 'pinOrigin'>): Promise<readonly Notice[]> {
  const { pins, pinFiles } = pinOrigin();
  const isKept = pinFiles.length > 0 && pins.every(({ source }) => source === 'person' || source === 'custodians');
  const text = `The start is attended, and ${pinFiles.length === 1 ? 'a file' : `${pinFiles.length} files`} on the machine still ${pinFiles.length === 1 ? 'has' : 'have'} a PIN that opens the token without anybody`;
  return [...noticesOfHealth(await health(), store), ...(isKept ? [{ name: 'pin-file', text, path: '/v1/state/system/hsm' }] : [])];
}

/**
 * Jobs where there is a channel. Each appliance notes what is wrong with itself; one of them notes what is in the store, and sends. A process that ends
 * between a sending and its record sends that message once more, with the same id.
 */
export function noticeJobs(parts: NoticesParts): readonly Job[] {
  if (parts.channels.length === 0) return [];
  const { store, clock } = parts;
  return [
    {
      name: 'notice-health',
      everySeconds: lookEverySeconds,
      isOfEach: true,
      whileClockInDoubt: true,
      async run() {
        const system = openTenants(store).findByName(systemTenantName);
        if (system === undefined) return;
        await noteSeen(store, system.uuid, ownSource(store), await noticesOfMachine(parts), formatTimestamp(clock.now()));
      },
    },
    {
      name: 'note-notices',
      everySeconds: lookEverySeconds,
      whileClockInDoubt: true,
      run: () => noteStore(parts),
    },
    {
      name: 'forget-former-appliances',
      everySeconds: forgetEverySeconds,
      whileClockInDoubt: true,
      run: () => forgetFormer(parts),
    },
    // One for each channel: a server that is slow holds up no other.
    ...parts.channels.map((channel): Job => ({
      name: `send-notices-${channel.name}`,
      everySeconds: lookEverySeconds,
      whileClockInDoubt: true,
      run: (signal) => sendDue(parts, channel, signal),
    })),
  ];
}

/** Source of what an appliance sees in itself. */
const ownSource = (store: Store): string => store.appliance ?? 'appliance';

/**
 * Ends what appliances have seen that no longer share the store, as a single one that has become the first of a cluster, or those before
 * a restore. What is still there is seen by the present ones as well, and lasts.
 */
async function forgetFormer({ store, clock, appliances }: NoticesParts): Promise<void> {
  const system = openTenants(store).findByName(systemTenantName);
  if (system === undefined) return;
  const present = new Set(['store', ownSource(store), ...(await appliances.list()).map(({ id }) => id)]);
  const table = noticeTable(store);
  const former = (records: Iterable<readonly [StoreKey, NoticeRecord]>) =>
    withoutSources(records, (source) => !present.has(source), formatTimestamp(clock.now()));
  if (former(table.entries([system.uuid])).length === 0) return;
  await store.write((transaction) => {
    for (const [key, record] of former(transaction.entries(table, [system.uuid]))) transaction.put(table, key, record);
  });
}

/** A tenant whose state cannot be read keeps what was noted of it: the others go on. */
async function noteStore(parts: NoticesParts): Promise<void> {
  const { store, clock, log, running } = parts;
  for (const { uuid, name } of tenantsOf(store)) {
    try {
      const seen = await running().notices({ tenantId: uuid, isSystem: name === systemTenantName });
      await noteSeen(store, uuid, 'store', seen, formatTimestamp(clock.now()));
      await removeDone(parts, uuid, formatTimestamp(clock.now()));
    } catch (error) {
      log.warn('what needs a person in a tenant is not known', { tenant: name, reason: reasonOf(error) });
    }
  }
}

function tenantsOf(store: Store): readonly Tenant[] {
  return Array.from(openTenants(store).table.entries([]), ([, tenant]) => tenant);
}

type Due = { readonly key: StoreKey; readonly record: NoticeRecord; readonly message: Message };

async function sendDue(parts: NoticesParts, channel: Channel, signal: AbortSignal): Promise<void> {
  const { store, clock } = parts;
  const { nextAt } = deliveriesOf(store, channel.name);
  if (!isReached(nextAt, clock.now())) return;
  const due = dueAt(parts, channel.name).filter(({ record }) => isReached(record.refused?.[channel.name]?.nextAt, clock.now()));
  for (const one of due.slice(0, mostAtOnce)) {
    try {
      const { refusedReceivers } = await channel.send(one.message, signal);
      await recordSent(parts, channel.name, one, refusedReceivers);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof MessageRefused) await recordRefused(parts, channel.name, one, error.message);
      else return await recordFailed(parts, channel.name, reasonOf(error));
    }
  }
}

function dueAt({ store, clock, publicUrl }: NoticesParts, channel: ChannelName): readonly Due[] {
  const now = clock.now();
  return tenantsOf(store).flatMap(({ uuid, name }) =>
    Array.from(noticeTable(store).entries([uuid])).flatMap(([key, record]): readonly Due[] => {
      const told = record.told[channel];
      const isOver = record.seenBy.length === 0;
      const event = told === undefined ? 'begun' : 'over';
      const isDue =
        event === 'begun'
          ? !isOver && hasLasted(record.since, now) && latelyTold(record, channel, formatTimestamp(now)).length < mostBegunPerHour
          : isOver && told?.over === undefined && hasLasted(record.overSince ?? '', now);
      return isDue ? [{ key, record, message: messageOf(event, name, publicUrl(), record) }] : [];
    }),
  );
}

/** A time that lies further ahead than any pause was noted by a clock that was wrong. */
function isReached(time: string | undefined, now: Temporal.Instant): boolean {
  return time === undefined || time <= formatTimestamp(now) || time > formatTimestamp(now.add({ seconds: longestPauseSeconds }));
}

function hasLasted(since: string, now: Temporal.Instant): boolean {
  return (
    since <= formatTimestamp(now.subtract({ seconds: lastsSeconds })) || since > formatTimestamp(now.add({ seconds: longestPauseSeconds }))
  );
}

async function recordSent(
  { store, clock, channels }: NoticesParts,
  channel: ChannelName,
  { key, record: sent, message }: Due,
  refusedReceivers: readonly string[] | undefined,
): Promise<void> {
  const present = formatTimestamp(clock.now());
  await store.write((transaction) => {
    const { lastGivenUp } = deliveriesIn(transaction, store, channel);
    const after = { lastSentAt: present, failuresInARow: 0, ...defined({ refusedReceivers, lastGivenUp }) };
    transaction.put(channelTable(store), [channel], after);
    // Without a record it has ended while this was sent, and who was told that it began is told that it is over.
    const found = getOrDrop(transaction, noticeTable(store), key) ?? { ...sent, seenBy: [], overSince: present, told: {} };
    const record = toldBy(found, channel, message, present);
    if (record === undefined) return;
    if (isDone(record, channels, present)) transaction.delete(noticeTable(store), key);
    else transaction.put(noticeTable(store), key, record);
  });
}

/** The record once a channel has told of it. Undefined: it stays as it is. */
function toldBy(record: NoticeRecord, channel: ChannelName, { event, since }: Message, present: string): NoticeRecord | undefined {
  const { [channel]: _refused, ...refused } = record.refused ?? {};
  const begun = record.told[channel]?.begun ?? present;
  if (event === 'over') {
    const told: NoticeRecord = { ...record, refused, told: { ...record.told, [channel]: { begun, over: present } } };
    // It has come back while its end was sent.
    return record.seenBy.length === 0 ? told : { ...returned(told, present), seenBy: record.seenBy };
  }
  if (record.since !== since) return undefined;
  const lately = { ...record.lately, [channel]: [...latelyTold(record, channel, present), present] };
  return { ...record, refused, lately, told: { ...record.told, [channel]: { begun } } };
}

/** Every channel that has told of it has told of its end, none within the last hour. One that is configured no longer tells nothing. */
function isDone(record: NoticeRecord, channels: readonly Channel[], present: string): boolean {
  const { seenBy, told } = record;
  const isTold = channels.every(({ name }) => told[name] === undefined || told[name]?.over !== undefined);
  return seenBy.length === 0 && isTold && !isToldLately(record, present);
}

/** Removes what was told to its end and counts for no hour any longer. */
async function removeDone({ store, channels }: NoticesParts, tenantId: string, present: string): Promise<void> {
  const table = noticeTable(store);
  const done = Array.from(table.entries([tenantId])).filter(([, record]) => isDone(record, channels, present));
  if (done.length === 0) return;
  await store.write((transaction) => {
    for (const [key] of done) {
      const record = getOrDrop(transaction, table, key);
      if (record !== undefined && isDone(record, channels, present)) transaction.delete(table, key);
    }
  });
}

/** Tries a message again that alone is refused, after longer and longer pauses, and then gives it up: others go on. */
async function recordRefused(parts: NoticesParts, channel: ChannelName, { key, message }: Due, reason: string): Promise<void> {
  const { store, clock, log, channels } = parts;
  const now = clock.now();
  const present = formatTimestamp(now);
  const isGivenUp = await store.write((transaction) => {
    const record = getOrDrop(transaction, noticeTable(store), key);
    const times = (record?.refused?.[channel]?.times ?? 0) + 1;
    const isLast = times >= mostRefusals;
    const { nextAt: _next, ...before } = deliveriesIn(transaction, store, channel);
    const lastGivenUp = isLast ? { at: present, tenant: message.tenant, notice: message.name, reason } : before.lastGivenUp;
    const failure = { failuresInARow: before.failuresInARow + 1, lastFailure: reason, lastFailureAt: present };
    transaction.put(channelTable(store), [channel], { ...before, ...failure, ...defined({ lastGivenUp }) });
    if (record === undefined) return isLast;
    const { [channel]: _refused, ...others } = record.refused ?? {};
    // Given up, it counts as told to its end: what was not told is not told to be over.
    const after: NoticeRecord = isLast
      ? { ...record, refused: others, told: { ...record.told, [channel]: { begun: present, over: present } } }
      : { ...record, refused: { ...others, [channel]: { times, nextAt: formatTimestamp(now.add({ seconds: pauseAfter(times) })) } } };
    if (isDone(after, channels, present)) transaction.delete(noticeTable(store), key);
    else transaction.put(noticeTable(store), key, after);
    return isLast;
  });
  const { tenant, name: notice, event } = message;
  const text = isGivenUp
    ? 'a message about what needs a person is given up: it was refused every time'
    : 'a message about what needs a person was refused';
  log.warn(text, { channel, tenant, notice, event, reason });
}

async function recordFailed({ store, clock, log }: NoticesParts, channel: ChannelName, reason: string): Promise<void> {
  const failed = await store.write((transaction) => {
    const before = deliveriesIn(transaction, store, channel);
    const failuresInARow = before.failuresInARow + 1;
    const nextAt = formatTimestamp(clock.now().add({ seconds: pauseAfter(failuresInARow) }));
    const record: ChannelRecord = { ...before, failuresInARow, lastFailure: reason, lastFailureAt: formatTimestamp(clock.now()), nextAt };
    transaction.put(channelTable(store), [channel], record);
    return record;
  });
  log.warn('a message about what needs a person was not taken', { channel, reason, 'next-at': failed.nextAt });
}

function pauseAfter(failures: number): number {
  return Math.min(longestPauseSeconds, firstPauseSeconds * 2 ** Math.min(failures - 1, 10));
}

/** Part of health: public, so it names no server. Two failures may be a restart of the server. */
export function channelParts(store: Store, channels: readonly Channel[]): readonly HealthPart[] {
  if (channels.length === 0) return [];
  const failing = channels.filter(({ name }) => deliveriesOf(store, name).failuresInARow > 2).map(({ name }) => name);
  if (failing.length === 0) return [{ name: 'notices', state: 'up' }];
  const reason = `messages about what needs a person do not leave by ${failing.join(' and ')}: /v1/state/system/notice-channels has the reason`;
  return [{ name: 'notices', state: 'failing', reason }];
}

/** Number of messages that wait for a channel. */
export function waitingFor(parts: NoticesParts, channel: ChannelName): number {
  return dueAt(parts, channel).length;
}
