// The part of the appliance that keeps findings until a person has answered them.
import { z } from 'zod';
import type { HealthPart } from '../../core/base/context.ts';
import { gaugesOf } from '../../core/plugin/gauges.ts';
import { type AnyPlugin, definePlugin } from '../../core/plugin/plugin.ts';
import { findingEndpoints } from './endpoints.ts';
import { findingParts } from './findings.ts';
import { lostKeysJob, type LostKeysParts } from './lost-keys.ts';

export type FindingsParts = LostKeysParts & {
  /** As in Runtime; absent where nothing is written. */
  readonly damage?: (() => string | undefined) | undefined;
};

export function findingsPlugin(parts: FindingsParts): AnyPlugin {
  const { store, clock } = parts;
  return definePlugin({
    name: 'findings',
    contract: 1,
    config: z.unknown(),
    provision: () => ({
      endpoints: findingEndpoints(store, clock),
      jobs: [lostKeysJob(parts)],
      gauges: gaugesOf(
        () => findingParts(store, clock).filter(({ state }) => state === 'unanswered').length,
        [
          {
            name: 'keystored_unanswered_findings',
            help: 'What starts and jobs have found and nobody has answered',
            value: (count) => count,
          },
        ],
      ),
      health: () => unansweredParts(parts),
    }),
  });
}

/** Reads the findings from the store: if it is unreadable, the part of health about the store says so. */
function unansweredParts({ store, clock, damage }: FindingsParts): readonly HealthPart[] {
  try {
    return findingParts(store, clock);
  } catch (error) {
    if (damage?.() === undefined) throw error;
    return [];
  }
}
