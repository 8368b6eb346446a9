// Limits on starting logins: R20.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../setup/temporary.ts';
import { startHouse, textOf, type House } from './house.ts';

const path = temporaryDirectory();
let house: House;

beforeAll(async () => {
  house = await startHouse(path(), { startsPerMinute: 12, pendingLogins: 10 });
  await house.setService();
});
afterAll(() => house.close());

test('R20: over all tenants new logins are refused, then an address that starts too many', async () => {
  const browser = house.browser();
  const answers = [];
  for (let count = 0; count < 13; count += 1) answers.push(await browser.get('/login/system/corp'));
  expect(answers.map(({ status }) => status)).toEqual([...Array<number>(10).fill(303), 503, 503, 429]);
  expect(textOf(answers[10]?.body)).toContain('Too many sign-ins at once');
  expect(answers[10]?.headers['retry-after']).toBe('60');
  expect(textOf(answers[12]?.body)).toContain('Too many attempts');
  expect(Number(answers[12]?.headers['retry-after'])).toBeGreaterThan(0);
  house.clock.advance(30);
  expect((await browser.get('/login/system/corp')).status).toBe(503);
});
