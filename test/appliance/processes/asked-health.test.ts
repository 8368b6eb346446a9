// A worker that is late is not one that hangs: health is 503 for none that has just begun, and for one answer that did not come in time.
import { expect, test } from 'vitest';
import { mergeHealth } from '../../../appliance/monitoring/health-of-workers.ts';
import { Unanswered } from '../../../appliance/processes/channel.ts';
import { AskedHealth } from '../../../appliance/processes/watch/asked-health.ts';

const parts = [{ name: 'audit', state: 'up' }] as const;
let nowMs = 0;
const answers = () => Promise.resolve(parts);
const silent = () => {
  nowMs += 1_000;
  return Promise.reject(new Unanswered('does not answer'));
};
const hinders = async (asked: AskedHealth, ask: () => Promise<typeof parts>): Promise<boolean> =>
  mergeHealth([{ worker: 1, ...(await asked.report(ask, false)) }]).some((part) => part.hinders === true);

test('one that has never answered is starting, for half a minute', async () => {
  const asked = new AskedHealth(() => nowMs);
  for (let second = 0; second < 29; second++) expect(await hinders(asked, silent)).toBe(false);
  expect(await hinders(asked, silent)).toBe(true);
  expect(await hinders(asked, answers)).toBe(false);
});

test('an answer that is late repeats the one before; the third in a row is a hang, until one comes', async () => {
  const asked = new AskedHealth(() => nowMs);
  await asked.report(answers, false);
  for (let round = 0; round < 3; round++) {
    expect(await asked.report(silent, false)).toEqual({ parts });
    expect(await hinders(asked, silent)).toBe(false);
    expect(await asked.report(silent, false)).toEqual({ fault: 'does not answer', hangs: true });
    expect(await hinders(asked, answers)).toBe(false);
  }
});

test('misses that many asked for at once are no hang, and the end of a worker is told at once', async () => {
  const asked = new AskedHealth(() => nowMs);
  await asked.report(answers, false);
  const late = () => Promise.reject(new Unanswered('does not answer'));
  for (let request = 0; request < 50; request++) expect(await hinders(asked, late)).toBe(false);
  expect(await hinders(asked, () => Promise.reject(new Unanswered('has ended', true)))).toBe(true);
});
