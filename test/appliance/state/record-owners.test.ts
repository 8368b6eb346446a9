// Every table that the sources open is in the list of whose its records are in a cluster.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordOwners } from '../../../appliance/record-owners.ts';
import { plugins } from '../../../appliance/plugins.ts';

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

test('the sources open no table but those whose owner is known', () => {
  expect(opened.size).toBeGreaterThan(40);
  expect([...opened].filter((name) => recordOwners[name] === undefined)).toEqual([]);
});

test('the list names no table that is gone', () => {
  expect(Object.keys(recordOwners).filter((name) => !opened.has(name))).toEqual([]);
});

test('no source opens a table under a name that only the running program knows', () => {
  const unnamed = /\.(?:tenantT|t)able(?:<[^()]*>)?\((?!')/;
  const known = [
    'core/store/open.ts',
    'core/plugin/plugin-store.ts',
    'plugins/transit/records/attachments.ts',
    'appliance/record-owners.ts',
  ];
  const found = sources.filter((file) => unnamed.test(readFileSync(join(root, file), 'utf8')));
  expect(found.filter((file) => !known.includes(file))).toEqual([]);
});
