// Copies of files of the trail beside them, as an administrator leaves them: the next start sets them aside, and continues the chain itself.
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSigner, openAll, openTrail, record, TestMemory } from './trail.ts';

const temporary = temporaryDirectory();
const { signHead, keys } = makeSigner();
const [own, earlier] = ['one.000000000001.jsonl', 'earlier'];

async function write(directory: string, memory: TestMemory, numbers: readonly number[]): Promise<void> {
  await openAll(directory, memory, signHead);
  const one = await openTrail(directory, { chain: 'one', signHead, memory });
  const two = await openTrail(directory, { chain: 'two', memory });
  for (const n of numbers) await one.write(record(n));
  await two.close();
  await one.close();
}

test.each([
  ['under the number of a later one', 'one.000000000012.jsonl', own],
  ['of before, under the number of a later one', 'one.000000000012.jsonl', earlier],
  ['under its own number', 'one.000000000001.1.jsonl', own],
  ['of before, under its own number', 'one.000000000001.1.jsonl', earlier],
  ['under the number of an earlier one', 'one.000000000000.jsonl', earlier],
])('a copy %s', async (what, name, from) => {
  const directory = temporary(what.replaceAll(/\W/g, '-'));
  const memory = new TestMemory();
  await write(directory, memory, [1, 2, 3]);
  cpSync(`${directory}/${own}`, `${directory}/${earlier}`);
  await write(directory, memory, [4, 5, 6]);
  cpSync(`${directory}/${from}`, `${directory}/${name}`);
  await write(directory, memory, [7, 8, 9]);
  const { findings, records } = await verifyTrail(directory, keys);
  expect(findings.map(({ problem }) => problem)).toEqual([
    'copies of files of chain one lay beside them and were set aside when the appliance started',
  ]);
  expect(records).toBeGreaterThan(9);
  expect(existsSync(`${directory}/${name}.set-aside`)).toBe(true);
  expect(
    readdirSync(directory)
      .filter((file) => file.endsWith('.jsonl'))
      .toSorted(),
  ).toContain(own);
  // The next start finds nothing.
  await write(directory, memory, [10]);
  expect((await verifyTrail(directory, keys)).findings).toHaveLength(1);
});
