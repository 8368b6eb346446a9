// The trail for an auditor, in Chromium: a day, kept filters, and exports that keystorectl proves or refuses.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath } from '../plugins/oidc/chromium.ts';
import { expectAccessible, picture } from './console-browser.ts';
import { keys, keyStates } from './console-furnished.ts';
import { prepareWalks } from './console-walk.ts';

const trail = '/v1/state/topics/system:audit-trail-log';
const directory = temporaryDirectory();
const keystorectl = resolve(import.meta.dirname, '../../appliance/keystorectl');

const walks = prepareWalks(async (daemon) => {
  await daemon.request('POST', keys, { name: 'orders' });
  await daemon.request('POST', `${keyStates}/orders/encrypt`, { plaintext: 'aGVsbG8=' });
});

/** Saves what a button of the page makes. */
async function save(page: Page, button: string, name: string): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(`button:text-is("${button}")`)]);
  const file = join(directory(), name);
  await download.saveAs(file);
  return file;
}

type Verified = { readonly chains: readonly { readonly 'signed-through': number }[]; readonly findings: readonly unknown[] };

function verify(file: string, heads: string): Verified {
  try {
    return JSON.parse(
      execFileSync(keystorectl, ['audit', 'verify', file, '--keys', heads, '-o', 'json'], { encoding: 'utf8' }),
    ) as Verified;
  } catch (error) {
    return JSON.parse((error as { readonly stdout: string }).stdout) as Verified;
  }
}

describe.skipIf(chromiumPath === undefined)('the trail', () => {
  test('shows a day, in the zone in which times are shown', async () => {
    await walks.walk({ to: trail, options: { timezoneId: 'Europe/Vienna' } }, async (page) => {
      const today = new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Vienna', dateStyle: 'short' }).format();
      await page.fill('#audit-day', today);
      await page.dispatchEvent('#audit-day', 'change');
      await page.waitForSelector('td:has-text("encrypted 8 characters with orders, version 1")');
      const chosen = new URL(page.url()).searchParams;
      expect(Date.parse(chosen.get('to') ?? '') - Date.parse(chosen.get('from') ?? '')).toBeGreaterThanOrEqual(23 * 3_600_000);
      expect(await page.inputValue('#audit-day')).toBe(today);
      await page.fill('#audit-day', '2001-02-03');
      await page.dispatchEvent('#audit-day', 'change');
      await page.waitForSelector('.empty');
      expect(new URL(page.url()).searchParams.get('from')).toBe('2001-02-02T23:00:00.000Z');
      await page.check('label:has-text("Times in UTC") input');
      await page.fill('#audit-day', '2001-02-04');
      await page.dispatchEvent('#audit-day', 'change');
      await expect.poll(() => new URL(page.url()).searchParams.get('from')).toBe('2001-02-04T00:00:00.000Z');
    });
  });

  test('keeps filters under a name in this browser, for who kept them', async () => {
    await walks.walk(`${trail}?what=encrypt&since=24h`, async (page) => {
      await page.click('summary:has-text("Kept filters")');
      await page.fill('#saved-name', 'uses of keys');
      await page.click('button:text-is("Keep these filters")');
      await expectAccessible(page);
      await page.goto(`${walks.daemon.url}/ui${trail}`);
      await page.click('summary:has-text("Kept filters")');
      await page.click('a:has-text("uses of keys")');
      await page.waitForSelector('td:has-text("encrypted 8 characters with orders")');
      expect(new URL(page.url()).searchParams.get('what')).toBe('encrypt');
      await page.click('button[aria-label="Drop uses of keys"]');
      await page.waitForSelector('a:has-text("uses of keys")', { state: 'detached' });
    });
  });

  test('is exported with what proves it, and keystorectl finds what was changed or left out afterwards', async () => {
    await walks.walk(`${trail}?what=encrypt&since=24h`, async (page) => {
      await page.waitForSelector('td:has-text("encrypted 8 characters with orders")');
      await page.click('summary:has-text("Export this time")');
      await picture(page, 'light', 'trail-export');
      await expectAccessible(page);
      const rows = readFileSync(await save(page, 'CSV, as filtered', 'rows.csv'), 'utf8')
        .trim()
        .split('\r\n');
      expect(rows[0]).toMatch(/^occurred-at,kind,tenant,user/);
      expect(rows).toHaveLength(2);
      expect(rows[1]).toContain('/transit-keys/orders/encrypt');
      const lines = await save(page, 'JSON lines, all records', 'lines.jsonl');
      const heads = await save(page, 'Keys and signed heads', 'audit-heads.json');
      const verified = verify(lines, heads);
      expect(verified.findings).toEqual([]);
      expect(verified.chains.some((chain) => chain['signed-through'] > 0)).toBe(true);
      const whole = readFileSync(lines, 'utf8');
      const changed = join(directory(), 'changed.jsonl');
      writeFileSync(changed, whole.replace('"name":"orders"', '"name":"others"'));
      expect(verify(changed, heads).findings).not.toEqual([]);
      const all = whole.trimEnd().split('\n');
      const cut = all.findIndex((line) => line.includes('/transit-keys"'));
      writeFileSync(changed, `${all.toSpliced(cut, 1).join('\n')}\n`);
      expect(JSON.stringify(verify(changed, heads).findings)).toMatch(/records? \d+ to \d+ are missing/);
    });
  });
});
