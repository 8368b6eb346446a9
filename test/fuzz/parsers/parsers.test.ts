// A few hundred inputs for each parser; npm run soak -- parsers gives them a million, in processes of little memory. FUZZ_SEED chooses the seed.
import { beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { inputOf, tryInput } from './cases.ts';
import type { Parser } from './parser.ts';
import { makeParsers } from './parsers.ts';

const path = temporaryDirectory();
const seed = Number(process.env['FUZZ_SEED'] ?? 5);
const inputs = 200;
let parsers: readonly Parser[];
beforeAll(async () => {
  parsers = await makeParsers(path());
});

test('every parser reads an input that is sound', async () => {
  for (const parser of parsers) {
    const outcomes = await Promise.all(parser.samples.map((sample) => tryInput(parser, sample)));
    expect([parser.name, outcomes]).toEqual([parser.name, expect.arrayContaining(['read'])]);
  }
});

test('every parser reads or refuses changed inputs', async () => {
  const refused = new Set<string>();
  for (const parser of parsers)
    for (let number = 0; number < inputs * (parser.share ?? 1); number++)
      if ((await tryInput(parser, inputOf(parser, seed, number))) === 'refused') refused.add(parser.name);
  // Some answer undefined or a list of findings instead of throwing.
  expect(refused.size).toBeGreaterThan(parsers.length / 2);
});
