// Receivers of the other protocols that fail in every way, and waits that are asked for.
import { describe, expect, test, vi } from 'vitest';
import { ship } from '../destinations.ts';
import { testFaults } from './faults.ts';
import { everyProtocol, httpsHarness, patience } from './harness.ts';

const harness = httpsHarness();
const { at, receive, write, to, confirmed } = harness;

describe.each(everyProtocol.filter((protocol) => protocol !== 'json-lines'))('%s', (protocol) => {
  testFaults(protocol, harness);
});

test('Retry-After is obeyed, in seconds and as a date', async () => {
  await write('wait', 'worker-1', 10);
  const receiver = await receive('json-lines');
  const askedAtMs: number[] = [];
  receiver.onRequest = () => {
    askedAtMs.push(performance.now());
    const inTwoSeconds = new Date(Date.now() + 2_000).toUTCString();
    return [
      { status: 503, headers: { 'retry-after': '1' } },
      { status: 429, headers: { 'retry-after': inTwoSeconds } },
    ][askedAtMs.length - 1];
  };
  ship(at('wait'), to(receiver, 'json-lines'));
  await vi.waitFor(() => expect(confirmed('wait')).toBe(10), patience);
  const [first = 0, second = 0, third = 0] = askedAtMs;
  expect(second - first).toBeGreaterThan(950);
  // The date has no fractions of a second.
  expect(third - second).toBeGreaterThan(900);
});
