// What the set-up of a clone does to the machine is said before it is done: in the README, and by the program.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { temporaryDirectory } from '../harness/temporary.ts';

const root = resolve(import.meta.dirname, '../..');
const path = temporaryDirectory();

/** Packages of the distribution that `npm start` installs where they are missing. */
const packagesOfStart = ['python3', 'make', 'g++', 'softhsm2'];

describe.each([
  ['README.md', '| `npm start` |'],
  ['appliance/docs/start/installation.md', '\nnpm start\n'],
])('%s', (document, firstUse) => {
  test('says before `npm start` what that installs on the machine, by what, and as whom', () => {
    const text = readFileSync(join(root, document), 'utf8');
    expect(text).toContain(firstUse);
    const before = text.slice(0, text.indexOf(firstUse));
    for (const word of ['As root', 'apt-get', ...packagesOfStart]) expect(before).toContain(word);
  });
});

test('as root, a line names the packages and apt-get before they are installed', () => {
  const programs = path('bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'apt-get'), '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "apt-get $*" >&2\nexit 1\n');
  chmodSync(join(programs, 'apt-get'), 0o755);
  symlinkSync('/bin/sh', join(programs, 'sh'));
  const { stderr, status } = spawnSync(process.execPath, [join(root, 'appliance/setup.mjs'), 'bench'], {
    env: { PATH: programs },
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  const [announced = '', ...done] = stderr.split('\n').filter((line) => !line.includes('console'));
  const command = 'apt-get update && apt-get install -y --no-install-recommends wrk openssl';
  const isRoot = process.getuid?.() === 0;
  expect(announced).toContain(
    isRoot
      ? `as root, installing on this machine, for the benchmark: ${command} …`
      : `Run this line, then start again: sudo sh -c '${command}'`,
  );
  expect(done[0]).toBe(isRoot ? 'apt-get -qq update' : '');
});

describe('a command that is not understood gets a usage line, before anything is installed', () => {
  const refused = (...words: string[]): string => {
    const { stderr, status } = spawnSync(process.execPath, [join(root, 'appliance/setup.mjs'), ...words], { encoding: 'utf8' });
    expect(status).toBe(1);
    return stderr;
  };
  const builds = 'package|oci|image|etcd|keystorectl|bundle|reproduce|provenance';

  test.each([
    [['build'], `build needs a word. Usage: npm run build ${builds} [-- ARGUMENTS]`],
    [['build', 'packages'], `build has no word packages. Usage: npm run build ${builds} [-- ARGUMENTS]`],
    [['generate', '--check'], 'generate has no word --check. Usage: npm run generate docs|clients [-- ARGUMENTS]'],
    [
      ['test', 'clustr'],
      'test has no word clustr, and no test has it in its path. Usage: npm test [-- [long|interop|clients|cluster|image|package] [PART OF A PATH | OPTION OF VITEST]...]',
    ],
  ])('%j', (words, message) => {
    expect(refused(...words)).toBe(`keystored: ${message}\n`);
  });

  test('CONTRIBUTING.md names every command and word, and package.json every command', () => {
    const [, list = ''] = /known: (.*)\n/.exec(refused('nothing')) ?? [];
    const known = list.split(', ').filter((name) => name !== 'setup');
    expect(known.length).toBeGreaterThan(20);
    const scripts = new Set([...known, 'build', 'generate'].map((name) => name.split(' ', 1)[0]).filter((name) => name !== undefined));
    expect(new Set(Object.keys(manifest.scripts))).toEqual(scripts);
    const table = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `npm '));
    const missing = known.filter((name) => {
      const [script = '', word = ''] = name.split(' ');
      const row = new RegExp(`\`npm (?:run )?${script}\\b.*${word}\``);
      return !table.some((line) => row.test(line.split(' | ')[0] ?? ''));
    });
    expect(missing).toEqual([]);
  });
});
