// Additions of plugin `kmip` to the appliance, loaded by processes that serve.
import type { Job } from '../../core/base/context.ts';
import { coreErrors } from '../../core/base/errors.ts';
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import { checkKmip } from './check.ts';
import { forgetExpired } from './clients/first-tenants.ts';
import { releaseEndpoint } from './clients/release-endpoint.ts';
import { clientResource } from './clients/client-resource.ts';
import { KmipCallers } from './clients/scheme.ts';
import type { Config } from './config.ts';
import { type Kmip, openKmip } from './context.ts';
import { clientOperations } from './endpoints/client-operations.ts';
import { objectEndpoints, reasonNames } from './endpoints/object-endpoints.ts';
import { kmipErrors } from './errors.ts';
import { kmipGauges } from './gauges.ts';
import { dropTenant, keyHolders } from './holding.ts';
import { kmipListener } from './listener/open.ts';
import type { ObjectService } from './objects/object-service.ts';
import { objectRequests } from './service/object-requests.ts';
import { spaceResource } from './spaces/space-resource.ts';

export type KmipParts = { readonly kmip: Kmip; readonly callers: KmipCallers; readonly objects: ObjectService };

export function provision(context: PluginContext<Config>): PluginInstance {
  const parts = partsOf(context);
  const listener = kmipListener(context, parts.objects);
  return {
    ...instanceOf(parts),
    jobs: [
      ...listener.jobs,
      forgetting(parts.kmip),
      { name: 'kmip-wrong-passwords', everySeconds: 3_600, run: () => parts.kmip.wrongPasswords.sweep() },
    ],
    start: () => listener.start(),
    stop: () => listener.stop(),
  };
}

/** Certificates that have expired are nobody's. */
function forgetting(kmip: Kmip): Job {
  return { name: 'kmip-expired-certificates', everySeconds: 86_400, run: () => forgetExpired(kmip) };
}

export function partsOf(context: PluginContext<unknown>): KmipParts {
  const kmip = openKmip(context);
  kmip.authorities.attachLogin((tenantId, name) =>
    Iterator.from(kmip.tables.clients.entries([tenantId])).some(([, { trustCa }]) => trustCa === name),
  );
  const callers = new KmipCallers(kmip);
  return { kmip, callers, objects: objectRequests(kmip, callers, { ...coreErrors, ...kmipErrors }, reasonNames) };
}

/** Everything but the listener. */
export function instanceOf(parts: KmipParts): PluginInstance {
  const { kmip, callers } = parts;
  return {
    resources: [spaceResource(kmip), clientResource(kmip)],
    endpoints: [...objectEndpoints(parts), ...clientOperations(parts), releaseEndpoint(kmip)],
    schemes: [callers.scheme],
    gauges: kmipGauges(kmip),
    wrappedKeys: () => keyHolders(kmip),
    dropTenant: (tenantId) => dropTenant(kmip, tenantId),
    check: () => checkKmip(kmip),
  };
}
