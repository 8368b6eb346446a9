// npm run soak -- parsers: a million changed inputs at the parsers of DER, PEM, SCEP, OpenPGP, JSON, YAML, backups and audit trails, each parser in a
// process of little memory; then some that are drawn by what those before them reached, beside as many that are not. PARSER_CASES,
// PARSER_GUIDED_CASES and FUZZ_SEED choose others.
import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { DrillFigures } from '../../appliance/docs/drills.ts';
import { drillParser, type ParserOutcome } from '../fuzz/parsers/drill.ts';
import { makeParsers } from '../fuzz/parsers/parsers.ts';
import { keepResult } from '../harness/drill-result.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const results = resolve(import.meta.dirname, '../../dist/soak');

test('1,000,000 changed inputs: each is read or refused, in little memory, and none takes for ever', async () => {
  const cases = Number(process.env['PARSER_CASES'] ?? 1_000_000);
  if (cases === 0) return;
  const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 32));
  const parsers = await makeParsers(path('made'));
  const shares = parsers.reduce((sum, { share = 1 }) => sum + share, 0);
  const command = `FUZZ_SEED=${seed} PARSER_CASES=${cases} PARSER_GUIDED_CASES=0 npm run soak -- soak/parsers`;
  await keepResult({ name: 'parsers/blind', command, seed }, async (figures) => {
    const outcomes: ParserOutcome[] = [];
    for (const [index, { name, share = 1 }] of parsers.entries()) {
      const keptInput = resolve(results, `parser-${name.replaceAll(/\W+/g, '-')}-${seed}`);
      const own = Math.ceil((cases * share) / shares);
      const outcome = await drillParser({ name, seed, cases: own, directory: path(String(index)), keptInput });
      console.log(`seed ${seed}, ${name}: ${JSON.stringify(outcome)}`);
      outcomes.push(outcome);
      Object.assign(figures, figuresOf(outcomes));
    }
    expect(figures['inputs']).toBeGreaterThanOrEqual(cases);
  });
}, 7_200_000);

test('what reached new code is changed further: each is read or refused, in little memory, and none takes for ever', async () => {
  const cases = Number(process.env['PARSER_GUIDED_CASES'] ?? 200_000);
  if (cases === 0) return;
  const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 32));
  const parsers = await makeParsers(path('guided'));
  const shares = parsers.reduce((sum, { share = 1 }) => sum + share, 0);
  const command = `FUZZ_SEED=${seed} PARSER_CASES=0 PARSER_GUIDED_CASES=${cases} npm run soak -- soak/parsers`;
  await keepResult({ name: 'parsers/guided', command, seed }, async (figures) => {
    const outcomes: ParserOutcome[] = [];
    for (const [index, { name, share = 1 }] of parsers.entries()) {
      const own = Math.ceil((cases * share) / shares);
      for (const way of ['blind', 'guided'] as const) {
        const keptInput = resolve(results, `parser-${way}-${name.replaceAll(/\W+/g, '-')}-${seed}`);
        const outcome = await drillParser({ name, seed, cases: own, directory: path(`${way}-${index}`), keptInput, way });
        console.log(`seed ${seed}, ${name}, ${way}: ${JSON.stringify(outcome)}`);
        outcomes.push(outcome);
      }
      Object.assign(figures, { ...figuresOf(outcomes), parsers: index + 1 });
    }
    expect(figures['inputs']).toBeGreaterThanOrEqual(2 * cases);
  });
}, 7_200_000);

function figuresOf(outcomes: readonly ParserOutcome[]): DrillFigures {
  const [read, refused] = [outcomes.reduce((sum, one) => sum + one.read, 0), outcomes.reduce((sum, one) => sum + one.refused, 0)];
  const peakMib = Math.round(Math.max(...outcomes.map(({ peakBytes }) => peakBytes)) / 2 ** 20);
  return { inputs: read + refused, parsers: outcomes.length, read, refused, 'most of a process, MiB': peakMib };
}
