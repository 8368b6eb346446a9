// Memory of a service at rest: what the last requests left behind is given back without waiting for the next ones.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { processTree } from '../../bench/measure/processes.ts';
import { startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../../..');
const atRest = pathToFileURL(join(root, 'appliance/processes/at-rest.ts')).href;

/** Works with 40 MiB of buffers for a moment, rests, and tells the MiB outside the heap: once they are few, or after so many looks. */
const buffers = `
  let held = Array.from({ length: 40 }, () => Buffer.alloc(2 ** 20, 1));
  setImmediate(() => {
    held = undefined;
    tell(() => process.memoryUsage().external / 2 ** 20, 16);
  });
`;

/** Keeps one of forty objects, so that no page of the heap becomes free by itself, and tells the MiB that the heap takes from the system. */
const objects = `
  const kept = [];
  let held = Array.from({ length: 400_000 }, (_, at) => ({ at, text: String(at), list: [at, at] }));
  setImmediate(() => {
    for (let at = 0; at < held.length; at += 40) kept.push(held[at]);
    held = undefined;
    tell(() => v8.getHeapStatistics().total_physical_size / 2 ** 20, 25);
  });
`;

const tell = `
  const v8 = require('node:v8');
  function tell(measure, few) {
    let looks = 0;
    setInterval(() => {
      looks += 1;
      if (measure() > few && looks < Number(process.argv[1])) return;
      console.log(Math.round(measure()));
      process.exit();
    }, 1_000);
  }
`;

test('a process at rest gives back the buffers of its last work', async () => {
  expect(await mibAtRest(buffers, ['--import', atRest], 60)).toBeLessThan(16);
});

test('a process at rest gives back pages of its heap on which little lives', async () => {
  // V8 does so itself, after half a minute.
  expect(await mibAtRest(objects, ['--import', atRest], 15)).toBeLessThan(25);
});

test('without that they stay, so the tests above can fail', async () => {
  expect(await mibAtRest(buffers, [], 10)).toBeGreaterThan(40);
  expect(await mibAtRest(objects, [], 10)).toBeGreaterThan(40);
});

test('workers and token processes run with it, with the bounds of malloc and the young generation, and token processes with small pieces at hand', async () => {
  const daemon = await startDaemon({ directory: path('data'), workers: 2 });
  try {
    const children = processTree(daemon.pid).filter(({ pid }) => pid !== daemon.pid);
    const scripts = children.map(({ script }) => script.split('/').at(-1) ?? '');
    expect(scripts.toSorted((a, b) => a.localeCompare(b))).toEqual(['host.js', 'host.js', 'worker.js', 'worker.js']);
    for (const { pid, script } of children) {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      expect(environment).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^NODE_OPTIONS=.*--max-semi-space-size=8 --import=file:.*\/at-rest\.js$/),
          'MALLOC_ARENA_MAX=2',
          'MALLOC_TRIM_THRESHOLD_=131072',
          'MALLOC_MMAP_THRESHOLD_=131072',
        ]),
      );
      // glibc ends each tunable in place when it reads them.
      const tunables = 'GLIBC_TUNABLES=glibc.malloc.tcache_count=100:glibc.malloc.hugetlb=1';
      expect(environment.join(':').includes(tunables)).toBe(script.endsWith('/host.js'));
    }
  } finally {
    await daemon.stop();
  }
});

function mibAtRest(work: string, options: readonly string[], looks: number): Promise<number> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [...options, '--eval', tell + work, String(looks)], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('error', fail);
    child.once('close', () => done(Number(output)));
  });
}
