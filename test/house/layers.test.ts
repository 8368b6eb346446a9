// The four floors and who may import whom (house 1.1), read from the import statements of every source file.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const floors = ['hsm', 'core', 'plugins', 'appliance'] as const;
const sources = floors.flatMap((floor) => filesBelow(join(root, floor)));

/** Packages only one floor may touch. */
const owners: Readonly<Record<string, string>> = { pkcs11js: 'hsm', 'graphene-pk11': 'hsm', lmdb: 'core' };

/** What core may see of the HSM floor: its types and its error class. */
const seenByCore = 'hsm/api.ts';

describe('layers', () => {
  test('a lower floor never imports a higher one', () => {
    const wrong = imports().filter(({ from, to }) => floors.indexOf(floorOf(to)) > floors.indexOf(floorOf(from)));
    expect(wrong).toEqual([]);
  });

  test('core sees of the HSM floor only hsm/api.ts', () => {
    const wrong = imports().filter(({ from, to }) => floorOf(from) === 'core' && floorOf(to) === 'hsm' && to !== seenByCore);
    expect(wrong).toEqual([]);
  });

  test('plugins see of the HSM floor only hsm/api.ts, and never each other', () => {
    const wrong = imports().filter(
      ({ from, to }) =>
        floorOf(from) === 'plugins' &&
        ((floorOf(to) === 'hsm' && to !== seenByCore) || (floorOf(to) === 'plugins' && pluginOf(to) !== pluginOf(from))),
    );
    expect(wrong).toEqual([]);
  });

  test('core/services holds types only', () => {
    const wrong = sources
      .filter((file) => file.startsWith('core/services/'))
      .filter((file) => /^(export )?(const|let|function|class|async function) /m.test(readFileSync(join(root, file), 'utf8')));
    expect(wrong).toEqual([]);
  });

  test('a package with an owner is imported by its owner only', () => {
    const wrong = sources.flatMap((file) =>
      specifiers(file)
        .filter((name) => owners[name] !== undefined && owners[name] !== floorOf(file))
        .map((name) => `${file} imports ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  test('no file is above 400 lines', () => {
    const long = sources.filter((file) => file.endsWith('.ts') && readFileSync(join(root, file), 'utf8').split('\n').length > 401);
    expect(long).toEqual([]);
  });

  test('every file says in its first line what it is for', () => {
    const silent = sources.filter((file) => file.endsWith('.ts') && !/^(#!.*\n)?\/\/ \S/.test(readFileSync(join(root, file), 'utf8')));
    expect(silent).toEqual([]);
  });

  test('every top-level folder says what belongs there', () => {
    for (const folder of [...floors, 'test']) expect(readFileSync(join(root, folder, 'README.md'), 'utf8')).toContain('#');
  });
});

function imports(): { from: string; to: string }[] {
  return sources.flatMap((file) =>
    specifiers(file)
      .filter((name) => name.startsWith('.'))
      .map((name) => ({ from: file, to: relative(root, resolve(dirname(join(root, file)), name)) }))
      .filter(({ to }) => floors.some((floor) => to.startsWith(`${floor}/`))),
  );
}

function specifiers(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] as string);
}

function floorOf(file: string): (typeof floors)[number] {
  return file.split('/')[0] as (typeof floors)[number];
}

function pluginOf(file: string): string {
  return file.split('/')[1] as string;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}
