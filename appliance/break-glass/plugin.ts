// The part of the appliance that applies what `keystored break-glass` has prepared.
import { z } from 'zod';
import { type AnyPlugin, definePlugin } from '../../core/plugin/plugin.ts';
import { breakGlassJob, type BreakGlassParts } from './applying.ts';

export function breakGlassPlugin(parts: BreakGlassParts): AnyPlugin {
  return definePlugin({
    name: 'break-glass',
    contract: 1,
    config: z.unknown(),
    provision: () => ({ jobs: [breakGlassJob(parts)] }),
  });
}
