// The last hour of the appliance: rates and times between sums over all workers, whatever became of these workers meanwhile.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { TestClock } from '../../harness/clock.ts';
import { keepActivity, type ActivityHistory } from '../../../appliance/monitoring/metrics/activity.ts';
import type { Snapshot } from '../../../appliance/monitoring/metrics/process.ts';

type Counted = { readonly route: string; readonly status: string; readonly count: number };
const keys = '/v1/state/keystore/transit-keys/{name}';

let clock: TestClock;
let counted: readonly Counted[];
let times: Readonly<Record<string, number>>;
let history: ActivityHistory;

/** What one worker would say. */
function snapshot(): Snapshot {
  const values = counted.map(({ route, status, count }) => ({ labels: { method: 'POST', route, status }, value: count }));
  const buckets = [keys, '/v1/state/topics/{topic}'].flatMap((route) =>
    Object.entries(times).map(([le, value]) => ({ metricName: 'keystored_http_request_seconds_bucket', labels: { route, le }, value })),
  );
  return [
    { name: 'keystored_http_requests_total', values },
    { name: 'keystored_http_request_seconds', values: [...buckets, { labels: { route: keys }, value: 1e9 }] },
  ] as unknown as Snapshot;
}

beforeEach(async () => {
  vi.useFakeTimers();
  clock = new TestClock();
  [counted, times] = [[], {}];
  history = keepActivity(async () => [snapshot(), []], clock);
  await vi.advanceTimersByTimeAsync(0);
});
afterEach(() => {
  history.stop();
  vi.useRealTimers();
});

async function pass(seconds: number): Promise<void> {
  clock.advance(seconds);
  await vi.advanceTimersByTimeAsync(seconds * 1_000);
}

describe('the activity', () => {
  test('has nothing to say at the start', async () => {
    await pass(1);
    expect(await history.read()).toEqual({ points: [] });
  });

  test('counts each request once by what it was, and what was refused as that alone', async () => {
    await pass(30);
    counted = [
      { route: `${keys}/encrypt`, status: '200', count: 30 },
      { route: `${keys}/sign-batch`, status: '200', count: 15 },
      { route: `${keys}/sign`, status: '403', count: 3 },
      { route: 'none', status: '404', count: 12 },
    ];
    await pass(30);
    const { points } = await history.read();
    expect(points.map(({ requests, signatures, encryptions, refusals }) => [requests, signatures, encryptions, refusals])).toEqual([
      [0, 0, 0, 0],
      [2, 0.5, 1, 0.5],
    ]);
    expect(points[1]?.from).toBe(points[0]?.until);
  });

  test('ends now, with a point that is shorter', async () => {
    counted = [{ route: keys, status: '200', count: 10 }];
    await pass(5);
    const { points } = await history.read();
    expect(points.map(({ requests }) => requests)).toEqual([2]);
  });

  test('is of time that has passed', async () => {
    await pass(30);
    await vi.advanceTimersByTimeAsync(120_000);
    expect((await history.read()).points).toHaveLength(1);
  });

  test('holds an hour and no more', async () => {
    for (let minute = 0; minute < 130; minute += 1) await pass(30);
    expect((await history.read()).points).toHaveLength(120);
  });
});

describe('the time of a request', () => {
  test('is interpolated in its bucket, of each point and of all, without topics that are followed', async () => {
    times = { '0.001': 0, '0.01': 100, '0.1': 100, '+Inf': 101 };
    await pass(30);
    const { points, medianMilliseconds, p99Milliseconds } = await history.read();
    expect(points[0]?.medianMilliseconds).toBeCloseTo(5.55, 1);
    expect([medianMilliseconds, p99Milliseconds]).toEqual([points[0]?.medianMilliseconds, points[0]?.p99Milliseconds]);
    await pass(30);
    const quiet = (await history.read()).points.at(-1);
    expect(quiet).not.toHaveProperty('medianMilliseconds');
  });

  test('is never above the last bound', async () => {
    times = { '0.1': 0, '+Inf': 4 };
    await pass(30);
    expect((await history.read()).medianMilliseconds).toBe(100);
  });
});
