// A process that gives one parser its inputs: node child.ts NAME SEED CASES DIRECTORY. The input that is being read is in DIRECTORY/input, for
// the process that watches; the last line of the output has the outcomes.
import { ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { inputOf, tryInput } from './cases.ts';
import { makeParsers } from './parsers.ts';

const [name, seed, cases, directory = ''] = process.argv.slice(2);
const parser = (await makeParsers(directory)).find((one) => one.name === name);
if (parser === undefined) throw new Error(`no parser is named ${name}`);
const present = openSync(join(directory, 'input'), 'w');
const outcomes = { read: 0, refused: 0 };
for (let number = 0; number < Number(cases); number++) {
  const input = inputOf(parser, Number(seed), number);
  ftruncateSync(present, input.length);
  writeSync(present, input, 0, input.length, 0);
  outcomes[await tryInput(parser, input)]++;
}
console.log(JSON.stringify({ ...outcomes, peakBytes: process.resourceUsage().maxRSS * 1_024 }));
