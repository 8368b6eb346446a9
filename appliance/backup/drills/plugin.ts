// The part of the appliance that makes drills over the API, and tells when none has proven a backup for long.
import { z } from 'zod';
import type { Notice } from '../../../core/base/context.ts';
import { decodeTimestamp } from '../../../core/base/time.ts';
import { type AnyPlugin, definePlugin } from '../../../core/plugin/plugin.ts';
import type { Clock } from '../../../core/base/context.ts';
import { releaseRecordOf } from '../run/lease.ts';
import type { Backups } from '../run/backups.ts';
import type { Drills } from './drills.ts';
import { drillEndpoints, drillPath } from './endpoints.ts';
import { runningDrills } from './record.ts';
import type { Store } from '../../../core/store/store.ts';

/** One drill each quarter, with room for holidays. */
const longestDays = 120;

export type DrillPluginParts = {
  readonly drills: Drills;
  readonly backups: Backups;
  readonly store: Store;
  readonly clock: Clock;
};

export function drillPlugin({ drills, backups, store, clock }: DrillPluginParts): AnyPlugin {
  return definePlugin({
    name: 'drill',
    contract: 1,
    config: z.unknown(),
    provision: () => ({
      endpoints: drillEndpoints(drills),
      jobs: [drills.job],
      notices: ({ isSystem }) => (isSystem ? drillNotices(drills, backups, clock.now()) : []),
      dropAppliance: (transaction, appliance) => releaseRecordOf(transaction, runningDrills(store), appliance),
    }),
  });
}

/** Notices of drills. Without any backup, the part that makes them tells of that. */
function drillNotices(drills: Drills, backups: Backups, now: Temporal.Instant): readonly Notice[] {
  const { lastGood } = drills.history();
  const path = drillPath;
  if (drills.hasFoundFaults)
    return [{ name: 'drill-found', text: 'A restore drill found faults in a backup, and none has restored since', path }];
  const { lastSuccessAt, lastTakenAt } = backups.status();
  if (lastGood === undefined) {
    if (lastSuccessAt === undefined && lastTakenAt === undefined) return [];
    return [{ name: 'drill-missing', text: 'No restore drill has proven yet that a backup restores', path }];
  }
  const at = decodeTimestamp(lastGood.at);
  const isOld = at !== undefined && now.since(at).total('hours') > longestDays * 24;
  return isOld ? [{ name: 'drill-overdue', text: `The last restore drill is more than ${longestDays} days old`, path }] : [];
}
