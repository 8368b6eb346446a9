// One URL for all appliances of a cluster: set, and cleared.
import { z } from 'zod';
import { fail } from '../../../core/base/errors.ts';
import { publicUrlField } from '../../../core/config/schema.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { tags } from '../../../core/http/tags.ts';
import type { Store } from '../../../core/store/store.ts';
import type { ClusterWay } from '../cluster-way.ts';
import { setSharedUrl } from './public-url.ts';

type Parts = { readonly store: Store; readonly cluster?: ClusterWay | undefined };

const base = '/v1/state/system/cluster';

/** Refused with 404 for every tenant but `system`; for root there. */
export function publicUrlEndpoints(parts: Parts): AnyEndpoint[] {
  return [setEndpoint(parts), clearEndpoint(parts)];
}

const url = () => publicUrlField().meta({ description: 'An https URL that leads to all of them.', example: 'https://keys.example:4646' });

function setEndpoint({ store, cluster }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${base}/set-public-url`,
    act: 'change-trust',
    access: 'token',
    operation: 'execute',
    tag: tags.system,
    summary: 'Give all appliances one URL',
    description:
      'In place of the `public-url` of each configuration: for CRL and OCSP in certificates that are issued from then on, EST (its host, on the port of `est-listen`, unless the configuration has `est/public-url`), the choice among redirect URIs, and links.',
    audit: 'required',
    idempotent: true,
    auditFields: ['publicUrl'],
    input: z.object({ publicUrl: url() }),
    output: z.object({ publicUrl: url() }),
    errors: ['not-found', 'operation-refused'],
    commandLine: { positional: ['publicUrl'] },
    reservedFor: 'system-root',
    async run({ caller, now }, { publicUrl }) {
      if (cluster === undefined)
        throw fail('operation-refused', { detail: 'This appliance stands alone: give it "public-url" in its configuration.' });
      const trimmed = publicUrl.replace(/\/+$/, '');
      await setSharedUrl(store, trimmed, caller.user, now);
      return { publicUrl: trimmed };
    },
  });
}

function clearEndpoint({ store }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${base}/clear-public-url`,
    act: 'change-trust',
    access: 'token',
    operation: 'execute',
    tag: tags.system,
    summary: 'Let each appliance go by the URL of its own configuration',
    description: 'Takes back what `set-public-url` has set, also for an appliance that stands alone after a restore.',
    audit: 'required',
    idempotent: true,
    errors: ['not-found'],
    commandLine: { ends: 'lets certificates and links name the URL of the configuration of each appliance again' },
    reservedFor: 'system-root',
    async run({ caller, now }) {
      await setSharedUrl(store, undefined, caller.user, now);
    },
  });
}
