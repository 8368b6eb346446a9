// Agreed level of the records (store/records/level.ts): raised when every appliance can work with the next one, never lowered.
import type { Log } from '../base/context.ts';
import { reasonOf } from '../base/errors.ts';
import { ranged } from '../base/texts/counted.ts';
import type { EtcdClient } from '../etcd/client.ts';
import { hasValue, put, read, revisionOf, unchangedSince } from '../etcd/messages.ts';
import { epochValue, layout, readEpoch } from './layout.ts';
import { decodeSign, type MemberSign, type Members } from './validity.ts';

/** Reason for which a program cannot work with the records of a shared store; undefined if it can. */
export function levelRefusal({ version, levels }: Pick<MemberSign, 'version' | 'levels'>, level: number): string | undefined {
  const fact = `version ${version} works with records of the ${ranged(levels.oldest, levels.newest, 'level')}, and the cluster has level ${level}`;
  if (level > levels.newest) return `${fact}: install the version of the other appliances, there is no way back to this one`;
  if (level < levels.oldest) return `${fact}: bring all appliances to a version that lies between first`;
  return undefined;
}

/** The highest level that all members can work with. A member that is out counts too: it returns with the same program. */
function commonLevel(members: Iterable<Pick<MemberSign, 'state' | 'levels'>>): number {
  return Math.min(...Array.from(members).flatMap(({ state, levels }) => (state === 'removed' ? [] : [levels.newest])));
}

export type AgreedLevelParts = {
  readonly client: EtcdClient;
  readonly members: Members;
  readonly epoch: string;
  /** level of the local records */
  readonly level: () => number;
  readonly log: Log;
};

const lookEveryMs = 500;

/**
 * Raises the level as soon as all can work with a higher one. Every member watches for that; the first one does it. Returns a function that
 * stops the watch.
 */
export function keepLevel({ client, members, epoch, level, log }: AgreedLevelParts): () => void {
  let raising: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    try {
      const common = commonLevel(members.all.values());
      if (!Number.isFinite(common) || common <= level()) return;
      const raised = await raiseLevel(client, epoch);
      if (raised !== undefined) log.info('every appliance works with a higher level of the records: it is raised', { level: raised });
    } catch (error) {
      log.warn('the level of the records could not be raised', { reason: reasonOf(error) });
    }
  };
  const looking = setInterval(() => {
    raising ??= look().finally(() => (raising = undefined));
  }, lookEveryMs).unref();
  return () => clearInterval(looking);
}

/**
 * Raises the level. Resolves with the new level; undefined if it stays. A transaction decided at the former level can no longer commit,
 * because each compares it; and a process of any version that joins meanwhile makes this transaction lose.
 */
async function raiseLevel(client: EtcdClient, epoch: string): Promise<number | undefined> {
  const { responses } = await client.readTxn({
    compare: [],
    success: [read({ key: layout.epoch }), read({ key: layout.arrivals }), read(layout.members)],
    failure: [],
  });
  const [epochs = [], arrivals = [], signs = []] = responses.map((one) => one.response_range?.kvs ?? []);
  const found = epochs[0] === undefined ? undefined : readEpoch(epochs[0].value);
  const level = commonLevel(signs.map(({ value }) => decodeSign(value)));
  if (found?.epoch !== epoch || level <= found.level) return undefined;
  const compare = [
    hasValue(layout.epoch, epochValue(found)),
    unchangedSince(layout.arrivals, revisionOf(arrivals[0]?.mod_revision ?? '0')),
  ];
  const { succeeded } = await client.txn({ compare, success: [put(layout.epoch, epochValue({ epoch, level }))], failure: [] });
  return succeeded ? level : undefined;
}
