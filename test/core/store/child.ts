// A separate process with a store, for the tests of several processes; its arguments say what to do.
import { execFileSync } from 'node:child_process';
import { Secret } from '../../../core/base/secret.ts';
import { openStore } from '../../../core/store/open.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import { countingMigrations } from './counting-migrations.ts';

const [task = '', directory = '', name = ''] = process.argv.slice(2);
const store = await openStore({ directory, dataKey: new Secret(new Uint8Array(32).fill(1)) });
const table = store.table<number>('things');
const say = (line: string): void => void process.stdout.write(`${line}\n`);

function addOne(tx: WriteTransaction): void {
  tx.put(table, ['sum'], (tx.get(table, ['sum']) ?? 0) + 1);
}

const tasks: Record<string, () => Promise<void>> = {
  /** Writes the two records of a pair in a loop; prints each number when it is acknowledged. */
  async pairs() {
    for (let n = 1; ; n++) {
      await store.write((tx) => {
        tx.put(table, [name, 'left'], n);
        tx.put(table, [name, 'right'], n);
      });
      say(String(n));
    }
  },
  /** Adds one, two hundred times, some at once. */
  async count() {
    for (let n = 0; n < 50; n++) await Promise.all([1, 2, 3, 4].map(() => store.write(addOne)));
  },
  /** Reads on demand: `stale` without, `fresh` after a refresh. */
  async read() {
    table.get(['shared']);
    say('ready');
    for await (const chunk of process.stdin) {
      if (String(chunk).trim() === 'fresh') store.refresh();
      say(JSON.stringify({ shared: table.get(['shared']), all: [...table.entries(['list'])].length }));
    }
  },
  /** Migrates, and is killed at the moment of this name. */
  async migrate() {
    const cut = (moment: string): void => void (moment === name && process.kill(process.pid, 'SIGKILL'));
    await store.migrate('transit', countingMigrations(cut));
  },
  /** Fills the disk, then gets room again. */
  async fill() {
    const blobs = store.table<Uint8Array>('blobs');
    let acknowledged = 0;
    let code = '';
    try {
      for (; acknowledged < 1_000; acknowledged++)
        await store.write((tx) => tx.put(blobs, [acknowledged], new Uint8Array(50_000).fill(acknowledged)));
    } catch (error) {
      code = (error as { code: string }).code;
    }
    const kept = [...blobs.entries([])].filter(([[n], blob]) => blob.every((octet) => octet === Number(n) % 256)).length;
    const again = await store
      .write((tx) => tx.put(blobs, [acknowledged], new Uint8Array(50_000)))
      .catch((error: { code: string }) => error.code);
    execFileSync('sh', ['-c', `prlimit --pid ${process.pid} --fsize=unlimited`]);
    await store.write((tx) => tx.put(blobs, ['after'], new Uint8Array(50_000)));
    say(JSON.stringify({ acknowledged, code, kept, again, after: blobs.count([]), findings: [...store.check()] }));
  },
};

await tasks[task]?.();
await store.close();
