// Additions of plugin `ca` to the appliance, loaded by processes that serve.
import type { Job } from '../../core/base/context.ts';
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import { provide } from '../../core/plugin/service.ts';
import { certificateAuthorityService, type EnrolmentProtocol } from '../../core/plugin/services/certificate-authority.ts';
import { wrappingKeysService } from '../../core/plugin/services/wrapping-keys.ts';
import { custodyStatementsService } from '../../core/plugin/services/custody-statements.ts';
import { memberCertificatesService } from '../../core/plugin/services/member-certificates.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import type { Config } from './status/config.ts';
import { caActions } from './actions/actions.ts';
import { custodyOfCa } from './actions/custody.ts';
import { caKeyHolders, keysOfCas } from './authority/generation.ts';
import { checkCas } from './check.ts';
import { openCaContext } from './context.ts';
import { eabKeyHolders } from './enrolment/eab-keys.ts';
import { enrolmentGauges } from './enrolment/gauges.ts';
import { expiryGauge } from './gauges.ts';
import { doHousekeeping } from './housekeeping.ts';
import { strandedListsJob } from './own/keys-in-token.ts';
import { memberCertificates } from './own/member-certificates.ts';
import { dropCas } from './removal.ts';
import { caResource } from './resource.ts';
import { certificateAuthorities } from './service.ts';
import { publicEndpoints } from './status/public.ts';

/** Resources, endpoints, jobs and the service of certificate authorities. */
export function provision(platform: PluginContext<Config>): PluginInstance {
  const { store, hsm, clock, log, config } = platform;
  const listeners = platform.service(listenersService);
  const statusUrl = (): string => config.statusUrl ?? listeners.managementUrl;
  const context = openCaContext({ hsm, store, clock, log, statusUrl, rotation: platform.service(wrappingKeysService) });
  const protocols: EnrolmentProtocol[] = [];
  const housekeeping: Job = {
    // Named as before this plugin was split off: operators have alerts on the name.
    name: 'est-housekeeping',
    everySeconds: 3_600,
    run: (signal) => doHousekeeping(context, signal),
  };
  return {
    resources: [caResource(context, protocols)],
    endpoints: [...caActions(context), custodyOfCa(context, platform.service(custodyStatementsService)), ...publicEndpoints(context)],
    jobs: [housekeeping, strandedListsJob(context)],
    gauges: [expiryGauge(context), ...enrolmentGauges(context)],
    services: [
      provide(certificateAuthorityService, certificateAuthorities(context, protocols)),
      provide(memberCertificatesService, memberCertificates(context)),
    ],
    dropTenant: (tenantId) => dropCas(context, tenantId),
    tokenKeys: () => keysOfCas(context, 'token'),
    *wrappedKeys() {
      yield* caKeyHolders(context);
      yield* eabKeyHolders(context);
    },
    check: () => checkCas(context),
  };
}
