// Plugin `ca`: certificate authorities whose keys are in the HSM, the revocation status of what they issued, and a service for enrolment.
import { z } from 'zod';
import type { Job } from '../../core/base/context.ts';
import { definePlugin } from '../../core/plugin/plugin.ts';
import { provide } from '../../core/plugin/service.ts';
import { certificateAuthorityService, type EnrolmentProtocol } from '../../core/plugin/services/certificate-authority.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { caActions } from './actions/actions.ts';
import { keysOfCas } from './authority/generation.ts';
import { checkCas } from './check.ts';
import { openCaContext } from './context.ts';
import { caErrors } from './errors.ts';
import { expiryGauge } from './gauges.ts';
import { keepHouse } from './housekeeping.ts';
import { tableNames } from './records/records.ts';
import { dropCas } from './removal.ts';
import { caResource } from './resource.ts';
import { certificateAuthorities } from './service.ts';
import { publicEndpoints } from './status/public.ts';

export default definePlugin({
  name: 'ca',
  contract: 1,
  config: z.strictObject({}),
  needs: ['ecdsa-p256'],
  errors: caErrors,
  provides: [certificateAuthorityService],
  uses: [listenersService],
  inherits: { from: 'est', tables: tableNames },
  provision(platform) {
    const { store, hsm, clock, log } = platform;
    const { managementUrl: publicUrl } = platform.service(listenersService);
    const context = openCaContext({ hsm, store, clock, log, publicUrl });
    const protocols: EnrolmentProtocol[] = [];
    const housekeeping: Job = {
      // Named as before this plugin was split off: operators have alerts on the name.
      name: 'est-housekeeping',
      everySeconds: 3_600,
      run: (signal) => keepHouse(context, signal),
    };
    return {
      resources: [caResource(context, protocols)],
      endpoints: [...caActions(context), ...publicEndpoints(context)],
      jobs: [housekeeping],
      gauges: [expiryGauge(context)],
      services: [provide(certificateAuthorityService, certificateAuthorities(context, protocols))],
      dropTenant: (transaction, tenantId) => dropCas(context, transaction, tenantId),
      tokenKeys: () => keysOfCas(context),
      check: () => checkCas(context),
    };
  },
});
