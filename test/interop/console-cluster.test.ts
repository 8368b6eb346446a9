// The overview of an appliance in a cluster, in Chromium: the others by name, with what is wrong with them.
import type { Browser as Chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClusterWay } from '../../appliance/cluster/cluster-way.ts';
import { batchLimits } from '../../core/cluster/transaction.ts';
import { startTestAppliance, type TestAppliance } from '../harness/appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { expectAccessible, looks, openPage, picture, signInWithToken } from './console-browser.ts';

const path = temporaryDirectory();
const unused = (): never => {
  throw new Error('the store of this test is not shared');
};
const member = { version: '0.1.0', levels: { oldest: 1, newest: 1 }, state: 'in', applied: 102, silentMs: 210 } as const;
const cluster: ClusterWay = {
  ...{ appliance: 'id-b', batch: batchLimits, commit: unused, wrappedKeys: unused, replaceWrappedKeys: unused },
  ...{ bootstrap: unused, enter: unused, untilValid: unused, remove: unused, onForeignWrites: () => undefined, servers: async () => [] },
  ...{ settled: Number.POSITIVE_INFINITY, untilSettled: unused },
  get isValid() {
    return isValid;
  },
  isIsolated: false,
  missing: ['plant-a'],
  members: [],
  over: undefined,
  othersMs: undefined,
  state: async () => ({
    ...{ id: 'id-b', epoch: 'epoch', position: 5_000, isValid: true },
    members: [
      { ...member, id: 'id-b', name: 'plant-b', applied: 5_000, publicUrl: 'https://192.0.2.12:4646' },
      { ...member, id: 'id-c', name: 'plant-c', applied: 5_000, publicUrl: 'https://192.0.2.13:4646' },
      { ...member, id: 'id-a', name: 'plant-a', state: 'out', silentMs: 7_200_000 },
    ],
  }),
  close: async () => undefined,
};
/** whether the one that answers has its validity */
let isValid = true;
let appliance: TestAppliance;
let chromium: Chromium;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  appliance = await startTestAppliance({ directory: path(), cluster });
  chromium = await launchChromium();
});
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await appliance.close();
});

test.skipIf(chromiumPath === undefined).each(['light', 'narrow'] as const)(
  '%s: who answers, who does not, and who is how far',
  async (look) => {
    const { context, page, faults } = await openPage(chromium, looks[look]);
    await signInWithToken(page, appliance.url, appliance.rootToken);
    const row = (name: string) => page.locator(`section[aria-labelledby=cluster-title] tbody tr:has-text("${name}")`);
    await row('plant-a').waitFor();
    const textOf = async (name: string): Promise<string> => (await row(name).innerText()).replaceAll(/\s+/g, ' ').trim();
    expect(await textOf('plant-a')).toMatch(/^plant-a .*does not answer .*4,898 revisions .*hours ago .*0\.1\.0$/);
    expect(await textOf('plant-b')).toMatch(/^plant-b this one .*answers .*nothing/);
    await picture(page, look, 'cluster');
    await expectAccessible(page);
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(chromiumPath === undefined)('what is to be mended, the URL of all, and that what is shown is not of now', async () => {
  const { context, page, faults } = await openPage(chromium, looks.light);
  await signInWithToken(page, appliance.url, appliance.rootToken);
  const card = page.locator('section[aria-labelledby=cluster-title]');
  await card.locator('.notice', { hasText: 'plant-b has https://192.0.2.12:4646; plant-c has https://192.0.2.13:4646' }).waitFor();
  expect(await card.locator('h2').innerText()).toBe('Appliances');
  await appliance.request('POST', '/v1/state/system/cluster/set-public-url', { 'public-url': 'https://keys.example' });
  await page.reload();
  await card.locator('code', { hasText: 'https://keys.example' }).waitFor();
  expect(await card.locator('.notice').count()).toBe(0);
  isValid = false;
  try {
    await page.reload();
    await card.locator('h2', { hasText: 'cut off' }).waitFor();
    expect(await card.locator('.notice').innerText()).toContain('cut off from the majority of its cluster');
    await expectAccessible(page);
  } finally {
    isValid = true;
  }
  expect(faults).toEqual([]);
  await context.close();
});
