// The threat model names every attack that is tried, and no test that does not exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'appliance/docs/understand/security.md'), 'utf8');
const named = [...text.matchAll(/`(test\/[\w./-]+)`/g)].map((match) => match[1] ?? '');

test('every attack is in the threat model', () => {
  const attacks = readdirSync(join(root, 'test/attacks'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.test.ts'),
  );
  expect(attacks.length).toBeGreaterThan(20);
  expect(attacks.filter((name) => !named.includes(`test/attacks/${name}`))).toEqual([]);
});

test('every test it names exists', () => {
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('it is no diary: seeds and commits of drills are in their results', () => {
  expect(text).not.toMatch(/_SEED=|\| [0-9a-f]{7,40} \|$/m);
});

test('every guarantee names a test', () => {
  const guarantees = /## Guarantees\n(.*?)\n## /s.exec(text)?.[1] ?? '';
  const rows = guarantees.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Guarantee |'));
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((row) => !/\| `test\/[^|]*\|$/.test(row))).toEqual([]);
});
