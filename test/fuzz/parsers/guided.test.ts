// Drawing by what inputs reach: it finds what only several changes one after another lead to.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { guide } from './guided.ts';

const path = temporaryDirectory();

/** Its branches are one inside of the other: a change in the wrong place leads out of all of them. */
const source = `exports.read = (octets) => {
  let depth = 0;
  if (octets[0] === 0x81) {
    depth = 1;
    if (octets[1] === 0x1f) {
      depth = 2;
      if (octets[2] === 0xa0) {
        depth = 3;
        if (octets[3] === 0x84) depth = 4;
      }
    }
  }
  return depth;
};
`;

test('what reached something new is changed further, and leads to where blind changes do not come', async () => {
  writeFileSync(path('gates.cjs'), source);
  const gates = createRequire(import.meta.url)(path('gates.cjs')) as { read(octets: Buffer): number };
  const deepest = async (isBlind: boolean): Promise<number> => {
    let most = 0;
    const parser = { name: 'gates', samples: [Buffer.from('----')], words: [], read: (octets: Buffer) => gates.read(octets) };
    await guide(parser, { seed: 7, cases: 12_000, isBlind }, async (input) => (most = Math.max(most, gates.read(input))));
    return most;
  };
  expect([await deepest(true), await deepest(false)]).toEqual([expect.toSatisfy((depth: number) => depth < 4), 4]);
});
