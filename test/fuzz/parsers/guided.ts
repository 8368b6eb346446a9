// Inputs that are drawn by what those before them reached: one that made something run which had not run before is changed further itself.
import { Dice } from '../cases.ts';
import { Coverage } from './coverage.ts';
import { drawInput } from './mutations.ts';
import type { Parser } from './parser.ts';

/** Coverage is taken after so many inputs, since that costs more than they do; those of a batch that reached something new run again, one by one. */
const batchInputs = 64;
/** Beside the sound ones; then one of them makes room. */
const mostKept = 400;
const longestKept = 32 * 1_024;
/** of inputs that are drawn from sound ones, however many others there are */
const shareOfSound = 0.2;

export type Guided = { readonly kept: number; readonly characters: number };

/** Gives the parser so many inputs, through `give`. `isBlind`: they are drawn from sound ones only, and what they reach is only counted. */
export async function guide(
  parser: Parser,
  { seed, cases, isBlind }: { readonly seed: number; readonly cases: number; readonly isBlind: boolean },
  give: (input: Buffer) => Promise<unknown>,
): Promise<Guided> {
  const dice = new Dice(seed);
  const coverage = await Coverage.start();
  const { samples, words } = parser;
  for (const sample of samples) await give(sample);
  coverage.add(await coverage.take());
  const kept: Buffer[] = [];
  for (let done = 0; done < cases; done += batchInputs) {
    const batch = Array.from({ length: Math.min(batchInputs, cases - done) }, () => {
      const isFromSound = isBlind || kept.length === 0 || dice.chance(shareOfSound);
      return drawInput(dice, { samples: isFromSound ? samples : kept, words });
    });
    for (const input of batch) await give(input);
    const reached = await coverage.take();
    if (!isBlind && coverage.isNew(reached)) {
      for (const input of batch) {
        await give(input);
        if (coverage.add(await coverage.take()) === 0 || input.length > longestKept) continue;
        if (kept.length >= mostKept) kept.splice(dice.below(kept.length), 1);
        kept.push(input);
      }
    }
    coverage.add(reached);
  }
  return { kept: kept.length, characters: coverage.characters };
}
