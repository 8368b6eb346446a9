// Layout shift in Chromium: what is there when a page opens stays where it is while the answers come, as the browser itself measures it.
import { describe, expect, test } from 'vitest';
import { chromiumPath } from '../plugins/oidc/chromium.ts';
import { watchTraffic } from './console-browser.ts';
import { furnish, views } from './console-furnished.ts';
import { prepareWalks } from './console-walk.ts';

/** What web.dev calls good; a page whose head moves down by a card has several times as much. */
const mostShift = 0.1;

let serial = '';
const walks = prepareWalks(async (daemon) => {
  await daemon.request('POST', '/v1/config/tenants', { name: 'shop' });
  serial = await furnish(daemon, daemon.rootToken);
});

type Observed = { readonly shift: number };

describe.skipIf(chromiumPath === undefined)('a page', () => {
  test.each(Object.keys(views))('of %s does not move what is being read while it loads', async (name) => {
    await walks.walk('', async (page) => {
      await page.addInitScript(`window.shift = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
        }).observe({ type: 'layout-shift', buffered: true });`);
      const traffic = watchTraffic(page);
      await page.goto(`${walks.daemon.url}/ui${views[name]?.(serial) ?? ''}`);
      await traffic.settled();
      const { shift } = await page.evaluate<Observed>('({ shift: window.shift })');
      console.info(`${name}: ${shift.toFixed(3)}`);
      expect(shift).toBeLessThan(mostShift);
    });
  });
});
