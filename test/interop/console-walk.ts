// Walks through the console of one daemon: signed in, without a refused request, a fault or a breach of the page's policy.
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { startDaemon, type Daemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { openPage, signInWithToken, watchTraffic } from './console-browser.ts';

export type Walk = {
  /** address to begin at, behind /ui */
  readonly to: string;
  /** default: the root token */
  readonly token?: string;
  readonly options?: Parameters<Chromium['newContext']>[0];
  /** time that the browser has from the sign-in on, so far ahead of the true one */
  readonly aheadMs?: number;
  /** parts of noted refusals that belong to the walk */
  readonly refused?: readonly string[];
};

export type Walks = {
  readonly daemon: Daemon;
  walk(how: Walk | string, steps: (page: Page) => Promise<void>): Promise<void>;
};

/** A daemon and a browser for the tests of a file; nothing is started where there is no Chromium. */
export function prepareWalks(prepare: (daemon: Daemon) => Promise<void>): Walks {
  const path = temporaryDirectory();
  let daemon: Daemon | undefined;
  let chromium: Chromium | undefined;
  beforeAll(async () => {
    if (chromiumPath === undefined) return;
    daemon = await startDaemon({ directory: path('data') });
    await prepare(daemon);
    chromium = await launchChromium();
  }, 180_000);
  afterAll(async () => {
    await chromium?.close();
    await daemon?.stop();
  });
  const started = (): Daemon => {
    if (daemon === undefined) throw new Error('the daemon did not start');
    return daemon;
  };
  return {
    get daemon() {
      return started();
    },
    async walk(how, steps) {
      const { to, token, options, aheadMs = 0, refused = [] } = typeof how === 'string' ? { to: how } : how;
      const { url, rootToken } = started();
      if (chromium === undefined) throw new Error('the browser did not start');
      const { context, page, faults } = await openPage(chromium, options);
      if (aheadMs > 0) await page.clock.setFixedTime(Date.now() + aheadMs);
      await signInWithToken(page, url, token ?? rootToken);
      const traffic = watchTraffic(page);
      await page.goto(`${url}/ui${to}`);
      await page.waitForSelector('h1');
      await steps(page);
      const unexpected = [...faults, ...traffic.faults].filter((fault) => !refused.some((one) => fault.includes(one)));
      expect(unexpected).toEqual([]);
      await context.close();
    },
  };
}
