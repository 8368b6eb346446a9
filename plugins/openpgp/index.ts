// OpenPGP: transit keys as keys of gpg, Sequoia and package managers. Private keys stay in the token; blocks are made once per version.
import { z } from 'zod';
import { definePlugin } from '../../core/plugin/plugin.ts';
import { transitKeysService } from '../../core/plugin/services/transit-keys.ts';
import { openpgpErrors } from './errors.ts';

const load = () => import('./provision.ts');

/** Needs the transit plugin, which stores its records. */
export default definePlugin({
  name: 'openpgp',
  contract: 1,
  config: z.strictObject({}).prefault({}),
  errors: openpgpErrors,
  uses: [transitKeysService],
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
