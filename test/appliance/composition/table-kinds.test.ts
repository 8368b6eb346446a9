// The kind of every table that core and the appliance open is said, and no kind is said of a table that is gone.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plugins } from '../../../appliance/plugins.ts';
import { tableKinds } from '../../../appliance/table-kinds.ts';

const root = join(import.meta.dirname, '../../..');

/** Full names of the tables that a source opens: by name, or as the index of an attachment, which is transit's. */
function tablesIn(file: string, text: string): string[] {
  const opened = Array.from(
    text.matchAll(/\b(?:tenantT|t)able(?:<[^()]*>)?\('([a-z-]+)'\)/g),
    ([, name = '']) => `${prefixOf(file, name)}${name}`,
  );
  const attached = Array.from(text.matchAll(/\breference: \{[^}]*\btable: '([a-z-]+)'/g), ([, name]) => `transit/${name}`);
  return [...opened, ...attached];
}

function prefixOf(file: string, table: string): string {
  const [floor, plugin = ''] = file.split('/');
  if (floor !== 'plugins') return file === 'core/store/migrate.ts' ? 'core/' : '';
  const { inherits } = plugins.find(({ name }) => name === plugin) ?? {};
  return inherits?.tables.includes(table) === true ? `${inherits.from}/` : `${plugin}/`;
}

const sources = globSync('{core,plugins,appliance}/**/*.ts', { cwd: root }).filter((file) => !file.startsWith('appliance/docs/'));
const opened = new Set(sources.flatMap((file) => tablesIn(file, readFileSync(join(root, file), 'utf8'))));

test('core and the appliance open no table without a kind', () => {
  expect(opened.size).toBeGreaterThan(40);
  const own = [...opened].filter((name) => !name.includes('/') || name.startsWith('core/'));
  expect(own.length).toBeGreaterThan(25);
  expect(own.filter((name) => tableKinds[name] === undefined)).toEqual([]);
});

test('a kind is said of no table that is gone', () => {
  expect(Object.keys(tableKinds).filter((name) => !opened.has(name))).toEqual([]);
});

test('each part that says kinds is asked for them', () => {
  const said = sources.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\bexport const (\w+TableKinds)\b/g)].map(([, name = '']) => name),
  );
  const asked = ['core/platform', 'appliance'].map((folder) => readFileSync(join(root, folder, 'table-kinds.ts'), 'utf8')).join('');
  expect(said.length).toBeGreaterThan(15);
  expect(said.filter((name) => !asked.includes(`...${name}`) && name !== 'coreTableKinds')).toEqual([]);
});

test('no source opens a table under a name that only the running program knows', () => {
  const unnamed = /\.(?:tenantT|t)able(?:<[^()]*>)?\((?!')/;
  const known = [
    'core/store/open.ts',
    'core/plugin/plugin-store.ts',
    'plugins/transit/records/attachments.ts',
    'core/store/records/table-kinds.ts',
  ];
  const found = sources.filter((file) => unnamed.test(readFileSync(join(root, file), 'utf8')));
  expect(found.filter((file) => !known.includes(file))).toEqual([]);
});
