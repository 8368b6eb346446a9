// Metrics on the overview: the text of Prometheus as numbers, rates between two readings, and quantiles of histograms.
import { describe, expect, test } from 'vitest';
import { quantilesOf, rateOf, readMetrics, sumOf, type Reading } from '../../../plugins/console/app/api/metrics.ts';

const at = (atMs: number, text: string): Reading => ({ atMs, samples: readMetrics(text) });
const everything = (): boolean => true;

test('samples are read with their labels, whatever is in them', () => {
  const text = [
    '# HELP a What it is',
    '# TYPE a counter',
    'a{route="/v1/x/{name}",tenant="a\\"b\\\\c\\nd"} 3',
    'b 1.5e3',
    'c{le="+Inf"} 7 1700000000000',
    'd NaN',
    'nonsense',
    '',
  ].join('\n');
  expect(readMetrics(text)).toEqual([
    { name: 'a', labels: { route: '/v1/x/{name}', tenant: 'a"b\\c\nd' }, value: 3 },
    { name: 'b', labels: {}, value: 1_500 },
    { name: 'c', labels: { le: '+Inf' }, value: 7 },
  ]);
});

test('a metric that is not there has no sum, and one that is zero has', () => {
  const reading = at(0, 'a{x="1"} 0\na{x="2"} 0');
  expect([sumOf(reading, 'a'), sumOf(reading, 'b'), sumOf(reading, 'a', ({ x }) => x === '3')]).toEqual([0, undefined, undefined]);
});

describe('a rate', () => {
  test('is the growth a second, of the series that are picked', () => {
    const [before, after] = [at(1_000, 'a{s="200"} 10\na{s="403"} 1'), at(11_000, 'a{s="200"} 30\na{s="403"} 6\na{s="500"} 5')];
    expect(rateOf(before, after, 'a')).toBe(3);
    expect(rateOf(before, after, 'a', ({ s = '' }) => /^[45]/.test(s))).toBe(1);
  });

  test('counts from zero when the counter began again', () => {
    expect(rateOf(at(0, 'a 100'), at(1_000, 'a 4'), 'a')).toBe(4);
  });
});

describe('quantiles', () => {
  const buckets = (counts: readonly number[]): string =>
    ['0.001', '0.01', '0.1', '+Inf'].map((le, index) => `t_bucket{le="${le}"} ${counts[index] ?? 0}`).join('\n');

  test('are interpolated in the bucket, and never above the last bound', () => {
    const found = quantilesOf(undefined, at(0, buckets([0, 100, 100, 101])), 't', [0.5, 0.999_9], everything);
    expect(found?.[0]).toBeCloseTo(0.001 + 0.009 * 0.505, 6);
    expect(found?.[1]).toBe(0.1);
  });

  test('are of the time between two readings', () => {
    const [before, after] = [at(0, buckets([100, 100, 100, 100])), at(1, buckets([100, 100, 200, 200]))];
    const [median = 0] = quantilesOf(before, after, 't', [0.5], everything) ?? [];
    expect(median).toBeCloseTo(0.055, 6);
  });

  test('are unknown where nothing was counted', () => {
    const reading = at(0, buckets([5, 5, 5, 5]));
    expect(quantilesOf(reading, reading, 't', [0.5], everything)).toBeUndefined();
    expect(quantilesOf(undefined, at(0, ''), 't', [0.5], everything)).toBeUndefined();
  });
});
