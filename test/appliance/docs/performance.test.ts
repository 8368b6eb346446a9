// The page of performance is made from figures: it says what they say, shows what they have, and refuses what it does not know.
import { describe, expect, test } from 'vitest';
import { drawBars } from '../../../appliance/docs/performance/bar-chart.ts';
import { type ActionRow, type Figures, parseFigures } from '../../../appliance/docs/performance/figures.ts';
import { formatFigures } from '../../harness/figures.ts';
import { fillPage } from '../../../appliance/docs/performance/page.ts';
import { drawPictures } from '../../../appliance/docs/performance/pictures.ts';
import { formatAims } from '../../bench/aims.ts';
import { allWorkers } from '../../bench/measure/bench.ts';

const load = { perSecond: 5_000, p50Ms: 0.5, p99Ms: 2, micros: 200 };
const row = (operation: string, items: number, connections: number): ActionRow => ({
  ...{ operation, items, connections, workers: allWorkers },
  appliance: { ...load, tokenMicros: 50 },
  ...{ openBao: load, rateToOpenBao: 1.25, timeToOpenBao: 1, echo: { ...load, micros: 40 } },
  ...{ token: { micros: 7, p50Ms: 0.01 }, disk: { p50Ms: 0.2, p99Ms: 1 } },
  ...{ echoShare: 0.2, tokenShare: 0.3, latencyToFloor: 1.4 },
});
const machine = {
  ...{ processor: 'Example <1>', cores: 2, memoryGib: 8, kernel: '6.1', fileSystem: 'ext4', node: 'v26', module: 'SoftHSM 2.6.1' },
  ...{ openBao: 'v2.6.2', loadBefore: 0.1 },
};
const circumstances = { measuredOn: '2026-01-02', rounds: 3, seconds: 1, machine };
const rows = [1, 16, 64].flatMap((connections) => [row('encrypt', 1, connections), row('encrypt x 100', 100, connections)]);
const figures: Figures = {
  actions: { ...circumstances, found: { auditRecordOctets: 600, rows } },
  memory: {
    ...circumstances,
    found: {
      appliance: [{ process: 'worker', idleMib: 90, loadedMib: 120, restMib: 80, kinds: { heap: 70, malloc: 25, store: 5, code: 20 } }],
    },
  },
};

const marks = ['machine', 'per-core', 'rates', 'latency', 'processor-time', 'keys', 'other-work', 'memory', 'cluster'];
const page = marks.map((name) => `<!-- figures: ${name} -->\nold\n<!-- end -->\n`).join('by people\n');

describe('a file of figures', () => {
  test('is read as it was written, with four digits', () => {
    expect(parseFigures(formatFigures(figures))).toEqual(figures);
    expect(formatFigures({ actions: { ...circumstances, found: { auditRecordOctets: 1 / 3, rows: [] } } })).toContain('0.3333,');
  });

  test('with unknown members is refused', () => {
    expect(() => parseFigures('{"actoins":{}}')).toThrow('actoins');
  });
});

describe('the page', () => {
  test('has the figures between its marks and keeps the rest', () => {
    const filled = fillPage(page, figures);
    expect(filled).not.toContain('old');
    expect(filled.split('by people')).toHaveLength(marks.length);
    expect(filled).toContain('| encrypt, batch of 100 | 500,000 | 2 | 0.5 |');
    expect(filled).toContain('2026-01-02, 2 cores');
  });

  test('filled twice is the same', () => {
    expect(fillPage(fillPage(page, figures), figures)).toBe(fillPage(page, figures));
  });

  test('says how to measure what was not measured', () => {
    expect(fillPage(page, {}).match(/Not measured yet/g)).toHaveLength(marks.length);
  });

  test('with a mark too many or too few is refused', () => {
    expect(() => fillPage(`${page}<!-- figures: other -->\n<!-- end -->`, {})).toThrow('other');
    expect(() => fillPage('', {})).toThrow('machine');
  });
});

describe('pictures', () => {
  test('are drawn of what was measured only, and are the files that the page shows', () => {
    const drawn = Object.keys(drawPictures(figures));
    expect(drawn).toEqual(['rates', 'processor-time', 'latency', 'memory']);
    const shown = [...fillPage(page, figures).matchAll(/\]\(performance\/(.+?)\.svg\)/g)].map(([, name]) => name);
    expect(new Set(shown)).toEqual(new Set(drawn));
    expect(drawPictures({})).toEqual({});
  });

  test('have bars in proportion, and text that is escaped', () => {
    const bar = (value: number) => ({ parts: [{ series: 0, value }], text: '<&>' });
    const svg = drawBars({ title: 'a < b', subtitle: '', series: ['one'], groups: [{ label: 'l', bars: [bar(1), bar(4)] }] });
    const widths = [...svg.matchAll(/<rect class="s0" x="190" y="\d+" width="([\d.]+)"/g)].map(([, width]) => Number(width));
    expect(widths).toEqual([110, 440]);
    expect(svg).toContain('a &lt; b');
    expect(svg).toContain('&lt;&amp;&gt;');
  });
});

describe('the table of aims', () => {
  test('says what the figures say, and nothing of what was not measured', () => {
    const table = formatAims(figures).join('\n');
    expect(table).toContain("| one connection | encrypt: rate to OpenBao's | above 1 | 1.25 | yes |");
    expect(table).toContain('| at most 1.3 | 1.40 | no |');
    expect(table).toContain("| memory | PSS of all processes after a load, and OpenBao's | at most 300 MiB | 120 MiB | yes |");
    expect(table).toMatch(/guard .* \| - \|\s+\|/);
  });
});
