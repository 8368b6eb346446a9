// One language: words that were replaced by the terms of ARCHITECTURE.md, or by plain English, do not come back.
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** What is not written, and what to write. Words match whole, in any case. */
const replaced: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\bhouses?\b/i, 'runtime, CA context, harness or architecture'],
  [/\bcrews?\b/i, 'seal controller, workers'],
  [/\bfleet\b/i, 'worker channel, workers'],
  [/\b(?:door|doors)\b/i, 'listener, sealed server, edge'],
  [/\bstrangers?\b(?!-counted)/i, 'unauthenticated caller'],
  // As a quoted name it is that of a stored table.
  [/\b(?:graveyard|bury|buries|buried)\b/i, 'pending key deletion'],
  [/\bdesks?\b/i, 'EST context'],
  [/\bcanary ?sings\b/i, 'canary works'],
  [/\bsurroundings\b/i, 'AEAD inputs, environment'],
  [/\bupkeep\b/i, 'system endpoints'],
  [/\bhand-offs?\b/i, 'CLI login'],
  [/\bwhoever\b/i, 'a caller who, anyone who'],
  [/\banew\b/i, 'again, new'],
  [/\b(?:comes?|came|coming) into being\b/i, 'is made, is created'],
  [/\bnobody known\b/i, 'unauthenticated'],
  [/\bstands? (?:in|at|on|nowhere|there|here|beside|below|above|before|behind|as)\b/i, 'is'],
  [/\blies? (?:in|at|on|nowhere|there|here|beside|below|above|before|behind)\b/i, 'is'],
  [/\b(?:is|are) told of\b/i, 'receives, is called with'],
  [/\b(?:of ours|of theirs|of one[’']s own)\b/i, 'our, their'],
  [/\bon end\b/i, 'in a row'],
  [/\b(?:thereof|therein|thereby|whence|hence|lest|hitherto|henceforth)\b/i, 'plain English'],
];

/** Sources, tests and documents that people write; data of others keeps its words. */
const files = globSync(['*.md', '{core,hsm,plugins,appliance,test}/**/*.{ts,mjs,md}'], { cwd: root })
  .filter((file) => !file.includes('node_modules') && !file.startsWith('test/vectors/') && file !== 'test/architecture/words.test.ts')
  .toSorted();

test('the list reads what it is to read', () => {
  expect(files.length).toBeGreaterThan(700);
});

test('a replaced word is found, in any case, and not inside of another', () => {
  expect(wordsIn('the House')).toEqual(['"House" (runtime, CA context, harness or architecture)']);
  expect(wordsIn('housekeeping of the storehouse')).toEqual([]);
});

test('no file uses a replaced word', () => {
  const found = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => wordsIn(line).map((word) => `${file}:${index + 1} ${word}`)),
  );
  expect(found).toEqual([]);
});

/** Names of tables in stores of earlier versions. */
const storedNames = /'(?:oidc\/|transit\/)?(?:graveyard|hand-offs|hand-off-places)'/g;

function wordsIn(line: string): string[] {
  const text = line.replaceAll(storedNames, '');
  return replaced.flatMap(([word, instead]) => {
    const [match] = word.exec(text) ?? [];
    return match === undefined ? [] : [`"${match}" (${instead})`];
  });
}
