// npm test -- cluster: rotations of the wrapping key of three appliances, with one token for all and with a token in each, are cut off at a
// step: every transaction of the shared store about own keys, every own key that a token gets or loses, every copy of the key of the store.
// KILLS_CLUSTER_ROTATIONS says how many times, spread over all steps, or "each".
import { appendFileSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type Kill, RotationDrill, type Shape } from './rotation-drill.ts';

const path = temporaryDirectory();
const wanted = process.env['KILLS_CLUSTER_ROTATIONS'] ?? '3';
const checkEvery = 10;
/** for hours of kills */
const longestMs = 36_000_000;
const results = resolve(import.meta.dirname, '../../dist/soak');

const ways = [
  { moment: 'before', victim: 'appliance' },
  { moment: 'after', victim: 'process' },
  { moment: 'after', victim: 'appliance' },
  { moment: 'before', victim: 'process' },
] as const;

describe.each<Shape>(['one token for all', 'a token in each'])('with %s', (shape) => {
  const directory = shape.replaceAll(' ', '-');
  const record = resolve(results, `kills-cluster-rotations-${directory}.jsonl`);
  let drill: RotationDrill;
  let all: readonly Kill[];

  beforeAll(async () => {
    drill = await RotationDrill.begin((...names) => path(directory, ...names), shape);
    mkdirSync(results, { recursive: true });
    rmSync(record, { force: true });
  });
  afterAll(async () => {
    await drill?.end();
  });

  test('a rotation has steps at each of the appliances', async () => {
    const steps = await drill.steps();
    appendFileSync(record, `${JSON.stringify({ steps })}\n`);
    expect(new Set(steps.map(({ role }) => role)).size).toBe(3);
    all = ways.flatMap((way) => steps.map((step) => ({ ...step, ...way })));
  });

  test(
    `a rotation that is killed at a step (${wanted}) ends, or begins when it is asked for again; every key opens everywhere, and nothing is left`,
    async () => {
      const count = wanted === 'each' ? all.length : Math.min(Number(wanted), all.length);
      const outcomes: Record<string, number> = {};
      for (let turn = 0; turn < count; turn++) {
        const kill = all[Math.floor(((turn + 0.5) * all.length) / count)] as Kill;
        const began = performance.now();
        const outcome = await drill.kill(kill).catch((error: unknown) => {
          appendFileSync(record, `${JSON.stringify({ ...kill, find: String(error).slice(-2_000) })}\n`);
          cpSync(path(directory), `${record}.kept`, { recursive: true, force: true });
          throw error;
        });
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        appendFileSync(record, `${JSON.stringify({ ...kill, outcome, seconds: Math.round((performance.now() - began) / 1_000) })}\n`);
        if ((turn + 1) % checkEvery === 0 || turn === count - 1) await drill.check();
      }
      console.log(`${record}: ${JSON.stringify({ steps: all.length / ways.length, kills: count, ...outcomes })}`);
      // What appliances do at the same time is not in the same order each time.
      expect(outcomes['not reached'] ?? 0).toBeLessThanOrEqual(Math.max(1, count / 5));
    },
    longestMs,
  );
});
