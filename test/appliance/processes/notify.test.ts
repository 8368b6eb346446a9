// What systemd hears while the appliance has no workers on purpose.
import { expect, test } from 'vitest';
import { type Examine, keepWatch } from '../../../appliance/processes/watch/notify.ts';

test('an appliance that becomes a member of a cluster is alive without workers, and one whose workers are unfit is not', async () => {
  let found: Awaited<ReturnType<Examine>> = { instead: 'becoming a member of a cluster' };
  const heard: string[] = [];
  const end = await keepWatch(
    (message) => heard.push(message),
    async () => found,
    { WATCHDOG_USEC: '90000' },
  );
  await expect.poll(() => heard.length).toBeGreaterThan(1);
  expect(new Set(heard)).toEqual(new Set(['WATCHDOG=1\nSTATUS=becoming a member of a cluster']));
  found = ['worker 1 is starting'];
  await expect.poll(() => heard.at(-1)).toBe('STATUS=worker 1 is starting');
  found = [];
  await expect.poll(() => heard.at(-1)).toBe('READY=1\nWATCHDOG=1\nSTATUS=serving');
  end();
  expect(heard.at(-1)).toMatch(/^STOPPING=1\n/);
});
