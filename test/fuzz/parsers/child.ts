// A process that gives one parser its inputs: node child.ts NAME SEED CASES DIRECTORY [blind|guided]. The input that is being read is in DIRECTORY/input, for
// the process that watches; the last line of the output has the outcomes. With a fifth word it also says how much of the sources they reached.
import { ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { inputOf, tryInput } from './cases.ts';
import { guide } from './guided.ts';
import { makeParsers } from './parsers.ts';

const [name, seed, cases, directory = '', way] = process.argv.slice(2);
const parser = (await makeParsers(directory)).find((one) => one.name === name);
if (parser === undefined) throw new Error(`no parser is named ${name}`);
const present = openSync(join(directory, 'input'), 'w');
const outcomes = { read: 0, refused: 0 };
const give = async (input: Buffer): Promise<void> => {
  ftruncateSync(present, input.length);
  writeSync(present, input, 0, input.length, 0);
  outcomes[await tryInput(parser, input)]++;
};
let reached = {};
if (way === undefined) for (let number = 0; number < Number(cases); number++) await give(inputOf(parser, Number(seed), number));
else reached = await guide(parser, { seed: Number(seed), cases: Number(cases), isBlind: way === 'blind' }, give);
console.log(JSON.stringify({ ...outcomes, ...reached, peakBytes: process.resourceUsage().maxRSS * 1_024 }));
