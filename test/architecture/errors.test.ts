// The error tables, the reference that is made from them, and the codes that the source throws are one and the same.
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { plugins } from '../../appliance/plugins.ts';
import { coreErrors, type ErrorTable } from '../../core/base/errors.ts';

const root = resolve(import.meta.dirname, '../..');
const tables: readonly (readonly [string, ErrorTable])[] = [
  ['core', coreErrors],
  ...plugins.map((plugin) => [plugin.name, plugin.errors ?? {}] as const),
];
const rows = tables.flatMap(([owner, table]) => Object.entries(table).map(([code, row]) => ({ owner, code, ...row })));

test('codes are kebab-case, have one owner and a status of an error', () => {
  for (const { code, status } of rows) {
    expect(code).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
  }
  expect(rows.map(({ code }) => code).sort()).toEqual([...new Set(rows.map(({ code }) => code))].sort());
});

test('every 503 says what to do about it', () => {
  expect(rows.filter(({ status, detail }) => status === 503 && detail === undefined).map(({ code }) => code)).toEqual([]);
});

test('every code of the tables is thrown somewhere', () => {
  const sources = globSync(['core/**/*.ts', 'plugins/**/*.ts', 'appliance/**/*.ts'], { cwd: root }).filter(
    (path) => !path.endsWith('errors.ts'),
  );
  const text = sources.map((path) => readFileSync(resolve(root, path), 'utf8')).join('\n');
  expect(rows.map(({ code }) => code).filter((code) => !text.includes(`'${code}'`))).toEqual([]);
});
