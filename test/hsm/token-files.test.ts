// Whether a token's files are there is asked before every commit of the store: the answer must be quick and never older than the question.
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { damageOfFiles, ownKeysGone, tokenAway, TokenFiles } from '../../hsm/files/softhsm.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
let directory: string;
let files: TokenFiles;

beforeEach(() => {
  directory = path(`tokens-${Math.random()}`);
  mkdirSync(join(directory, 'one'), { recursive: true });
  writeFileSync(join(directory, 'one', 'token.object'), 'x');
  files = new TokenFiles(directory);
  expect(files.damage()).toBeUndefined();
});

test('a removed token file is seen by the very next look, and so is one that came back', () => {
  const file = join(directory, 'one', 'token.object');
  rmSync(file);
  expect(files.damage()).toBe(ownKeysGone);
  writeFileSync(file, '');
  expect(files.damage()).toBeUndefined();
});

test.each([
  ['the whole directory', () => directory],
  ['the folder of the token', () => join(directory, 'one')],
])('%s that was moved away is seen by the very next look', (_name, place) => {
  renameSync(place(), path('away'));
  expect(files.damage()).toBe(ownKeysGone);
  renameSync(path('away'), place());
  expect(files.damage()).toBeUndefined();
});

test('another token of the same directory counts when the one seen before is gone', () => {
  mkdirSync(join(directory, 'two'));
  writeFileSync(join(directory, 'two', 'token.object'), 'x');
  rmSync(join(directory, 'one'), { recursive: true });
  expect(files.damage()).toBeUndefined();
});

test.each([
  ['the whole directory', () => directory],
  ['the token file', () => join(directory, 'one', 'token.object')],
])('%s that the system does not let us look at is out of reach, and not gone', (_name, place) => {
  renameSync(place(), path('kept'));
  symlinkSync(place(), place());
  expect([files.damage(), damageOfFiles(directory)]).toEqual([tokenAway, tokenAway]);
  unlinkSync(place());
  expect(files.damage()).toBe(ownKeysGone);
  renameSync(path('kept'), place());
  expect([files.damage(), damageOfFiles(directory)]).toEqual([undefined, undefined]);
});
