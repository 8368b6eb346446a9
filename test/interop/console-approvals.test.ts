// Approvals in the console, in Chromium: the head counts what waits, the page shows what is and what is wanted, and nobody approves before
// the six words were compared.
import type { Browser as Chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type People, rule, rulePath, startPeople } from '../core/approvals/people.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath, launchChromium } from '../plugins/oidc/chromium.ts';
import { expectAccessible, openPage, picture, signInWithToken, watchTraffic } from './console-browser.ts';

const path = temporaryDirectory();
const key = '/v1/config/keystore/transit-keys/payments';
let people: People;
let chromium: Chromium;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  people = await startPeople(path());
  await people.as('root', 'POST', '/v1/config/keystore/transit-keys', { name: 'payments' });
  await people.as('root', 'POST', rulePath, rule('key-material', { needed: 1 }));
  chromium = await launchChromium();
});
afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chromium.close();
  await people.appliance.close();
});

test.skipIf(chromiumPath === undefined)(
  'an approver sees in the head that a request waits, compares the words, approves it, and takes that back until it is sent',
  async () => {
    const asked = await people.ask('asker', 'PATCH', key, { 'deletion-allowed': true });
    expect(asked.status).toBe(202);
    const { context, page, faults } = await openPage(chromium);
    const traffic = watchTraffic(page);
    await signInWithToken(page, people.appliance.url, people.tokens['anna'] ?? '');
    await page.waitForSelector('.needs .count.some');
    await page.click('.needs summary');
    await picture(page, 'light', 'needs');
    await expectAccessible(page);
    await page.click('.needs a:has-text("1 request waits for your approval")');
    await page.click('tbody th a');
    await page.waitForSelector('h2:has-text("asker asks to do this")');
    const row = page.locator('tr:has-text("Deletion allowed")');
    expect((await row.innerText()).replaceAll(/\s+/g, ' ')).toBe('Deletion allowed false true');
    expect((await page.textContent('.six-words'))?.trim().split(' ')).toHaveLength(6);
    const approve = page.locator('button:text-is("Approve exactly this")');
    expect(await approve.isDisabled()).toBe(true);
    await picture(page, 'light', 'approval');
    await expectAccessible(page);
    await page.check('label:has-text("read out the same words") input');
    await approve.click();
    await page.waitForSelector('.chip:has-text("granted")');
    await page.click('button:text-is("Take my decision back")');
    await page.waitForSelector('.chip:has-text("open")');
    await page.waitForSelector('button:text-is("Take my decision back")', { state: 'detached' });
    expect((await people.as('asker', 'PATCH', key, { 'deletion-allowed': true }, { approval: String(asked.body.id) })).status).toBe(409);
    await page.check('label:has-text("read out the same words") input');
    await approve.click();
    await page.waitForSelector('.chip:has-text("granted")');
    expect((await people.as('asker', 'PATCH', key, { 'deletion-allowed': true }, { approval: String(asked.body.id) })).status).toBe(204);
    expect([...faults, ...traffic.faults]).toEqual([]);
    await context.close();
  },
);
