// Metrics on the overview: the text of Prometheus as numbers.
import { expect, test } from 'vitest';
import { readMetrics, sumOf, type Reading } from '../../../plugins/console/app/api/metrics.ts';

const at = (atMs: number, text: string): Reading => ({ atMs, samples: readMetrics(text) });

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
