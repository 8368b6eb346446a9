// Reading topics: streams merged by time, from a given time or the newest ones, followed across new files and streams.
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { streamFilePath } from '../../../core/log/stream-files.ts';
import { readTopic, type TopicOptions } from '../../../core/log/topic.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();

function time(n: number): string {
  return `2026-11-21T10:00:00.${String(n).padStart(6, '0')}Z`;
}

function line(n: number, stream = 'a'): string {
  return `${JSON.stringify({ 'occurred-at': time(n), n, stream, filler: 'x'.repeat(n % 7 === 0 ? 3_000 : 10) })}\n`;
}

async function numbers(options: TopicOptions): Promise<number[]> {
  const seen: number[] = [];
  for await (const { record, text } of readTopic(options)) {
    expect(JSON.parse(text)).toEqual(record);
    seen.push(Number(record['n']));
  }
  return seen;
}

/** Distributes 0..count-1 over streams and files: `deal[n % deal.length]` is the stream of n. */
function dealt(directory: string, count: number, deal: readonly string[], perFile: number): void {
  mkdirSync(directory, { recursive: true });
  const written = new Map<string, number>();
  for (let n = 0; n < count; n++) {
    const stream = deal[n % deal.length] ?? 'a';
    const index = written.get(stream) ?? 0;
    appendFileSync(streamFilePath(directory, stream, Math.floor(index / perFile) * perFile + 1), line(n, stream));
    written.set(stream, index + 1);
  }
}

test('all, from a time, the newest, and a number from a time: as from a plain list', async () => {
  const options = fc.record({
    count: fc.nat({ max: 60 }),
    deal: fc.array(fc.constantFrom('a', 'b', 'worker-1'), { minLength: 1, maxLength: 5 }),
    perFile: fc.integer({ min: 1, max: 20 }),
    since: fc.option(fc.nat({ max: 70 }), { nil: undefined }),
    limit: fc.option(fc.nat({ max: 70 }), { nil: undefined }),
    every: fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined }),
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(options, async ({ count, deal, perFile, since, limit, every }) => {
      const directory = temporary(`run-${run++}`);
      dealt(directory, count, deal, perFile);
      // Incomplete, as it is while a process writes it.
      if (count > 0) appendFileSync(streamFilePath(directory, deal[0] ?? 'a', 1), line(99).slice(0, -1));
      const all = Array.from({ length: count }, (_, n) => n).filter((n) => n % (every ?? 1) === 0);
      const expected =
        since === undefined ? all.slice(Math.max(0, all.length - (limit ?? count))) : all.filter((n) => n >= since).slice(0, limit);
      const found = await numbers({
        directory,
        ...(since === undefined ? {} : { since: time(since) }),
        ...defined({ limit }),
        ...(every === undefined ? {} : { only: { text: '"n":', passes: ({ n }) => Number(n) % every === 0 } }),
      });
      expect(found).toEqual(expected);
      rmSync(directory, { recursive: true, force: true });
    }),
    { numRuns: 60 },
  );
});

test('the filter is applied only to lines that contain the text, across chunks, files and streams', async () => {
  const directory = temporary('filtered');
  dealt(directory, 400, ['a', 'a', 'b'], 60);
  const asked: unknown[] = [];
  const only = {
    text: '"stream":"b"',
    passes: ({ n, stream }: Readonly<Record<string, unknown>>) => {
      asked.push(stream);
      return Number(n) % 10 === 2;
    },
  };
  const wanted = Array.from({ length: 400 }, (_, n) => n).filter((n) => n % 3 === 2 && n % 10 === 2);
  expect(await numbers({ directory, only })).toEqual(wanted);
  expect(await numbers({ directory, only, limit: 5 })).toEqual(wanted.slice(-5));
  expect(await numbers({ directory, only, since: time(200), limit: 3 })).toEqual(wanted.filter((n) => n >= 200).slice(0, 3));
  expect(new Set(asked)).toEqual(new Set(['b']));
});

test('a missing directory, foreign files, incomplete lines and lines that are not objects are skipped', async () => {
  expect(await numbers({ directory: temporary('missing') })).toEqual([]);
  const directory = temporary('strange');
  mkdirSync(directory);
  writeFileSync(`${directory}/notes.txt`, line(1));
  writeFileSync(`${directory}/a.000000000001.jsonl.torn`, line(2));
  writeFileSync(streamFilePath(directory, 'a', 1), `${line(3)}rubbish\n[]\n"x"\n\n${line(4)}{"n":5`);
  expect(await numbers({ directory })).toEqual([3, 4]);
});

test('following returns what is written later, to the same file, a new file or a new stream, and ends with its signal', async () => {
  const directory = temporary('followed');
  dealt(directory, 4, ['a'], 10);
  const stop = new AbortController();
  const seen: number[] = [];
  const steps = [
    () => appendFileSync(streamFilePath(directory, 'a', 1), line(10).slice(0, 20)),
    () => appendFileSync(streamFilePath(directory, 'a', 1), line(10).slice(20)),
    () => writeFileSync(streamFilePath(directory, 'a', 11), line(11)),
    () => writeFileSync(streamFilePath(directory, 'b', 1), line(12)),
  ];
  let timer: NodeJS.Timeout | undefined;
  for await (const { record } of readTopic({ directory, limit: 2, follow: true, signal: stop.signal })) {
    seen.push(Number(record['n']));
    // The newest two are chosen only now: records written before could be among them.
    timer ??= setInterval(() => steps.shift()?.(), 20);
    if (record['n'] === 12) stop.abort();
  }
  clearInterval(timer);
  expect(seen).toEqual([2, 3, 10, 11, 12]);
});

test('following from now on skips all existing records, also with a filter that nothing has passed yet', async () => {
  for (const limit of [0, 2]) {
    const directory = temporary(`from-now-${limit}`);
    dealt(directory, 30, ['a', 'b'], 10);
    const stop = new AbortController();
    const only = { text: '"n":', passes: ({ n }: Readonly<Record<string, unknown>>) => limit === 0 || Number(n) >= 40 };
    // There is no event for "now", so lines are written until some are seen.
    let next = 40;
    const timer = setInterval(() => appendFileSync(streamFilePath(directory, 'b', 11), line(next++)), 20);
    const seen: number[] = [];
    for await (const { record } of readTopic({ directory, limit, only, follow: true, signal: stop.signal })) {
      seen.push(Number(record['n']));
      if (seen.length === 3) stop.abort();
    }
    clearInterval(timer);
    const [first = 0] = seen;
    expect(first).toBeGreaterThanOrEqual(40);
    expect(seen).toEqual([first, first + 1, first + 2]);
  }
});
