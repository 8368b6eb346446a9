// Results of drills are data: a drill writes its entry, with what it found, and the page says what the file says.
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { drillsPage, formatDrills, parseDrills } from '../../../appliance/docs/drills.ts';
import { keepResult } from '../../harness/drill-result.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const file = path('results.json');
const read = (): ReturnType<typeof parseDrills> => parseDrills(readFileSync(file, 'utf8'));

beforeEach(() => {
  vi.stubEnv('DRILL_RESULTS', file);
  writeFileSync(file, formatDrills({ steady: { command: 'npm run soak -- steady', seed: 7, commit: 'abc1234', figures: { changes: 1 } } }));
});
afterEach(() => vi.unstubAllEnvs());

describe('a drill', () => {
  const kills = { name: 'kills/processes', command: 'KILLS_SEED=5 npm run soak -- kills', seed: 5 } as const;

  test('writes command, seed, commit, day and figures beside the results of others', async () => {
    await keepResult(kills, async (figures) => {
      figures['kills'] = 12;
      await Promise.resolve();
    });
    const { steady, 'kills/processes': kept } = read();
    expect(steady?.figures).toEqual({ changes: 1 });
    expect(kept).toEqual({
      ...{ command: kills.command, seed: 5, figures: { kills: 12 } },
      commit: expect.stringMatching(/^[0-9a-f]{7,40}(?:-dirty)?$/) as unknown,
      on: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/) as unknown,
    });
  });

  test('that ends with a find writes the find and the figures until then, and stays red', async () => {
    const drill = keepResult(kills, (figures) => {
      figures['kills'] = 3;
      return Promise.reject(new Error('a key is gone\nmore of it'));
    });
    await expect(drill).rejects.toThrow('a key is gone');
    expect(read()['kills/processes']).toMatchObject({ found: 'a key is gone', figures: { kills: 3 } });
  });
});

describe('the page', () => {
  const one = { command: 'npm run soak -- steady', commit: 'abc1234' };

  test('has a row for each kept result, and names the drills without one', () => {
    const page = drillsPage({ steady: { ...one, on: '2026-01-02', figures: { changes: 12_345, 'latency, ms': 3.3 } } });
    expect(page).toMatch(
      /\| \*\*steady\*\*: .* \| held \| changes 12,345; latency, ms 3\.3 \| `npm run soak -- steady` \| abc1234, 2026-01-02 \|/,
    );
    expect(page).toMatch(/No result is kept of .*`kills\/processes`/);
    expect(page).not.toMatch(/No result is kept of .*`steady`/);
  });

  test('says of a find what it was, and of a drill that was ended by hand that it was', () => {
    expect(drillsPage({ steady: { ...one, found: 'memory | grows', figures: {} } })).toContain('ended with a find: memory \\| grows');
    expect(drillsPage({ steady: { ...one, stopped: true, figures: {} } })).toContain('held until it was ended by hand');
  });

  test('is not made of a result of an unknown drill, or without a commit', () => {
    expect(() => parseDrills(JSON.stringify({ unheard: { ...one, figures: {} } }))).toThrow(/unheard/);
    expect(() => parseDrills(JSON.stringify({ steady: { command: 'x', figures: {} } }))).toThrow(/commit/);
  });
});
