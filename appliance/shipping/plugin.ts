// The part of the appliance that ships the audit trail and the logs: the state of every receiver, and whether one holds up changes.
import { z } from 'zod';
import type { Audit } from '../../core/audit/record.ts';
import type { HealthPart } from '../../core/base/context.ts';
import { type AnyPlugin, definePlugin } from '../../core/plugin/plugin.ts';
import { type ShippingParts, shippingEndpoints } from './endpoints.ts';
import { shippingGauges } from './metrics.ts';

export function shippingPlugin({ shipping, audit }: { readonly shipping: ShippingParts; readonly audit: Audit }): AnyPlugin {
  return definePlugin({
    name: 'shipping',
    contract: 1,
    config: z.unknown(),
    provision: () => ({
      endpoints: shippingEndpoints(shipping),
      gauges: shippingGauges(shipping),
      health: () => shippingParts(audit),
    }),
  });
}

/** Reported only while it is a problem: most appliances ship nothing. Health is public, so the receiver is not named. */
function shippingParts({ behind }: Audit): readonly HealthPart[] {
  if (behind === undefined) return [];
  return [
    {
      ...{ name: 'shipping', state: 'behind' },
      reason: 'a receiver of the audit trail is too far behind, so changes and uses of keys are refused',
      hinders: true,
    },
  ];
}
