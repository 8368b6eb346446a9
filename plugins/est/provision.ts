// Additions of plugin `est` to the appliance, loaded by processes that serve: the listener, and the URLs of each CA.
import type { Job } from '../../core/base/context.ts';
import type { Listener } from '../../core/http/listener/listeners.ts';
import { lackOfName, originsOf } from '../../core/plugin/origins.ts';
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { createEstApp } from './app.ts';
import type { Config } from './config.ts';
import { FailureLimit } from '../../core/access/failure-limit.ts';
import { openEstListener } from './listener/server.ts';
import { operationNames } from './operations/operations.ts';

/** Running requests get this long when the appliance stops. */
const stopGraceMs = 10_000;

/** The listener of EST, opened when the plugin starts. */
export function provision(context: PluginContext<Config>): PluginInstance {
  const { store, clock, log, audit, config } = context;
  const listeners = context.service(listenersService);
  const authorities = context.service(certificateAuthorityService);
  const limit = new FailureLimit(store, clock, store.table('secret-failures'));
  let listener: Listener | undefined;
  let forgetIdentity: (() => void) | undefined;

  const sweep: Job = { name: 'est-failure-limit', everySeconds: 3_600, run: () => limit.sweep() };
  const origins = (): readonly string[] => originsOf(listeners, { scheme: 'https', port: listeners.est.port, publicUrl: config.publicUrl });
  authorities.attach({ name: 'est', title: 'EST', reservedNames: operationNames, urls: (...ca) => estUrls(origins(), ...ca) });

  return {
    jobs: [sweep],
    async start() {
      if (!listeners.serving) return;
      const lack = lackOfName(listeners, 'est/public-url', config.publicUrl);
      if (lack !== undefined) log.warn(lack);
      const { onAnswered, replica, admit } = listeners;
      const options = { authorities, audit, clock, limit, log, onAnswered, replica, admit };
      const handler = createEstApp({ ...options, sealed: () => listeners.sealed(), refresh: () => store.refresh() });
      const guarded = listeners.guard?.(handler) ?? handler;
      listener = await openEstListener({ ...listeners.est, identity: listeners.identity(), handler: guarded, log });
      listeners.onOpen?.('est', listener);
      forgetIdentity = listeners.onIdentityChange((identity) => listener?.setIdentity(identity));
      listeners.onRetire?.(() => void listener?.close(stopGraceMs));
    },
    async stop() {
      forgetIdentity?.();
      await listener?.close(stopGraceMs);
    },
  };
}

/** Base URLs of a CA's EST service by every name and address, with two labels and with one. */
function estUrls(origins: readonly string[], tenantId: string, caName: string): readonly string[] {
  return origins.flatMap((origin) => {
    const base = `${origin}/.well-known/est/${tenantId}`;
    return [`${base}/${caName}`, `${base}~${caName}`];
  });
}
