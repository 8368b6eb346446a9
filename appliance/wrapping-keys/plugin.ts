// The part of the appliance that is about its tokens: their wrapping keys and the rotation of these, their state, and their endpoints.
import { z } from 'zod';
import type { CheckFinding } from '../../core/base/context.ts';
import { type AnyPlugin, definePlugin, type PluginContext } from '../../core/plugin/plugin.ts';
import { withoutUnreadable } from '../../core/plugin/key-holders.ts';
import { provide } from '../../core/plugin/service.ts';
import { type KeyHolder, wrappingKeysService } from '../../core/plugin/services/wrapping-keys.ts';
import type { Hsm } from '../../hsm/api.ts';
import { bringingInJob } from './groups.ts';
import { tokenParts } from './health.ts';
import { type HsmEndpointParts, hsmEndpoints } from './hsm-endpoints.ts';
import { rewrappingJob, type RewrappingParts } from './rewrapping.ts';

export type WrappingKeysParts = Pick<PluginContext<unknown>, 'store' | 'audit' | 'log'> &
  Omit<HsmEndpointParts, 'hsm'> & {
    /** Every record with wrapped keys, of all plugins, once these have started. */
    readonly wrappedKeys: () => Iterable<KeyHolder>;
    /** absent in tools that rotate nothing */
    readonly rewrapping?: Pick<RewrappingParts, 'directory' | 'settleMs' | 'isStoreKeyShared'> | undefined;
    /** true if keys are carried between the tokens of this appliance, and not of several */
    readonly bringsIn: boolean;
  };

export function wrappingKeysPlugin(parts: WrappingKeysParts): AnyPlugin {
  const { store, audit, log, rotation, pins, pinOrigin, wrappedKeys, rewrapping, bringsIn } = parts;
  return definePlugin({
    name: 'wrapping-keys',
    contract: 1,
    config: z.unknown(),
    provides: [wrappingKeysService],
    provision: ({ hsm, clock }) => ({
      services: [provide(wrappingKeysService, rotation)],
      endpoints: hsmEndpoints({ hsm, rotation, pins, pinOrigin }),
      jobs: [
        ...(rewrapping === undefined ? [] : [rewrappingJob({ ...rewrapping, store, hsm, clock, log, audit, wrappedKeys })]),
        ...(bringsIn ? [bringingInJob({ hsm, rotation, log })] : []),
      ],
      health: () => tokenParts(hsm, (token) => rotation.state(token)),
      check: async () => [
        ...(await Array.fromAsync(rotation.findings(withoutUnreadable(wrappedKeys())))),
        ...(await findWiderObjects(hsm)),
      ],
    }),
  });
}

/** Tokens that are down are left out. */
async function findWiderObjects(hsm: Hsm): Promise<readonly CheckFinding[]> {
  const names = hsm.status().flatMap(({ name, state }) => (state === 'up' ? [name] : []));
  const found = await Promise.all(names.map(async (name) => [name, await hsm.widerObjects(name)] as const));
  return found.flatMap(([name, wider]) => wider.map((problem) => ({ where: `token ${name}`, problem, isNote: true as const })));
}
