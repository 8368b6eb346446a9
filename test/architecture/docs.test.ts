// The documentation: its generated parts are what `npm run generate docs` would write now, and its links lead somewhere.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { generatedDocs } from '../../appliance/docs/generate.ts';

const root = resolve(import.meta.dirname, '../..');
const docs = join(root, 'appliance/docs');
const pages = globSync(['*.md', '{appliance,core,hsm,plugins,test}/**/*.md'], { cwd: root }).filter(
  (page) => !page.includes('node_modules'),
);

test.each(Object.entries(generatedDocs()))('%s is up to date', (name, text) => {
  expect(readFileSync(join(docs, name), 'utf8')).toBe(text);
});

test('every field of the configuration says what it means', () => {
  expect(generatedDocs()['administer/configuration.md']).not.toMatch(/\|\s+\|\n/);
});

test.each(pages)('the links of %s lead to files and headings that exist', (page) => {
  const dead = linksOf(readFileSync(join(root, page), 'utf8')).filter((link) => !leadsSomewhere(page, link));
  expect(dead).toEqual([]);
});

test('each of the eleven promises of a cluster names tests, and those exist', () => {
  const text = readFileSync(join(root, 'core/cluster/README.md'), 'utf8');
  const rows = (/\| Promise \| Tests \|\n.*\n((?:\|.*\n)+)/.exec(text)?.[1] ?? '').trim().split('\n');
  expect(rows).toHaveLength(11);
  const named = rows.map((row) => [...row.matchAll(/`([\w./-]+)`/g)].map((match) => match[1] ?? ''));
  expect(named.every((tests) => tests.length > 0)).toBe(true);
  expect(named.flat().filter((test) => !existsSync(join(root, 'test', `${test}.test.ts`)))).toEqual([]);
});

/** Targets of links to other pages of the tree, with their fragments. Code blocks hold none. */
function linksOf(text: string): string[] {
  const prose = text.replaceAll(/^ *```[^]*?^ *```/gm, '').replaceAll(/`[^`\n]*`/g, 'code');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '').filter((link) => !/^[a-z]+:/.test(link));
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', fragment] = link.split('#');
  const target = path === '' ? join(root, page) : resolve(root, dirname(page), path);
  if (!existsSync(target)) return false;
  return fragment === undefined || headingsOf(readFileSync(target, 'utf8')).includes(fragment);
}

/** Fragments as common renderers of Markdown make them from headings. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}
