// Every page of a store, damaged in each way: LMDB would end the process over it, or answer from it.
import { closeSync, cpSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../core/base/secret.ts';
import { Environment } from '../../../core/store/environment.ts';
import { StoreDamaged } from '../../../core/store/files/store-damaged.ts';
import { requireSoundPages } from '../../../core/store/files/walk.ts';
import { openStore, type OpenStore } from '../../../core/store/open.ts';
import { raiseRevision, revisionKey, revisionOf } from '../../../core/store/revision.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const pageBytes = 4_096;
const open = (directory: string): Promise<OpenStore> => openStore({ directory, dataKey: new Secret(new Uint8Array(32).fill(1)) });
const things = (store: OpenStore) => store.table<Uint8Array>('things');

/** The same sequence in each run. */
function* numbers(): Generator<number, never> {
  for (let seed = 7; ;) yield (seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff) >>> 8;
}

/** Values of a line, of a page and of several pages, in several levels of branches. */
async function change(store: OpenStore, commits: number, from = numbers()): Promise<void> {
  const below = (limit: number): number => from.next().value % limit;
  for (let commit = 0; commit < commits; commit++)
    await store.write((transaction) => {
      for (let n = 0; n < 40; n++) {
        const key = [`thing ${below(2_000)} ${'x'.repeat(below(200))}`];
        if (below(4) === 0) for (const [old] of Array.from(things(store).entries([], { limit: 1 }))) transaction.delete(things(store), old);
        else transaction.put(things(store), key, new Uint8Array(below(12) === 0 ? below(15_000) : below(500)).fill(commit));
      }
    });
}

let earlier: Buffer;
let whole: Buffer;
let used: readonly number[];

beforeAll(async () => {
  const store = await open(path('store'));
  await change(store, 60);
  earlier = readFileSync(path('store/data.mdb'));
  await change(store, 3);
  await store.close();
  whole = readFileSync(path('store/data.mdb'));
  cpSync(path('store'), path('walked'), { recursive: true });
  used = await usedPages();
});

/** A store with this file, which is not the one of any other test. */
let count = 0;
function place(octets: Buffer): string {
  const directory = path(`copy-${++count}`);
  cpSync(path('store'), directory, { recursive: true });
  writeFileSync(join(directory, 'data.mdb'), octets);
  return directory;
}

function withPage(number: number, octets: Uint8Array): Buffer {
  const copy = Buffer.from(whole);
  copy.set(octets, number * pageBytes);
  return copy;
}

const pageOf = (octets: Buffer, number: number): Buffer => octets.subarray(number * pageBytes, (number + 1) * pageBytes);
/** What is found in the file with a page replaced, in one directory for all: nothing but the walk reads it. */
async function withoutPage(number: number, octets: Uint8Array): Promise<unknown> {
  const file = path('walked/data.mdb');
  const descriptor = openSync(file, 'r+');
  try {
    writeSync(descriptor, octets, 0, octets.length, number * pageBytes);
    return await requireSoundPages(path('walked')).then(
      () => 'sound',
      (error: unknown) => error,
    );
  } finally {
    writeSync(descriptor, pageOf(whole, number), 0, pageBytes, number * pageBytes);
    closeSync(descriptor);
  }
}

/** Pages that something leads to, without the later ones of large values: those whose head means something. */
async function usedPages(): Promise<readonly number[]> {
  const zeros = new Uint8Array(24);
  const found: number[] = [];
  for (let number = 2; number < whole.length / pageBytes; number++) if ((await withoutPage(number, zeros)) !== 'sound') found.push(number);
  return found;
}

test('a store that was only written by LMDB is sound, after each commit and as a compacted copy', async () => {
  const store = await open(path('written'));
  const from = numbers();
  for (let round = 0; round < 25; round++) {
    await change(store, 4, from);
    await requireSoundPages(path('written'));
  }
  await store.backup(path('compacted'));
  await requireSoundPages(path('compacted'));
  await store.close();
  const copy = await open(path('compacted'));
  await change(copy, 10, from);
  await requireSoundPages(path('compacted'));
  expect((await copy.examineContent()).isAsWritten).toBe(true);
  await copy.close();
});

test.each([
  ['zeros', () => new Uint8Array(pageBytes)],
  ['other octets', (page: Buffer) => page.map((octet, at) => (octet * 31 + at * 7 + 13) & 0xff)],
  ['octets of ones', () => new Uint8Array(pageBytes).fill(0xff)],
  ['the page before it', (_: Buffer, number: number) => pageOf(whole, number - 1)],
])('a page with %s in its place is named, whichever it is', async (_what, damage) => {
  expect(used.length).toBeGreaterThan(60);
  for (const number of used) {
    const found = await withoutPage(number, damage(Buffer.from(pageOf(whole, number)), number));
    expect(found, `page ${number}`).toBeInstanceOf(StoreDamaged);
    expect((found as Error).message).toMatch(/^\/.*\/data\.mdb is damaged: .*\bpage \d+ /);
  }
});

test('a page as it was earlier is found, by its place in the tree or by the content of all records', async () => {
  const changed = used.filter((number) => number < earlier.length / pageBytes && !pageOf(earlier, number).equals(pageOf(whole, number)));
  expect(changed.length).toBeGreaterThan(20);
  const unseen: number[] = [];
  for (const number of changed) {
    const directory = place(withPage(number, pageOf(earlier, number)));
    const isSound = await requireSoundPages(directory).then(
      () => true,
      () => false,
    );
    if (!isSound) continue;
    const store = await open(directory);
    if ((await store.examineContent()).isAsWritten) unseen.push(number);
    await store.close();
  }
  // A page of the list of free pages alone has no records.
  expect(unseen).toEqual([]);
});

test('a record that is missing or an earlier one is no more what was written, until that is accepted', async () => {
  const directory = path('records');
  const store = await open(directory);
  await change(store, 5);
  expect(await store.examineContent()).toMatchObject({ isAsWritten: true, records: things(store).count([]) });
  await store.write((transaction) => transaction.put(things(store), ['one'], new Uint8Array(3)));
  await store.close();
  const raw = new Environment(directory, () => undefined);
  const key = raw.keys({ low: Buffer.from('things\0one'), high: Buffer.from('things\0onf') }, 1, false)[0] as Buffer;
  // As a page would do: without a note in the revision.
  await raw.commit(() => void raw.remove(key));
  await raw.close();
  const again = await open(directory);
  const examined = await again.examineContent();
  expect(examined.isAsWritten).toBe(false);
  await again.write((transaction) => transaction.put(things(again), ['two'], new Uint8Array(3)));
  await examined.accept();
  expect((await again.examineContent()).isAsWritten).toBe(true);
  await again.close();
});

test('a change that was refused within a commit, and one that was undone with it, leave the content as it is', async () => {
  const store = await open(path('refused'));
  await change(store, 2);
  const refused = store.write((transaction) => {
    transaction.put(things(store), ['refused'], new Uint8Array(9));
    throw new Error('refused');
  });
  await Promise.all([expect(refused).rejects.toThrow('refused'), change(store, 1)]);
  expect((await store.examineContent()).isAsWritten).toBe(true);
  await store.close();
});

test('a store of a version that kept no content is taken as it is, once', async () => {
  const directory = path('former');
  const store = await open(directory);
  await change(store, 2);
  await store.close();
  const raw = new Environment(directory, () => undefined);
  await raw.commit(() => raw.put(revisionKey, Buffer.from(raw.get(revisionKey) ?? []).subarray(0, 8)));
  expect(revisionOf(raw.get(revisionKey))).toBe(2);
  await raw.commit(() => raiseRevision(raw, 7));
  await raw.close();
  const again = await open(directory);
  const examined = await again.examineContent();
  expect(examined.isAsWritten).toBe(true);
  await examined.accept();
  await change(again, 2);
  expect((await again.examineContent()).isAsWritten).toBe(true);
  expect(again.openedAt).toBe(7);
  await again.close();
});
