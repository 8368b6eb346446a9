// Records of one time, saved into one file: proven by the heads among them, and refused when something was changed, left out or put in.
import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { auditKeyId } from '../../../core/audit/keys.ts';
import { verifyExcerpt } from '../../../core/audit/verify.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSigner, openAll, openTrail, record, TestMemory } from './trail.ts';

const directory = temporaryDirectory();
const { signHead, keys } = makeSigner();
/** Lines of both chains, those of the first in the middle of its life. */
let lines: readonly string[];

beforeAll(async () => {
  const trailDirectory = directory('trail');
  const memory = new TestMemory();
  await openAll(trailDirectory, memory, signHead);
  const [one, two] = [
    await openTrail(trailDirectory, { chain: 'one', memory, signHead }),
    await openTrail(trailDirectory, { chain: 'two', memory }),
  ];
  for (let n = 0; n < 10; n += 1) await (n % 2 === 0 ? one : two).write(record(n));
  await two.close();
  await one.close();
  const files = readdirSync(trailDirectory)
    .filter((name) => name.endsWith('.jsonl'))
    .toSorted();
  const all = files.flatMap((name) => readFileSync(join(trailDirectory, name), 'utf8').trimEnd().split('\n'));
  lines = all.filter((line) => !/"chain":"one","sequence":[12],/.test(line));
});

async function findingsOf(content: readonly string[], known = keys): Promise<readonly string[]> {
  const file = directory('excerpt.jsonl');
  writeFileSync(file, content.map((line) => `${line}\n`).join(''));
  return (await verifyExcerpt(file, known)).findings.map(({ problem }) => problem);
}

const at = (text: string): number => lines.findIndex((line) => line.includes(text));

test('records that begin in the middle of their chains are proven by the heads among them', async () => {
  expect(await findingsOf(lines)).toEqual([]);
  writeFileSync(directory('whole.jsonl'), `${lines.join('\n')}\n`);
  const { chains, records } = await verifyExcerpt(directory('whole.jsonl'), keys);
  expect(records).toBe(lines.length);
  expect(chains.find(({ chain }) => chain === 'two')?.signedThrough).toBeGreaterThan(0);
});

test('a record that was changed, left out, put in twice or moved is found', async () => {
  const one = at('"request-id":"request-4"');
  const line = lines[one] ?? '';
  expect(await findingsOf(lines.with(one, line.replace('request-4', 'request-5')))).not.toEqual([]);
  expect(await findingsOf(lines.toSpliced(one, 1))).not.toEqual([]);
  expect(await findingsOf(lines.toSpliced(one, 0, line))).not.toEqual([]);
  expect(await findingsOf([...lines.toSpliced(one, 1), line])).not.toEqual([]);
});

test('lines that no known key has signed are not proven', async () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  expect((await findingsOf(lines, new Map([[auditKeyId(publicKey), publicKey]]))).join()).toMatch(/proves none of it/);
  expect((await findingsOf(lines.filter((line) => !line.includes('"kind":"head"')))).join()).toMatch(/proves none of it/);
});
