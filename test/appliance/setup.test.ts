// What the set-up of a clone does to the machine is said before it is done: in the README, and by the program.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
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
