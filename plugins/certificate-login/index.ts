// Login by certificate: devices and programs log in with a certificate of a CA that a role names, and get tokens that work with it alone.
import { z } from 'zod';
import { definePlugin } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { sessionsService } from '../../core/plugin/services/sessions.ts';

const load = () => import('./provision.ts');

export default definePlugin({
  name: 'certificate-login',
  contract: 1,
  config: z.strictObject({}).prefault({}),
  uses: [sessionsService, certificateAuthorityService],
  tables: {
    'ca-grants': { of: 'all', fills: true },
    'certificate-grants': { of: 'all', fills: true },
  },
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
