// The first opening of a trail, cut off at each change of what is remembered: the next start finds nothing to tell of.
import { expect, test } from 'vitest';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSigner, openAll, TestMemory } from './trail.ts';

const temporary = temporaryDirectory();
const { signHead, keys } = makeSigner();

/** Changes of the memory in one opening of a new trail. */
async function countChanges(): Promise<number> {
  const memory = new TestMemory();
  let changes = 0;
  memory.isAlive = () => (changes += 1) > 0;
  await openAll(temporary('count'), memory, signHead);
  return changes;
}

test('at each of them', async () => {
  const all = await countChanges();
  expect(all).toBeGreaterThan(1);
  for (let cut = 1; cut <= all; cut += 1) {
    const [directory, memory] = [temporary(`cut-${cut}`), new TestMemory()];
    let left = cut;
    memory.isAlive = () => (left -= 1) > 0;
    await expect(openAll(directory, memory, signHead)).rejects.toThrow('killed');
    memory.isAlive = () => true;
    await openAll(directory, memory, signHead);
    const { findings } = await verifyTrail(directory, keys);
    expect({ cut, findings }).toEqual({ cut, findings: [] });
  }
});
