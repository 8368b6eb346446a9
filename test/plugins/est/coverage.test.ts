// Every requirement has a test that carries its number, or a line in DIVERGENCES.md.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** Requirement numbers in test titles of a folder, and in the list of divergences. */
function numbersIn(text: string): number[] {
  return [...text.matchAll(/\bR(\d{1,2})\b/g)].map(([, digits]) => Number(digits));
}

test('R1 to R79 are all covered', () => {
  const files = ['test/plugins/est', 'test/plugins/ca'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.test.ts') && name !== 'coverage.test.ts')
      .map((name) => join(root, folder, name)),
  );
  const titles = files.flatMap(
    (path) => readFileSync(path, 'utf8').match(/(?:test|describe)(?:\.\w+)?(?:\([^'"`]*)?\(\s*['"`](?:[^\\\n]|\\.)*/g) ?? [],
  );
  const covered = new Set(numbersIn([...titles, readFileSync(join(root, 'plugins/est/DIVERGENCES.md'), 'utf8')].join('\n')));
  const missing = Array.from({ length: 79 }, (_, index) => index + 1).filter((number) => !covered.has(number));
  expect(missing).toEqual([]);
});
