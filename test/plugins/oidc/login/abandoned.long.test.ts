// Many unfinished sign-ins and CLI logins: the store and the memory that they take are bounded.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectGarbage } from '../../../harness/garbage.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { startOidcHarness, type OidcHarness } from '../harness.ts';

const path = temporaryDirectory();
const bounds = { pendingLoginsPerAddress: 20, pendingLoginsPerTenant: 100, pendingLogins: 100 };
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 100_000, ...bounds });
  await harness.setService();
});
afterAll(() => harness.close());

/** From many addresses, each with a browser that does not return and a command line that does not poll. */
async function abandon(count: number, round: number): Promise<void> {
  const ask = { tenant: 'system', service: 'corp' };
  for (let at = 0; at < count; at += 10) {
    harness.clock.advance(0.1);
    await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const from = `127.${10 + round}.${at / 10}.${index + 1}`;
        expect((await harness.browser(from).get('/login/system/corp')).status).toBe(303);
        const { status, body } = await harness.appliance.request('POST', '/v1/oidc-login', ask, { token: undefined, from });
        expect(status).toBe(200);
        await harness.appliance.request('POST', '/v1/oidc-login/poll', { 'poll-token': body['poll-token'] }, { token: undefined, from });
      }),
    );
  }
  (harness.appliance.logged as unknown[]).length = 0;
}

async function heapAfterwards(): Promise<number> {
  // Twice, because objects released by a finalizer are collected by the next run.
  for (let turn = 0; turn < 2; turn += 1) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

test('a thousand of each stay within the bounds, and the heap does not grow after the first three hundred', async () => {
  await abandon(300, 0);
  const before = await heapAfterwards();
  await abandon(700, 1);
  const grown = (await heapAfterwards()) - before;
  harness.appliance.store.refresh();
  const store = harness.appliance.store.prefixed('oidc');
  const counts = ['pending-logins', 'pending-places', 'hand-offs', 'hand-off-places'].map((name) => store.table(name).count([]));
  expect(counts).toEqual([100, 400, 100, 400]);
  // Each one kept with its request would take about ten kilobytes.
  expect(grown).toBeLessThan(3_000_000);
});
