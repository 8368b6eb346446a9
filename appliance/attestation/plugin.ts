// The part of the appliance that signs statements of the token about keys: its keys, its endpoints and the service `custody-statements`.
import { z } from 'zod';
import { type AnyPlugin, definePlugin, type PluginContext } from '../../core/plugin/plugin.ts';
import { provide } from '../../core/plugin/service.ts';
import { custodyStatementsService } from '../../core/plugin/services/custody-statements.ts';
import { wrappingKeysService } from '../../core/plugin/services/wrapping-keys.ts';
import { AttestationKeys } from './attestation-keys.ts';
import { attestationEndpoints } from './endpoints.ts';
import { createCustodyStatements } from './statements.ts';

/** `store`: without a prefix. */
export function attestationPlugin({ store }: Pick<PluginContext<unknown>, 'store'>): AnyPlugin {
  return definePlugin({
    name: 'attestation',
    contract: 1,
    config: z.unknown(),
    provides: [custodyStatementsService],
    uses: [wrappingKeysService],
    provision(context) {
      const { hsm, clock, log } = context;
      const keys = new AttestationKeys({ store, hsm, clock, log, rotation: context.service(wrappingKeysService) });
      return {
        services: [provide(custodyStatementsService, createCustodyStatements(store, hsm, keys))],
        endpoints: attestationEndpoints(keys),
        jobs: [keys.job],
        replaceableKeys: () => keys.holders(),
      };
    },
  });
}
