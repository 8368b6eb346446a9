// The part of the appliance that answers for its audit trail: signing keys and signed heads, and whether the trail can be written.
import { z } from 'zod';
import type { Audit } from '../../core/audit/record.ts';
import type { HealthPart } from '../../core/base/context.ts';
import { type AnyPlugin, definePlugin, type PluginContext } from '../../core/plugin/plugin.ts';
import { auditKeyHolders } from './audit-signing.ts';
import { auditEndpoint } from './endpoint.ts';

/** `store`: without a prefix. */
export function auditPlugin({ store, audit }: Pick<PluginContext<unknown>, 'store' | 'audit'>): AnyPlugin {
  return definePlugin({
    name: 'audit',
    contract: 1,
    config: z.unknown(),
    provision: () => ({
      endpoints: [auditEndpoint(store)],
      replaceableKeys: () => auditKeyHolders(store),
      health: () => [auditPart(audit)],
    }),
  });
}

export function auditPart(audit: Audit): HealthPart {
  const name = 'audit';
  if (audit.writable) return { name, state: 'up' };
  // After the comma the message of the system has paths, which are not public.
  const why = audit.problem === undefined ? '' : ` (${audit.problem.split(',')[0] ?? ''})`;
  return { name, state: 'down', reason: `the audit trail cannot be written${why}, so changes and uses of keys are refused`, hinders: true };
}
