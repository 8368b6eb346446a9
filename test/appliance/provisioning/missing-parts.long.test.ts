// A start founds an appliance only where nothing of one is: a part that is missing is named, nothing is made or overwritten, and all is as before
// when it is back.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { contentsOf, startAndEnd } from '../../harness/refused-start.ts';
import { copyDirectory } from '../../harness/once.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
/** What every start writes. */
const isOfEach = (name: string): boolean => name.startsWith('logs') || name.endsWith('softhsm.conf') || name.endsWith('.lock');
const parts = (directory: string) => contentsOf(directory, isOfEach);

async function provisioned(directory: string): Promise<string> {
  const daemon = await startDaemon({ directory });
  await daemon.request('POST', keys, { name: 'orders' });
  await daemon.stop();
  return daemon.rootToken;
}

/** The places of restores are kept, what was unpacked there is not. */
const without = (contents: Readonly<Record<string, string>>, below: string) =>
  Object.fromEntries(Object.entries(contents).filter(([name]) => !name.startsWith(below)));

const opens = (daemon: Daemon, rootToken: string) => daemon.request('GET', `${keys}/orders`, undefined, rootToken);

const gone: readonly (readonly string[])[] = [
  ['store'],
  ['store/data.mdb'],
  ['store-key.json'],
  ['softhsm'],
  ['softhsm', 'store-key.json'],
  ['softhsm', 'store-key.json', 'pin', 'so-pin'],
  ['store', 'store-key.json'],
  ['store', 'store-key.json', 'softhsm', 'pin', 'so-pin'],
  ['store', 'store-key.json', 'softhsm', 'pin', 'so-pin', 'audit', 'tls'],
  ['store', 'store-key.json', 'softhsm', 'pin', 'so-pin', 'root-token', 'audit'],
  ['store', 'store-key.json', 'softhsm', 'pin', 'so-pin', 'root-token', 'tls'],
];

test.each(['start', 'restore'])('logs alone are a trace of an appliance: a %s makes nothing beside them', async (how) => {
  const data = path(`logs-${how}`);
  mkdirSync(join(data, 'logs'), { recursive: true });
  writeFileSync(join(data, 'logs/worker-1.000000000001.jsonl'), '{}\n');
  writeFileSync(path('no-backup'), '');
  const args = how === 'start' ? [] : ['--restore', path('no-backup'), '--restore-passphrase-file', path('no-backup')];
  const { status, last } = await startAndEnd(data, { args });
  expect(last).toContain(join(data, 'logs'));
  expect(last).toMatch(/nothing was (?:made in its place|restored)/);
  expect([status, contentsOf(data, (name) => name === 'lock')]).toEqual([
    1,
    { logs: '755 other', 'logs/worker-1.000000000001.jsonl': expect.any(String) },
  ]);
});

test('a start that is refused before it has looked leaves no logs, and the next one is a first start', async () => {
  const data = path('looked');
  const args = ['--restore', path('absent'), '--restore-passphrase-file', path('absent')];
  expect((await startAndEnd(data, { args })).last).toMatch(/--restore \S+absent: there is no such file/);
  expect(Object.keys(contentsOf(data))).toEqual(['lock']);
});

test.each([
  ['a directory', (file: string) => mkdirSync(file)],
  ['a FIFO', (file: string) => void spawnSync('python3', ['-c', 'import os,sys; os.mkfifo(sys.argv[1])', file])],
])('--restore of %s is refused by its name, and waits for nothing', async (what, make) => {
  const [data, file] = [path(`into ${what}`), path(what)];
  make(file);
  writeFileSync(path('passphrase'), 'secret');
  const { status, last } = await startAndEnd(data, { args: ['--restore', file, '--restore-passphrase-file', path('passphrase')] });
  expect([status, last]).toEqual([1, `keystored: --restore ${file}: it is not a file: name the file of a backup`]);
  expect(Object.keys(contentsOf(data))).toEqual(['lock']);
});

describe('a start where a part of an appliance is missing', () => {
  test.each(gone.map((names) => ({ names })))(
    '$names: is refused by name, makes nothing, and all is there when it is back',
    async ({ names }) => {
      const [data, away] = [path(`gone-${names.join('-').replaceAll('/', '-')}`), path(`away-${names.join('-').replaceAll('/', '-')}`)];
      const rootToken = await provisioned(data);
      for (const name of names) {
        mkdirSync(dirname(join(away, name)), { recursive: true });
        renameSync(join(data, name), join(away, name));
      }
      const before = parts(data);
      const { status, last } = await startAndEnd(data);
      for (const name of names.filter((one) => /^s(?:tore|ofthsm)/.test(one))) expect(last).toContain(join(data, name));
      expect(last).toMatch(/nothing was made in its place/);
      expect([status, parts(data)]).toEqual([1, before]);
      for (const name of names) renameSync(join(away, name), join(data, name));
      const daemon = await startDaemon({ directory: data });
      await opens(daemon, rootToken);
      expect(await daemon.stop()).toBe(0);
      expect(daemon.output()).not.toContain('This appliance is new');
    },
  );

  test.each([
    ['store', (data: string) => (rmSync(join(data, 'store'), { recursive: true }), mkdirSync(join(data, 'store')))],
    ['store/data.mdb', (data: string) => truncateSync(join(data, 'store/data.mdb'))],
    ['store-key.json', (data: string) => truncateSync(join(data, 'store-key.json'))],
    ['softhsm', (data: string) => (rmSync(join(data, 'softhsm'), { recursive: true }), mkdirSync(join(data, 'softhsm')))],
  ] as const)('%s that is empty, as a mount that did not come leaves it, is one that is missing', async (name, empty) => {
    const data = path(`empty-${name.replace('/', '-')}`);
    await provisioned(data);
    empty(data);
    const before = parts(data);
    const { status, last } = await startAndEnd(data);
    expect(last).toMatch(new RegExp(`${join(data, name)} is (?:missing|empty|missing or empty)`));
    expect([status, parts(data)]).toEqual([1, before]);
  });

  test.each([
    [
      'restoring',
      (data: string) => mkdirSync(join(data, 'restoring', 'softhsm'), { recursive: true }),
      /a restore into \S+ was cut off, .*--restore FILE/,
    ],
    [
      'restored',
      (data: string) => (
        copyDirectory(path('whole'), data),
        mkdirSync(join(data, 'restored/store'), { recursive: true }),
        mkdirSync(join(data, 'restored/audit')),
        writeFileSync(join(data, 'restored/audit/restored'), '{}')
      ),
      /restored is of a restore that was cut off, and .*\S+store in the place of what it brings/,
    ],
  ] as const)('a restore that was cut off (%s) is followed by no new appliance', async (name, cut, says) => {
    if (!existsSync(path('whole'))) await provisioned(path('whole'));
    const data = path(`cut-${name}`);
    cut(data);
    const before = parts(data);
    for (let again = 0; again < 2; again++) {
      const { status, last } = await startAndEnd(data);
      expect(last).toMatch(says);
      expect(status).toBe(1);
    }
    expect({ ...parts(data), lock: '' }).toEqual({ ...without(before, 'restoring/'), lock: '' });
  });

  test.each([['store'], ['softhsm'], ['store-key.json']])(
    'a mark of a first start that was left behind founds nothing where %s is missing',
    async (name) => {
      const data = path(`founding-${name}`);
      await provisioned(data);
      writeFileSync(join(data, 'founding'), '');
      rmSync(join(data, name), { recursive: true });
      const before = parts(data);
      const { status, last } = await startAndEnd(data);
      expect(last).toMatch(/nothing was made in its place/);
      expect([status, parts(data)]).toEqual([1, before]);
    },
  );

  test('a first start in a directory with empty places for mounts founds an appliance', async () => {
    const data = path('places');
    for (const name of ['store', 'audit/lost+found', 'softhsm']) mkdirSync(join(data, name), { recursive: true });
    const daemon = await startDaemon({ directory: data, firstStart: true });
    expect(daemon.output()).toContain('This appliance is new');
    expect(await daemon.stop()).toBe(0);
    expect(existsSync(join(data, 'founding'))).toBe(false);
  });
});
