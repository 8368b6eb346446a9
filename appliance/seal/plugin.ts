// The part of a serving appliance that seals it: its endpoints, and the CA certificates that callers of a sealed appliance have, too.
import { z } from 'zod';
import { type AnyPlugin, definePlugin } from '../../core/plugin/plugin.ts';
import { type SealParts, sealEndpoints } from './endpoints.ts';

export function sealPlugin(parts: SealParts): AnyPlugin {
  return definePlugin({
    name: 'seal',
    contract: 1,
    config: z.unknown(),
    provision: () => ({ endpoints: sealEndpoints(parts) }),
  });
}
