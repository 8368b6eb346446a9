// Every text of the console has its German, and every German text its place: read from the sources as the build reads them.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { areas, exceptions, germanOf } from '../../../plugins/console/words/de/words.ts';
import { telling } from '../../../plugins/console/app/language/told.ts';
import { sentences } from '../../../plugins/console/words/de/api/appliance-texts.ts';
import { operations } from '../../../hsm/protocol/operations.ts';
import { fieldNames } from '../../../plugins/console/words/de/api/field-names.ts';
import { textsOf } from '../../../plugins/console/words/texts.ts';
import { translate } from '../../../plugins/console/words/translate.ts';
import { command, programs, unchanged } from '../../../plugins/console/words/unchanged.ts';

const app = join(import.meta.dirname, '../../../plugins/console/app');
const sources = [
  ...globSync('**/*.{ts,tsx}', { cwd: app }).filter((name) => !name.endsWith('.d.ts')),
  '../../../core/enrolment/commands.ts',
];
const texts = sources.flatMap((source) =>
  textsOf(readFileSync(join(app, source), 'utf8'), source.endsWith('x') ? 'tsx' : 'ts').map(({ words }) => ({ source, words })),
);
const placesIn = (words: string): string => (words.match(/\{\w+\}/g) ?? []).toSorted().join(' ');
const edgesOf = (words: string): readonly string[] => [/^\s*/.exec(words)?.[0] ?? '', /\s*$/.exec(words)?.[0] ?? ''];

describe('the German console', () => {
  test('has a text for each English one, or the English one is named as the same in every language', () => {
    const lacking = texts.filter(
      ({ source, words }) =>
        !programs.has(source) && !unchanged.has(words) && !command.test(words) && germanOf(source)[words] === undefined,
    );
    expect(lacking.map(({ source, words }) => `${source}: ${words}`)).toEqual([]);
  });

  test('has no text for which there is no English one any longer', () => {
    const used = new Set(texts.map(({ words }) => words));
    const tables = [...Object.values(areas).flatMap((area) => Object.keys(area)), ...unchanged];
    expect(tables.filter((words) => !used.has(words))).toEqual([]);
    const excepted = Object.entries(exceptions).flatMap(([source, words]) => Object.keys(words).map((one) => `${source}: ${one}`));
    const there = new Set(texts.map(({ source, words }) => `${source}: ${words}`));
    expect(excepted.filter((one) => !there.has(one))).toEqual([]);
  });

  test('says nothing twice: a text is in one table', () => {
    const all = Object.values(areas).flatMap((area) => Object.keys(area));
    expect(all.filter((words, index) => all.indexOf(words) !== index)).toEqual([]);
    expect(all.filter((words) => unchanged.has(words))).toEqual([]);
  });

  test('puts in what the English text puts in, with the same spaces around it', () => {
    const pairs = [...Object.values(areas), ...Object.values(exceptions)].flatMap((words) => Object.entries(words));
    expect(pairs.filter(([english, german]) => placesIn(english) !== placesIn(german))).toEqual([]);
    expect(pairs.filter(([english, german]) => edgesOf(english).join('|') !== edgesOf(german).join('|'))).toEqual([]);
    expect(pairs.filter(([, german]) => german.trim() === '')).toEqual([]);
  });

  test('names fields in German', () => {
    expect(Object.entries(fieldNames).filter(([name, german]) => !/^[a-z0-9-]+$/.test(name) || german.trim() === '')).toEqual([]);
    expect(fieldNames['not-after']).toBe('Gültig bis');
  });

  test('names the operations of a token in German, as its latencies are listed', () => {
    const shown = Object.keys(operations).map((name) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
    expect(shown.filter((name) => fieldNames[name] === undefined)).toEqual([]);
  });
});

describe('what the appliance says', () => {
  test('is translated while it says it: its sources have each sentence, with the same places', () => {
    const repository = join(app, '../../..');
    const files = globSync('{core,appliance,plugins}/**/*.ts', {
      cwd: repository,
      exclude: ['plugins/console/**', 'appliance/clients/**', '**/node_modules/**'],
    });
    const all = files.map((name) => readFileSync(join(repository, name), 'utf8')).join('\n');
    const gone = Object.keys(sentences).filter((english) => {
      const [whole = ''] = english.split(/\{\d+\}/).toSorted((left, right) => right.length - left.length);
      return !all.includes(whole.trim());
    });
    expect(gone.filter((english) => !inPieces.has(english))).toEqual([]);
    const pairs = Object.entries(sentences);
    expect(pairs.filter(([english, german]) => placesIn(english) !== placesIn(german))).toEqual([]);
  });

  /** Sentences with a plural, which the sources have in pieces. */
  const inPieces = new Set([
    'The start is attended, and a file on the machine still has a PIN that opens the token without anybody',
    '{0} key is overdue for rotation, or near the limit of encryptions',
    '{0} keys are overdue for rotation, or near the limit of encryptions',
    'The start is attended, and {0} files on the machine still have a PIN that opens the token without anybody',
  ]);

  test('has what is inserted in its place, and stays as it came where there are no words for it', () => {
    const tell = telling(sentences);
    expect(tell('There is no role, so no one can sign in.')).toBe('Es gibt keine Rolle, daher kann sich niemand anmelden.');
    expect(tell('More than 20 sign-ins of approles were refused within an hour, from 192.0.2.7')).toBe(
      'Mehr als 20 Anmeldungen über approles wurden innerhalb einer Stunde abgelehnt, von 192.0.2.7',
    );
    expect(tell('The key list of the provider is not usable (HTTP 500).')).toMatch(/\(HTTP 500\)\.$/);
    for (const other of ['', 'constructor', 'orders', 'There is no role']) expect(tell(other)).toBe(other);
  });
});

describe('a source', () => {
  const found = (code: string): readonly string[] => textsOf(code, 'tsx').map(({ words }) => words);

  test('has as texts what it shows: words of elements, of attributes for people, in templates and in tables', () => {
    expect(found('<p>Two words <b>and</b> {more}</p>')).toEqual(['Two words {0} {1}', 'and']);
    expect(found('<a title="Look" class="button primary" aria-label={`Copy ${what}`} />')).toEqual(['Look', 'Copy {0}']);
    expect(found("const head = { label: 'valid', kind: 'notThis', name: 'Two words' };")).toEqual(['valid', 'Two words']);
    expect(found("const told = count === 1 ? said('use') : 'Many uses';")).toEqual(['use', 'Many uses']);
    expect(found("<p>{isDone ? 'done' : `${left} left`}</p>")).toEqual(['done', '{0} left']);
  });

  test('has none in what is for the machine', () => {
    expect(found("import 'Some Words'; type One = 'Two words'; fetch('/v1/state', { method: 'POST' });")).toEqual([]);
    expect(found("<code>keystorectl backup</code>; <input type='text' name='some name' />; kind === 'open'")).toEqual([]);
  });

  test('is written in another language, with what is put in where that has it', () => {
    const german = { 'Two words {0} {1}': '{1} und {0}: zwei „Wörter“', and: 'und', 'Copy {0}': '`{0}` kopieren', Look: 'Sieh "hin"' };
    expect(translate('<p>Two words <b>and</b> {more}</p>', 'tsx', german)).toBe('<p>{more}{" und "}<b>{"und"}</b>{": zwei „Wörter“"}</p>');
    expect(translate('<a title="Look" aria-label={`Copy ${what}`} />', 'tsx', german)).toBe(
      '<a title={"Sieh \\"hin\\""} aria-label={`\\`${what}\\` kopieren`} />',
    );
    expect(translate("const one = 'Look' === said;", 'tsx', german)).toBe('const one = "Sieh \\"hin\\"" === said;');
  });
});
