// Additions of the plugin: nothing, unless a tenant is to have this API.
import type { Alias } from '../../core/http/alias.ts';
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { sessionsService } from '../../core/plugin/services/sessions.ts';
import { transitKeysService } from '../../core/plugin/services/transit-keys.ts';
import { approleAdministration } from './approles.ts';
import { approleAliases, tokenAliases } from './auth.ts';
import { capabilityAliases } from './capabilities.ts';
import type { Config } from './config.ts';
import { Facade } from './facade.ts';
import { pkiAliases } from './pki/aliases.ts';
import { sysAliases } from './sys.ts';
import { keyAliases } from './transit/keys.ts';
import { movingAliases } from './transit/moving.ts';
import { useAliases } from './transit/use.ts';
import { wrappingAliases } from './wrapping.ts';

export function provision(context: PluginContext<Config>): PluginInstance {
  const { config, clock } = context;
  if (Object.keys(config.tenants).length === 0) return {};
  const facade = new Facade({
    ...{ config, clock, keys: context.service(transitKeysService), authorities: context.service(certificateAuthorityService) },
    findTenant: (name) => context.service(sessionsService).findTenant(name),
    endIssued: (record) => context.service(sessionsService).endIssued(record),
    describeIssued: (record, from) => context.service(sessionsService).describeIssued(record, from),
  });
  const aliases: readonly Alias[] = [
    ...config.transitMounts.flatMap((mount) => [
      ...keyAliases(facade, `/v1/${mount}`),
      ...useAliases(facade, `/v1/${mount}`),
      ...movingAliases(facade, `/v1/${mount}`),
    ]),
    ...Object.entries(config.pkiMounts).flatMap(([path, settings]) => pkiAliases(facade, { path, ...settings })),
    ...config.approleMounts.flatMap((mount) => [
      ...approleAliases(facade, `/v1/auth/${mount}`),
      ...approleAdministration(facade, `/v1/auth/${mount}`),
    ]),
    ...tokenAliases(facade),
    ...capabilityAliases(facade),
    ...sysAliases(facade),
    ...wrappingAliases(facade),
  ];
  return { aliases };
}
