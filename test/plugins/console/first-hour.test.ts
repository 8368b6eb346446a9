// Steps of the first hour, files put together with their signatures, and names of browsers, as the console makes them.
import { describe, expect, test } from 'vitest';
import { fileNameOf } from '../../../plugins/console/app/marks/file-name.ts';
import { programName } from '../../../plugins/console/app/views/access/program-name.ts';
import { isSignatureName, pairsOf, signatureNameOf } from '../../../plugins/console/app/views/files/pairs.ts';
import { firstHourOf, type Facts } from '../../../plugins/console/app/views/overview/first-hour.ts';

describe('the first hour', () => {
  const facts: Facts = { services: 0, tokens: [], backups: {}, isDrilled: false, ticked: [] };
  const doneOf = (more: Partial<Facts>): readonly string[] =>
    firstHourOf({ ...facts, ...more }).flatMap(({ step, isDone }) => (isDone ? [step] : []));
  const person = (subject: string) => ({ 'user-kind': 'sign-in', identity: { subject }, session: {} });
  const root = { 'user-kind': 'root-token', session: {} };

  test('begins with nothing done, while root works in a browser and also while nobody does', () => {
    expect(doneOf({})).toEqual([]);
    expect(doneOf({ tokens: [root] })).toEqual([]);
  });

  test('wants two people: one with two sessions is one', () => {
    expect(doneOf({ tokens: [root, person('ada'), person('ada')] })).toEqual([]);
    expect(doneOf({ tokens: [root, person('ada'), person('bob')] })).toEqual(['second']);
  });

  test('has the root token put away when people work and no browser has it', () => {
    expect(doneOf({ tokens: [{ 'user-kind': 'root-token' }, person('ada')] })).toEqual(['root']);
  });

  test('takes a target for a backup, and what only a person knows when it is ticked', () => {
    expect(doneOf({ services: 1, backups: { targets: 1 }, isDrilled: true, ticked: ['ca'] })).toEqual(['ca', 'sign-in', 'backup', 'drill']);
  });
});

describe('dropped files', () => {
  const named = (...names: readonly string[]) => pairsOf(names.map((name) => ({ name })));

  test('go together with the signature that has their name, in any order', () => {
    const pair = [{ file: { name: 'a.bin' }, signature: { name: 'a.bin.sig' } }];
    expect(named('a.bin', 'a.bin.sig')).toEqual(pair);
    expect(named('a.bin.sig', 'a.bin')).toEqual(pair);
    expect(named('x.asc', 'x')).toEqual([{ file: { name: 'x' }, signature: { name: 'x.asc' } }]);
  });

  test('go together with the signature that the page has saved, whose name is one on every system', () => {
    for (const name of ['Q3 Bericht für alle.txt', '.profile', '-x.txt', `${'long'.repeat(40)}.txt`]) {
      const saved = signatureNameOf(name, '.sig');
      expect(fileNameOf(saved)).toBe(saved);
      expect(named(name, saved)).toEqual([{ file: { name }, signature: { name: saved } }]);
    }
    expect(named('a b', 'a-b', 'a-b.sig')).toEqual([{ file: { name: 'a b' } }, { file: { name: 'a-b' }, signature: { name: 'a-b.sig' } }]);
  });

  test('are signatures by their endings', () => {
    expect(['a.sig', 'a.txt.ASC', 'a.txt', 'sig'].map(isSignatureName)).toEqual([true, true, false, false]);
  });

  test('have a row of their own without one, a signature alone too', () => {
    expect(named('a.bin', 'b.sig')).toEqual([{ file: { name: 'a.bin' } }, { file: { name: 'b.sig' } }]);
    expect(named()).toEqual([]);
  });
});

describe('a browser', () => {
  test.each([
    ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox 128 on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0',
      'Edge 126 on Windows',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15',
      'Safari 17 on macOS',
    ],
    [
      'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
      'Chromium 126 on Android',
    ],
    ['curl/8.5.0', 'curl/8.5.0'],
  ])('that calls itself %s is %s', (text, name) => {
    expect(programName(text)).toBe(name);
  });
});
