// A plugin is two files and a line in the list: what it brings is in the API, its description, the command line, the check and the rules.
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Catalog } from '../../../appliance/cli/catalog.ts';
import { kindsOf } from '../../../appliance/cli/declared/kinds.ts';
import { plugins } from '../../../appliance/plugins.ts';
import { tableKinds } from '../../../appliance/table-kinds.ts';
import { dropOwnRecords, findContent } from '../../../core/store/records/table-kinds.ts';
import { rules, type Sources } from '../../architecture/rules.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import notes from '../../harness/new-plugin/index.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const root = resolve(import.meta.dirname, '../../..');
let appliance: TestAppliance;
beforeAll(async () => {
  appliance = await startTestAppliance({ directory: temporary('appliance'), plugins: [...plugins, notes] });
});
afterAll(() => appliance.close());

const list = '/v1/config/keystore/notes';

test('its records are those of a person, and stay when an appliance begins to stand alone', async () => {
  expect(findContent(appliance.store, tableKinds)).toBeUndefined();
  expect((await appliance.request('POST', list, { name: 'first', text: 'one two  three' })).status).toBe(201);
  expect(findContent(appliance.store, tableKinds)).toBe('notes/notes');
  await dropOwnRecords(appliance.store, tableKinds);
  expect((await appliance.request('GET', `${list}/first`)).body).toMatchObject({ name: 'first', text: 'one two  three' });
});

test('its action answers, and is refused without a policy and without a note', async () => {
  const count = (name: string) => `/v1/state/keystore/notes/${name}/count`;
  expect((await appliance.request('POST', count('first'), {})).body).toEqual({ words: 3 });
  expect((await appliance.request('POST', count('other'), {})).status).toBe(404);
  expect((await appliance.request('POST', count('first'), {}, { token: 'none' })).status).toBe(401);
});

test('the description, the command line and declared documents know it', () => {
  const catalog = new Catalog(JSON.parse(JSON.stringify(appliance.app.openapi())) as ConstructorParameters<typeof Catalog>[0]);
  expect(catalog.resources('list')).toContain('notes');
  expect(catalog.require('do', 'notes').map(({ command }) => command.action)).toEqual(['count']);
  expect(kindsOf(catalog).map(({ resource }) => resource)).toContain('notes');
});

test('records of a deleted tenant go, and every invariant holds', async () => {
  const { body: tenant } = await appliance.request('POST', '/v1/config/tenants', { name: 'other' });
  expect(tenant).toMatchObject({ name: 'other' });
  expect(appliance.store.tenantTables().map(({ name }) => name)).toContain('notes/notes');
  expect(await appliance.check()).toEqual([]);
});

test('the rules of the sources hold with its two files', () => {
  const files = globSync('{core,hsm,plugins,appliance}/**/*.{ts,tsx,mjs}', { cwd: root }).filter((file) => !file.includes('node_modules'));
  const sources: Sources = new Map([
    ...files.map((file) => [file, readFileSync(join(root, file), 'utf8')] as const),
    ...['index', 'provision'].map((name) => {
      const text = readFileSync(join(root, `test/harness/new-plugin/${name}.ts`), 'utf8');
      return [`plugins/notes/${name}.ts`, text.replaceAll("'../../../", "'../../")] as const;
    }),
  ]);
  expect(sources.size).toBeGreaterThan(800);
  for (const { name, violations } of rules) expect(violations(sources), name).toEqual([]);
});
