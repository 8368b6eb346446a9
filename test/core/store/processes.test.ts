// Several processes with one store: acknowledged writes are visible to all, and a killed process loses or tears nothing.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import { Secret } from '../../../core/base/secret.ts';
import { openStore, type OpenStore } from '../../../core/store/open.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import { preloaded } from '../../harness/preloaded.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const dataKey = new Secret(new Uint8Array(32).fill(1));
const script = new URL('child.ts', import.meta.url).pathname;
const running = new Set<ChildProcessWithoutNullStreams>();

function child(...args: string[]): ChildProcessWithoutNullStreams {
  return started(spawn(process.execPath, [script, ...args]));
}

function started(one: ChildProcessWithoutNullStreams): ChildProcessWithoutNullStreams {
  running.add(one);
  one.once('exit', () => running.delete(one));
  one.stderr.pipe(process.stderr);
  return one;
}

afterEach(() => {
  for (const one of running) one.kill('SIGKILL');
});

test('a reader sees another process’s write after refresh, and complete states only', async () => {
  const directory = temporary('coherent');
  const store = await openStore({ directory, dataKey });
  const table = store.table<number>('things');
  await store.write((tx) => tx.put(table, ['shared'], 0));
  const reader = child('read', directory);
  const lines = createInterface({ input: reader.stdout })[Symbol.asyncIterator]();
  const ask = async (how: 'stale' | 'fresh'): Promise<unknown> => {
    reader.stdin.write(`${how}\n`);
    return JSON.parse(String((await lines.next()).value));
  };
  expect((await lines.next()).value).toBe('ready');
  for (let n = 1; n <= 200; n++) {
    const [before, now] = [await ask('fresh'), { shared: n, all: n }];
    await store.write((tx) => {
      tx.put(table, ['shared'], n);
      tx.put(table, ['list', n], n);
    });
    // An idle reader refreshes once a second, to a complete state like any refresh.
    expect([before, now]).toContainEqual(await ask('stale'));
    expect(await ask('fresh')).toEqual(now);
  }
  reader.stdin.end();
  await once(reader, 'exit');
  await store.close();
});

test('a process that is many commits behind, or missed a commit of many keys, still sees everything', async () => {
  const directory = temporary('lagging');
  const [writer, reader] = [await openStore({ directory, dataKey }), await openStore({ directory, dataKey })];
  const [write, read] = [writer.table<number>('things'), reader.table<number>('things')];
  for (const changes of [1, 300, 2_000]) {
    await writer.write((tx) => tx.put(write, ['a'], 0));
    reader.refresh();
    expect(read.get(['a'])).toBe(0);
    if (changes === 2_000) {
      await writer.write((tx) => {
        for (let n = 0; n < changes; n++) tx.put(write, ['many', n], n);
        tx.put(write, ['a'], changes);
      });
    } else {
      for (let n = 1; n <= changes; n++) await writer.write((tx) => tx.put(write, ['a'], n));
    }
    reader.refresh();
    expect(read.get(['a'])).toBe(changes);
  }
  await Promise.all([writer.close(), reader.close()]);
});

test('many writes of one turn leave what other processes have cached of other records', async () => {
  const directory = temporary('many-writes');
  const [writer, reader] = [await openStore({ directory, dataKey }), await openStore({ directory, dataKey })];
  const [write, read] = [writer.table<object>('things'), reader.table<object>('things')];
  await writer.write((tx) => tx.put(write, ['kept'], {}));
  reader.refresh();
  const kept = read.get(['kept']);
  const putFour = (n: number) => (tx: WriteTransaction) => [1, 2, 3, 4].forEach((part) => tx.put(write, ['many', n, part], {}));
  await Promise.all(Array.from({ length: 400 }, (_, n) => writer.write(putFour(n))));
  reader.refresh();
  expect(read.count(['many'])).toBe(1_600);
  expect(read.get(['kept'])).toBe(kept);
  await Promise.all([writer.close(), reader.close()]);
});

test('a change sees what another process committed meanwhile, however far behind its own process is', async () => {
  const directory = temporary('behind');
  const [other, behind] = [await openStore({ directory, dataKey }), await openStore({ directory, dataKey })];
  const [write, read] = [other.table<number>('things'), behind.table<number>('things')];
  for (const changes of [1, 300]) {
    await other.write((tx) => tx.put(write, ['a'], 0));
    behind.refresh();
    expect(read.get(['a'])).toBe(0);
    for (let n = 1; n <= changes; n++) await other.write((tx) => tx.put(write, ['a'], n));
    expect(await behind.write((tx) => [tx.get(read, ['a']), [...tx.entries(read, [])]])).toEqual([changes, [[['a'], changes]]]);
  }
  await Promise.all([other.close(), behind.close()]);
});

test('changes of several processes never overtake each other: every addition counts', async () => {
  const directory = temporary('sum');
  const children = [child('count', directory), child('count', directory)];
  await Promise.all(children.map((one) => once(one, 'exit')));
  const store = await openStore({ directory, dataKey });
  expect(store.table('things').get(['sum'])).toBe(400);
  await store.close();
});

describe('a kill at any moment', () => {
  test('kill -9 of two writers: nothing acknowledged is lost, no change is torn, the next start needs no repair', async () => {
    const directory = temporary('killed');
    const acknowledged = new Map<string, number>();
    for (let round = 0; round < 6; round++) {
      const writers = ['one', 'two'].map((name) => {
        const writer = child('pairs', directory, name);
        createInterface({ input: writer.stdout }).on('line', (line) => acknowledged.set(name, Number(line)));
        return writer;
      });
      await Promise.all(writers.map((writer) => once(writer.stdout, 'data')));
      await new Promise((resolve) => setTimeout(resolve, 20 + round * 17));
      for (const writer of writers) writer.kill('SIGKILL');
      await Promise.all(writers.map((writer) => once(writer, 'close')));
      const store = await openStore({ directory, dataKey });
      const table = store.table<number>('things');
      for (const [name, n] of acknowledged) {
        expect(table.get([name, 'left'])).toBe(table.get([name, 'right']));
        // One more may have been committed and not reported yet.
        expect([n, n + 1]).toContain(table.get([name, 'left']));
      }
      expect([...store.check()]).toEqual([]);
      await store.write((tx) => tx.put(table, ['after'], round));
      await store.close();
      acknowledged.clear();
    }
  });

  test.each([
    {
      when: 'the process has been started again',
      show: async (directory: string): Promise<unknown> => once(child('read', directory).stdout, 'data'),
    },
    { when: 'another writes, if nothing', show: (_directory: string, other: OpenStore): Promise<unknown> => other.write(() => undefined) },
  ])('a commit that was cut off before others were told of it is seen when $when', async ({ when, show }) => {
    const directory = temporary(`told-${when.length}`);
    const reader = await openStore({ directory, dataKey });
    const table = reader.table<number>('things');
    await reader.write((tx) => tx.put(table, ['before'], 0));
    const LD_PRELOAD = await preloaded(join(import.meta.dirname, 'killed-in-commit.c'));
    const killed = started(spawn(process.execPath, [script, 'pairs', directory, 'cut'], { env: { ...process.env, LD_PRELOAD } }));
    expect(await once(killed, 'exit')).toEqual([null, 'SIGKILL']);
    reader.refresh();
    expect(table.get(['cut', 'left'])).toBeUndefined();
    await show(directory, reader);
    await expect.poll(() => (reader.refresh(), table.get(['cut', 'left'])), { timeout: 20_000 }).toBe(1);
    await reader.close();
  });
});

test('a full disk refuses writes with storage-unavailable, keeps what was acknowledged, and writes go on once there is room', async () => {
  // A limit of 2 MiB per file acts as the full disk.
  const one = started(spawn('sh', ['-c', 'ulimit -S -f 4096; exec "$0" "$@"', process.execPath, script, 'fill', temporary('full')]));
  one.stderr.unpipe(process.stderr).resume();
  let output = '';
  one.stdout.on('data', (chunk) => (output += String(chunk)));
  expect(await once(one, 'exit')).toEqual([0, null]);
  const result = JSON.parse(output) as { acknowledged: number; kept: number };
  expect(result).toMatchObject({ code: 'storage-unavailable', again: 'storage-unavailable', kept: result.acknowledged, findings: [] });
  expect(result.acknowledged).toBeGreaterThan(20);
  expect(result).toMatchObject({ after: result.acknowledged + 1 });
});
