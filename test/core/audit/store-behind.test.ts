// The audit trail names revisions of the store: a start finds out that the store lacks changes that were acknowledged.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordedRevision } from '../../../core/audit/examine.ts';
import { openChains } from '../../../core/audit/opening.ts';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { systemClock } from '../../../core/base/time.ts';
import { defined } from '../../../core/base/defined.ts';
import { Secret } from '../../../core/base/secret.ts';
import { openStore } from '../../../core/store/open.ts';
import { memoryIn } from '../../../appliance/audit/chain-records.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSigner, openTrail, quiet, record, TestMemory } from './trail.ts';

const temporary = temporaryDirectory();
const { signHead, keys } = makeSigner();
const dataKey = new Secret(new Uint8Array(32).fill(1));

/** A start, so many changes of the store, each with its record, and an end without a stop. */
async function live(name: string, changes: number): Promise<void> {
  const [directory, data] = [temporary(`${name}-trail`), temporary(`${name}-store`)];
  const store = await openStore({ directory: data, dataKey });
  const memory = memoryIn(store);
  const chains = ['main', 'other'] as const;
  await openChains({
    ...{ directory, chains, memory, signHead, clock: systemClock, log: quiet },
    ...defined({ storeRevision: store.openedAt }),
    raiseStore: (revision) => store.goOnAfter(revision),
  });
  const trail = await openTrail(directory, { signHead, memory, storeRevision: () => store.committed });
  const things = store.table<number>('things');
  for (let n = 1; n <= changes; n++) {
    await store.write((transaction) => transaction.put(things, [n], n));
    await trail.write(record(n));
    // A use changes nothing.
    await trail.write(record(100 + n));
  }
  await store.close();
  await trail.close();
}

async function findings(name: string): Promise<readonly string[]> {
  return (await verifyTrail(temporary(`${name}-trail`), keys)).findings.map(({ problem }) => problem);
}

test('a store that lost its last change, or was brought back alone, is found out by the next start, once', async () => {
  await live('lost', 3);
  cpSync(temporary('lost-store'), temporary('lost-earlier'), { recursive: true });
  await live('lost', 1);
  rmSync(temporary('lost-store'), { recursive: true });
  cpSync(temporary('lost-earlier'), temporary('lost-store'), { recursive: true });
  await live('lost', 1);
  const [found, ...more] = await findings('lost');
  expect(found).toMatch(/^the store had revision \d+ when the appliance started, and revision \d+ is on record: /);
  expect(more).toEqual([]);
  await live('lost', 1);
  expect(await findings('lost')).toHaveLength(1);
});

test('a store that kept everything, or more than is on record, is not complained about', async () => {
  await live('whole', 2);
  const store = await openStore({ directory: temporary('whole-store'), dataKey });
  await store.write((transaction) => transaction.put(store.table<number>('things'), [9], 9));
  await store.close();
  await live('whole', 2);
  await live('whole', 0);
  expect(await findings('whole')).toEqual([]);
});

test('after an earlier store was brought back, revisions go on above those on record', async () => {
  await live('raised', 1);
  cpSync(temporary('raised-store'), temporary('raised-earlier'), { recursive: true });
  await live('raised', 5);
  const before = await recordedRevision(temporary('raised-trail'), () => true);
  rmSync(temporary('raised-store'), { recursive: true });
  cpSync(temporary('raised-earlier'), temporary('raised-store'), { recursive: true });
  await live('raised', 1);
  expect(await recordedRevision(temporary('raised-trail'), () => true)).toBeGreaterThan(before);
  expect(await findings('raised')).toEqual([expect.stringContaining('when the appliance started')]);
});

test('a chain of somebody else, and a revision that no store reaches, say nothing of the own store', async () => {
  await live('foreign', 1);
  const trail = temporary('foreign-trail');
  expect(await recordedRevision(trail, (chain) => chain !== 'main')).toBe(0);
  const own = await recordedRevision(trail, () => true);
  const [name = ''] = readdirSync(trail).filter((file) => file.startsWith('main'));
  const line = readFileSync(join(trail, name), 'utf8')
    .split('\n')
    .findLast((one) => one.includes('"store-revision":')) as string;
  for (const [number, revision] of ['1e300', '9007199254740992', '-5', '"x"'].entries())
    writeFileSync(
      join(trail, `made${number}.000000000001.jsonl`),
      `${line.replace(/"store-revision":\d+/, `"store-revision":${revision}`)}\n`,
    );
  expect(await recordedRevision(trail, () => true)).toBe(own);
});

test('a store that went back while the appliance ran is found in the trail', async () => {
  const directory = temporary('running-trail');
  let committed = 7;
  const memory = new TestMemory();
  await openChains({ directory, chains: ['main'], memory, signHead, clock: systemClock, log: quiet });
  const trail = await openTrail(directory, { signHead, memory, storeRevision: () => committed });
  await trail.write(record(1));
  await trail.write(record(2));
  expect((await verifyTrail(directory, keys)).findings).toEqual([]);
  committed = 5;
  await trail.write(record(3));
  await trail.close();
  const problems = (await verifyTrail(directory, keys)).findings.map(({ problem }) => problem);
  expect(problems).toEqual([expect.stringMatching(/^record \d+ names revision 5 of the store, and record \d+ before it 7: /)]);
});
