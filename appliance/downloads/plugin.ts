// The part of the appliance that hands out keystorectl.
import { z } from 'zod';
import { type AnyPlugin, definePlugin } from '../../core/plugin/plugin.ts';
import { keystorectlEndpoints } from './endpoints.ts';

/** `directory`: of the files, by default that of the package. */
export function downloadsPlugin(directory: string | undefined): AnyPlugin {
  return definePlugin({
    name: 'downloads',
    contract: 1,
    config: z.unknown(),
    provision: () => ({ endpoints: keystorectlEndpoints(directory) }),
  });
}
