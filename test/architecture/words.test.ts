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
  [/\b(?:Gift|Parcel)s?\b/, 'wrapped keys'],
  [/\b(?:an?|the|each|every|no|its) (?:gift|parcel|founding)s?\b/i, 'wrapped keys, bootstrap'],
  [/\bon end\b/i, 'in a row'],
  [/\bsigns? of life\b/i, 'heartbeat'],
  [/\b(?:thereof|therein|thereby|whence|hence|lest|hitherto|henceforth)\b/i, 'plain English'],
];

/** Folders whose comments, messages and documents also follow the grammar below. Those of `test` are not judged yet. */
const cleanFolders: readonly string[] = ['hsm', 'core', 'plugins', 'appliance'];

/** Documents that say what was written when it was true. */
const histories: readonly string[] = ['CHANGELOG.md'];

/** Grammar of clean folders: what is not written, and what to write. */
const translated: readonly (readonly [words: RegExp, instead: string])[] = [
  [/\bany more\b/i, 'no longer'],
  [/\bfor ever\b/i, 'permanently, forever, without limit'],
  [/\bstands? twice\b/i, 'is repeated'],
  [/\b(?:is|are) none\b/i, 'is not one, if it has none'],
  [/(?<!\bconst\b.*)\bof before\b/i, 'earlier, former'],
  [/(?<!\bthere )\b(?:is|are) no (?!longer\b|more\b|other\b)[a-z]/i, 'is not a'],
];

/** First words of a comment: it begins with a verb or a noun. */
const opening = /^\s*(?:\/\*\*?|\/\/|\*) *(?<word>what|whether|whom|whose|who|which|how|why|where)\b/i;

/** Sources, tests and documents that people write; data of others keeps its words. */
const files = globSync(['*.md', '{core,hsm,plugins,appliance,test}/**/*.{ts,tsx,mjs,md}'], { cwd: root })
  .filter((file) => !file.includes('node_modules') && !file.startsWith('test/vectors/') && file !== 'test/architecture/words.test.ts')
  .toSorted();

test('the list reads what it is to read', () => {
  expect(files.length).toBeGreaterThan(700);
});

test('a replaced word is found, in any case, and not inside of another', () => {
  expect(wordsIn('the House')).toEqual(['"House" (runtime, CA context, harness or architecture)']);
  expect(wordsIn('housekeeping of the storehouse')).toEqual([]);
  expect(wordsIn('openHouse(housekeeping)')).toEqual(['"House" (runtime, CA context, harness or architecture)']);
});

test('no file uses a replaced word', { timeout: 60_000 }, () => {
  const found = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => wordsIn(line).map((word) => `${file}:${index + 1} ${word}`)),
  );
  expect(found).toEqual([]);
});

test('grammar is judged in comments and messages, and an opening only at the begin of a comment', () => {
  expect(
    grammarIn(['/** Whether it is there. */', '/**', ' * What it is,', ' * what it was.', ' */', '// Reads', '// what is there.']),
  ).toEqual(['1 "Whether" (begin with a verb or a noun)', '3 "What" (begin with a verb or a noun)']);
  expect(grammarIn(["fail('is no name, and not used any more; there is no other')"])).toEqual([
    '1 "any more" (no longer)',
    '1 "is no n" (is not a)',
  ]);
});

test('no file of a clean folder and no document at the root reads as translated', { timeout: 60_000 }, () => {
  const judged = files.filter(
    (file) => cleanFolders.some((folder) => file.startsWith(`${folder}/`)) || (!file.includes('/') && !histories.includes(file)),
  );
  expect(judged).toEqual(expect.arrayContaining(['README.md', 'appliance/docs/use/api.md', 'plugins/console/app/main.tsx']));
  const found = judged.flatMap((file) =>
    grammarIn(readFileSync(join(root, file), 'utf8').split('\n')).map((finding) => `${file}:${finding}`),
  );
  expect(found).toEqual([]);
});

function grammarIn(lines: readonly string[]): string[] {
  return lines.flatMap((line, index) => {
    const before = lines[index - 1] ?? '';
    const goesOn = /^\s*\*/.test(line) ? !/^\s*\/\*+\s*$/.test(before) : /^\s*\/\//.test(line) && /^\s*\/\//.test(before);
    const word = goesOn ? undefined : opening.exec(line)?.groups?.['word'];
    const openings = word === undefined ? [] : [`${index + 1} "${word}" (begin with a verb or a noun)`];
    const words = translated.flatMap(([one, instead]) => {
      const [match] = one.exec(line) ?? [];
      return match === undefined ? [] : [`${index + 1} "${match}" (${instead})`];
    });
    return [...openings, ...words];
  });
}

/** Names of tables in stores of earlier versions. */
const storedNames = /'(?:oidc\/|transit\/)?(?:graveyard|hand-offs|hand-off-places)'/g;

function wordsIn(line: string): string[] {
  // Parts of names in camelCase are words, too, but no phrases.
  const text = line.replaceAll(storedNames, '').replaceAll(/([a-z\d])([A-Z])/g, '$1/$2');
  return replaced.flatMap(([word, instead]) => {
    const [match] = word.exec(text) ?? [];
    return match === undefined ? [] : [`"${match}" (${instead})`];
  });
}
