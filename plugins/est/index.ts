// Plugin `est`: TLS CAs with keys in the HSM, and the EST listener that devices obtain and renew certificates from.
import { isIPv6 } from 'node:net';
import { z } from 'zod';
import type { Job } from '../../core/base/context.ts';
import type { Listener } from '../../core/http/listener/listeners.ts';
import { definePlugin } from '../../core/plugin/plugin.ts';
import { type Listeners, listenersService } from '../../core/plugin/services/listeners.ts';
import { createEstApp } from './app.ts';
import { caActions } from '../ca/actions/actions.ts';
import { publicEndpoints } from '../ca/status/public.ts';
import { caResource } from '../ca/resource.ts';
import { checkCas } from '../ca/check.ts';
import { keepHouse } from '../ca/housekeeping.ts';
import { openCaHouse } from '../ca/context.ts';
import { dropCas } from '../ca/removal.ts';
import { estErrors } from './errors.ts';
import { FailureLimit } from './failure-limit.ts';
import { openEstListener } from './server.ts';

/** Running requests get this long when the appliance stops. */
const stopGraceMs = 10_000;

export default definePlugin({
  name: 'est',
  contract: 1,
  config: z.strictObject({}),
  needs: ['ecdsa-p256'],
  errors: estErrors,
  uses: [listenersService],
  provision(context) {
    const { store, hsm, clock, log, audit } = context;
    const listeners = context.service(listenersService);
    const house = openCaHouse({ hsm, store, clock, publicUrl: listeners.managementUrl });
    const limit = new FailureLimit(store, clock);
    let listener: Listener | undefined;
    let forgetIdentity: (() => void) | undefined;

    const housekeeping: Job = {
      name: 'est-housekeeping',
      everySeconds: 3_600,
      async run(signal) {
        await limit.sweep();
        await keepHouse(house, signal);
      },
    };

    return {
      resources: [caResource(house, (tenantId, caName) => estUrls(listeners, tenantId, caName))],
      endpoints: [...caActions(house), ...publicEndpoints(house)],
      jobs: [housekeeping],
      dropTenant: (transaction, tenantId) => dropCas(house, transaction, tenantId),
      check: () => checkCas(house),
      async start() {
        if (!listeners.serving) return;
        const { onAnswered } = listeners;
        const handler = createEstApp({ house, audit, limit, log, onAnswered, sealed: () => listeners.sealed() });
        const guarded = listeners.guard?.(handler) ?? handler;
        listener = await openEstListener({ ...listeners.est, identity: listeners.identity(), handler: guarded, log });
        forgetIdentity = listeners.onIdentityChange((identity) => listener?.setIdentity(identity));
        listeners.onRetire?.(() => void listener?.close(stopGraceMs));
      },
      async stop() {
        forgetIdentity?.();
        await listener?.close(stopGraceMs);
      },
    };
  },
});

/** Base URLs of a CA's EST service by every name and address, with two labels and with one (api 68, R10). */
function estUrls({ hosts, est }: Listeners, tenantId: string, caName: string): readonly string[] {
  return hosts.flatMap((host) => {
    const base = `https://${isIPv6(host) ? `[${host}]` : host}:${est.port}/.well-known/est/${tenantId}`;
    return [`${base}/${caName}`, `${base}~${caName}`];
  });
}
