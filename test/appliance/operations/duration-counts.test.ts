// Series made of counts that are kept without prom-client: as it would have made them, summed over all workers.
import { expect, test } from 'vitest';
import { formatMetrics, measureProcess } from '../../../appliance/monitoring/metrics/process.ts';
import type { Answered } from '../../../core/http/context/request-context.ts';
import type { Hsm } from '../../../hsm/api.ts';

const hsm = { selfTest: () => Promise.resolve([]), status: () => [] } as unknown as Hsm;

/** The lines of these metrics, after two processes have answered these requests. */
async function linesOf(perProcess: readonly (readonly Answered[])[], name: string): Promise<string[]> {
  const snapshots = await Promise.all(
    perProcess.map(async (answers) => {
      const metrics = measureProcess(hsm);
      for (const answered of answers) metrics.onAnswered(answered);
      const snapshot = await metrics.snapshot();
      metrics.stop();
      return structuredClone(snapshot);
    }),
  );
  const { text } = await formatMetrics(snapshots);
  return text.split('\n').filter((line) => line.startsWith(name) || line.startsWith(`# TYPE ${name}`));
}

const at = (seconds: number, more: Partial<Answered> = {}): Answered => ({ method: 'GET', route: '/v1/a', status: 200, seconds, ...more });

test('requests count by method, route and status, over all processes', async () => {
  const answers = [
    [at(0.1), at(0.1), at(0.1, { status: 404 })],
    [at(0.1), at(0.1, { method: 'any', route: undefined, status: 404 })],
  ];
  expect(await linesOf(answers, 'keystored_http_requests_total')).toEqual([
    '# TYPE keystored_http_requests_total counter',
    'keystored_http_requests_total{method="GET",route="/v1/a",status="200"} 3',
    'keystored_http_requests_total{method="GET",route="/v1/a",status="404"} 1',
    'keystored_http_requests_total{method="any",route="none",status="404"} 1',
  ]);
});

test('times are in buckets that contain the smaller ones; a time at a bound is in it, one above all in the last alone', async () => {
  const lines = await linesOf(
    [
      [at(0.0001), at(0.0005), at(2 ** -8)],
      [at(10), at(11), at(1, { route: undefined })],
    ],
    'keystored_http_request_seconds',
  );
  const bucket = (le: string, count: number): string =>
    `keystored_http_request_seconds_bucket{method="GET",route="/v1/a",le="${le}"} ${count}`;
  const order = (line: string): string => line.replace(/\{(.*)\}/, (_all, labels: string) => `{${labels.split(',').sort().join(',')}}`);
  expect(lines.map(order)).toEqual(
    [
      '# TYPE keystored_http_request_seconds histogram',
      ...[bucket('0.0005', 2), bucket('0.001', 2), bucket('0.0025', 2)],
      ...['0.005', '0.01', '0.025', '0.05', '0.1', '0.25', '0.5', '1', '2.5'].map((le) => bucket(le, 3)),
      ...[bucket('10', 4), bucket('+Inf', 5)],
      `keystored_http_request_seconds_sum{method="GET",route="/v1/a"} ${Math.round((0.0001 + 0.0005 + 2 ** -8 + 21) * 2 ** 20) / 2 ** 20}`,
      'keystored_http_request_seconds_count{method="GET",route="/v1/a"} 5',
    ].map(order),
  );
});

test('a sum of seconds is the same in every order of the processes: one that falls by its last bit counts as a restart', async () => {
  expect(0.1 + 0.2 + 0.3).not.toBe(0.3 + 0.2 + 0.1);
  const orders = [
    [0.1, 0.2, 0.3],
    [0.3, 0.2, 0.1],
    [0.2, 0.1, 0.3],
  ];
  const sums = await Promise.all(
    orders.map(
      async (order) =>
        (
          await linesOf(
            order.map((seconds) => [at(seconds)]),
            'keystored_http_request_seconds_sum',
          )
        )[0],
    ),
  );
  expect(sums[0]).toMatch(/ 0[.](?:59999|60000)/);
  expect(new Set(sums).size).toBe(1);
});

test('audit writes are timed once for records that are written together', async () => {
  const metrics = measureProcess(hsm);
  const written = Promise.resolve();
  const audit = metrics.measured({ write: () => written, writable: true });
  await Promise.all([1, 2, 3].map(() => audit.write({ kind: 'system', occurredAt: '', requestId: '' })));
  const { text } = await formatMetrics([await metrics.snapshot()]);
  metrics.stop();
  expect(text).toContain('keystored_audit_write_seconds_count 1\n');
});
