// Notice of the keys of a tenant that need a person, for the console and for messages.
import { setImmediate } from 'node:timers/promises';
import type { Notice } from '../../../core/base/context.ts';
import { defined } from '../../../core/base/defined.ts';
import type { PluginInstance } from '../../../core/plugin/plugin.ts';
import type { Transit } from '../context.ts';
import { needsAttention } from './list-filters.ts';

/** Reading a hundred thousand keys takes a while: the number may be this old. */
const keptMs = 60_000;
/** Keys read before other requests get their turn. */
const readAtOnce = 500;

/** `notices` of the plugin. */
export function keyNotices(transit: Transit): NonNullable<PluginInstance['notices']> {
  const kept = new Map<string, { readonly untilMs: number; readonly count: Promise<number> }>();
  return async ({ tenantId }) => {
    const nowMs = transit.clock.monotonicMs();
    const known = kept.get(tenantId);
    const count = known !== undefined && known.untilMs > nowMs ? known.count : countOf(transit, tenantId);
    if (count !== known?.count) {
      for (const [tenant, { untilMs }] of kept) if (untilMs <= nowMs) kept.delete(tenant);
      kept.set(tenantId, { untilMs: nowMs + keptMs, count });
    }
    return noticeOf(await count);
  };
}

function noticeOf(count: number): readonly Notice[] {
  if (count === 0) return [];
  const text = `${count} ${count === 1 ? 'key is' : 'keys are'} overdue for rotation, or near the limit of encryptions`;
  return [{ name: 'keys-attention', text, path: '/v1/config/keystore/transit-keys', filter: { attention: 'true' } }];
}

async function countOf(transit: Transit, tenantId: string): Promise<number> {
  const now = transit.clock.now();
  let count = 0;
  for (let after: string | undefined; ;) {
    const piece = [...transit.tables.keys.entries([tenantId], { limit: readAtOnce, uncached: true, ...defined({ after }) })];
    for (const [key, record] of piece) if (needsAttention(transit, { tenantId, name: String(key.at(-1)), record }, now)) count++;
    if (piece.length < readAtOnce) return count;
    after = String(piece.at(-1)?.[0].at(-1));
    await setImmediate();
  }
}
