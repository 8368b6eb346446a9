// The style sheets of the console do not change what another one has named: a class belongs to one of them.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const folder = resolve(import.meta.dirname, '../../../plugins/console/app/style');

/** Classes whose own look a sheet says: rules with that class alone as a selector, outside of media queries. */
function looksIn(sheet: string): ReadonlySet<string> {
  const bare = sheet.replaceAll(/\/\*[^]*?\*\//g, '');
  const rules = bare.matchAll(/(?<=^|\n)([^\n@ {}][^{}@]*)\{/g);
  return new Set(
    [...rules].flatMap(([, selectors = '']) => selectors.split(',').flatMap((one) => /^\.([\w-]+)$/.exec(one.trim())?.[1] ?? [])),
  );
}

/** Sheets by class, of the classes that several say. */
function collisionsOf(sheets: Readonly<Record<string, string>>): Readonly<Record<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  for (const [name, text] of Object.entries(sheets)) for (const one of looksIn(text)) found.set(one, [...(found.get(one) ?? []), name]);
  return Object.fromEntries([...found].filter(([, names]) => names.length > 1));
}

test('no class has its look in two of them', () => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.css'));
  const sheets = Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  expect(collisionsOf(sheets)).toEqual({});
});

test('two rules for one class are found, and rules for what is inside another class are none', () => {
  expect(
    collisionsOf({ 'a.css': '.whole {\n}\n', 'b.css': '.other,\n.whole {\n}\n.x .whole {\n}\n@media print {\n  .other {\n  }\n}\n' }),
  ).toEqual({
    whole: ['a.css', 'b.css'],
  });
});
