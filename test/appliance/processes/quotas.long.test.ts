// The quota of a tenant under a daemon: two workers, each of which serves some of its connections, let in together what one of them would.
import { expect, test } from 'vitest';
import { startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const perMinute = 300;
/** What two workers may let in before they hear of each other the first time. */
const ahead = 100;

test('two workers let in the quota of one, and tell what they refused', { timeout: 300_000 }, async () => {
  const daemon = await startDaemon({ directory: path('two'), workers: 2 });
  await daemon.request('POST', '/v1/config/tenants', { name: 'shop', 'requests-per-minute': perMinute });
  const { token } = (await daemon.request('POST', '/v1/state/keystore/token/create-root', { name: 'shop' })) as { token: string };
  const begun = performance.now();
  const statuses: number[] = [];
  // One after another, so that they do not come all between two exchanges; each on a connection of its own, so that both workers get some.
  while (statuses.filter((status) => status === 429).length < perMinute) {
    statuses.push((await daemon.exchange('GET', '/v1/config/keystore/transit-keys', undefined, token)).status);
  }
  const minutes = (performance.now() - begun) / 60_000;
  const admitted = statuses.filter((status) => status === 200).length;
  expect(admitted).toBeGreaterThanOrEqual(perMinute);
  expect(admitted).toBeLessThanOrEqual(perMinute + minutes * perMinute + ahead);
  expect((await daemon.exchange('GET', '/v1/config/tenants')).status).toBe(200);
  const metrics = String((await daemon.exchange('GET', '/v1/state/system/metrics')).body);
  expect(metrics).toContain(`keystored_tenant_requests_total{tenant="shop"} ${admitted}\n`);
  expect(metrics).toContain(`keystored_tenant_refusals_total{tenant="shop",quota="requests"} ${statuses.length - admitted}\n`);
  expect(await daemon.stop()).toBe(0);
});
