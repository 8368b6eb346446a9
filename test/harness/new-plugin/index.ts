// A plugin as somebody would begin one, in two files: notes of a tenant, which can be read out. The other one is provision.ts.
import { z } from 'zod';
import { definePlugin } from '../../../core/plugin/plugin.ts';

const load = () => import('./provision.ts');

export default definePlugin({
  name: 'notes',
  contract: 1,
  config: z.strictObject({}).prefault({}),
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
