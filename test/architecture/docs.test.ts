// The generated parts of the documentation are what the generator would write now (house 12); `npm run docs` writes them.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { generatedDocs } from '../../appliance/docs/generate.ts';

const docs = resolve(import.meta.dirname, '../../appliance/docs');

test.each(Object.entries(generatedDocs()))('%s is up to date', (name, text) => {
  expect(readFileSync(join(docs, name), 'utf8')).toBe(text);
});

test('every field of the configuration says what it means', () => {
  expect(generatedDocs()['configuration.md']).not.toMatch(/\|\s+\|\n/);
});
