// Plugin `cmp`: devices enrol by CMP (RFC 9810) at the CAs that have it on, over the listener of enrolment protocols.
import { z } from 'zod';
import { definePlugin } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { enrolmentListenerService } from '../../core/plugin/services/enrolment-listener.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';

const load = () => import('./provision.ts');

export default definePlugin({
  name: 'cmp',
  contract: 1,
  config: z.strictObject({}),
  uses: [listenersService, certificateAuthorityService, enrolmentListenerService],
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
