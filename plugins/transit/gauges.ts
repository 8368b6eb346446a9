// Numbers of transit keys, for the metrics.
import { setImmediate } from 'node:timers/promises';
import type { Gauge, GaugeSample } from '../../core/plugin/plugin.ts';
import type { Transit } from './context.ts';
import { defined } from '../../core/base/defined.ts';

/** Counting a hundred thousand keys takes a while: the counts may be this old. */
const keptMs = 60_000;
/** Keys counted before other requests get their turn. */
const countedAtOnce = 500;

export function keyGauge({ tables }: Transit): Gauge {
  return {
    name: 'keystored_transit_keys',
    help: 'Transit keys, counted once a minute',
    labels: ['tenant', 'cipher'],
    keptMs,
    async measure(tenants) {
      const samples: GaugeSample[] = [];
      for (const [uuid, tenant] of tenants) {
        for (const [cipher, value] of await countByCipher(tables, uuid)) samples.push({ labels: { tenant, cipher }, value });
      }
      return samples;
    },
  };
}

/** Reads all keys of a tenant in pieces, so that requests go on in between; a key created or deleted meanwhile may be missed. */
async function countByCipher({ keys }: Transit['tables'], tenantId: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (let after: string | undefined; ;) {
    const piece = [...keys.entries([tenantId], { limit: countedAtOnce, uncached: true, ...defined({ after }) })];
    for (const [, { cipher }] of piece) counts.set(cipher, (counts.get(cipher) ?? 0) + 1);
    if (piece.length < countedAtOnce) return counts;
    after = String(piece.at(-1)?.[0].at(-1));
    await setImmediate();
  }
}
