// Since when the store knows every export: from the first start on, and after a restore from that start on.
import { expect, test } from 'vitest';
import { beginExportHistory, exportHistoryStart } from '../../../appliance/attestation/export-history.ts';
import { Secret } from '../../../core/base/secret.ts';
import { TestClock } from '../../harness/clock.ts';
import { openStore } from '../../../core/store/open.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();

test('the first start begins it, later ones do not, and the first one after a restore begins it again', async () => {
  const store = await openStore({ directory: path('store'), dataKey: new Secret(new Uint8Array(32)) });
  const clock = new TestClock('2026-01-01T00:00:00Z');
  const since = (): string | undefined => {
    store.refresh();
    return exportHistoryStart(store)?.toString();
  };
  try {
    expect(since()).toBeUndefined();
    await beginExportHistory(store, clock, false);
    expect(since()).toBe('2026-01-01T00:00:00Z');
    clock.advance(3_600);
    await beginExportHistory(store, clock, false);
    expect(since()).toBe('2026-01-01T00:00:00Z');
    await beginExportHistory(store, clock, true);
    expect(since()).toBe('2026-01-01T01:00:00Z');
  } finally {
    await store.close();
  }
});
