// The table of requirements and the tests name each other.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const table = readFileSync(new URL('../../../plugins/oidc/REQUIREMENTS.md', import.meta.url), 'utf8');
const rows = [...table.matchAll(/^\| R(\d+) \| (.+?) \| (.+?) \| (.+?) \|$/gm)].map(([, number, what, where, tests]) => ({
  rule: `R${number}`,
  what,
  where: String(where),
  tests: String(tests),
}));

test('every rule from R1 to R69 has one row', () => {
  expect(rows.map(({ rule }) => rule)).toEqual(Array.from({ length: 69 }, (_, index) => `R${index + 1}`));
});

test.each(rows.filter(({ where }) => where !== 'not done'))(
  '$rule is enforced in files that are there, and named by the tests it points to',
  ({ rule, where, tests }) => {
    for (const file of where.split(', '))
      expect(readFileSync(new URL(`../../../plugins/oidc/${file}`, import.meta.url), 'utf8').length).toBeGreaterThan(0);
    const named = tests.split(', ').map((name) => readFileSync(new URL(`../../${name}.test.ts`, import.meta.url), 'utf8'));
    expect(
      named.some((source) => titles(source).some((title) => new RegExp(`\\b${rule}\\b`).test(title)) || ranges(source).has(rule)),
    ).toBe(true);
  },
);

test.each(rows.filter(({ where }) => where === 'not done'))('$rule is not done, and the row says why', ({ tests }) => {
  expect(tests.length).toBeGreaterThan(80);
});

/** Titles of tests and groups, and rows of tables of tests. */
function titles(source: string): string[] {
  return [...source.matchAll(/(?:test|describe)\(\s*['"`](.+?)['"`],|\[\s*\n?\s*['"`](R\d+.+?)['"`]/g)].map(
    (match) => match[1] ?? match[2] ?? '',
  );
}

/** `R52 to R55` in a title stands for all between. */
function ranges(source: string): Set<string> {
  const found = new Set<string>();
  for (const title of titles(source)) {
    for (const [, first, last] of title.matchAll(/R(\d+) to R(\d+)/g)) {
      for (let number = Number(first); number <= Number(last); number += 1) found.add(`R${number}`);
    }
  }
  return found;
}
