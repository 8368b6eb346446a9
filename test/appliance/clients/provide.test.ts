// The client libraries are made of the present sources into a folder, and only when these have changed.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { languages } from '../../../appliance/clients/languages.ts';
import { clientsDirectory, provideClients } from '../../../appliance/clients/provide.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../../..');
const read = (...names: string[]): string => readFileSync(path(...names), 'utf8');

test('each language has its folder: licence, README, what is written by hand, and what is generated', async () => {
  await provideClients(path('clients'));
  expect(readdirSync(path('clients')).toSorted()).toEqual([...languages, 'state'].toSorted());
  for (const language of languages) {
    for (const name of ['README.md', 'LICENSE']) expect(existsSync(path('clients', language, name)), `${language}/${name}`).toBe(true);
  }
  expect(read('clients/go/client.go')).toBe(readFileSync(join(root, 'appliance/clients/go/client.go'), 'utf8'));
  expect(read('clients/go/operations_generated.go')).toContain('func (g TransitKeysGroup) Encrypt(');
  expect(read('clients/python/src/keystored_client/generated/operations.py')).toContain('def encrypt(');
  expect(read('clients/typescript/src/generated/operations.ts')).toContain('  encrypt(');
  expect(read('clients/java/src/main/java/keystored/client/api/TransitKeysGroup.java')).toContain(' encrypt(');
});

test('no member of a document in Java overrides one of every object', async () => {
  await provideClients(path('clients'));
  const folder = 'clients/java/src/main/java/keystored/client/api';
  const texts = readdirSync(path(folder)).map((name) => read(folder, name));
  expect(texts.length).toBeGreaterThan(100);
  for (const text of texts) expect(text).not.toMatch(/ (?:equals\(Object|(?:hashCode|getClass|notify|notifyAll|clone|finalize|wait)\(\))/);
});

test('files have the modes of packages, whatever the umask', async () => {
  const before = process.umask(0o077);
  try {
    await provideClients(path('closed'));
  } finally {
    process.umask(before);
  }
  expect(statSync(path('closed/typescript/README.md')).mode & 0o777).toBe(0o644);
});

test('what is made of the present sources stays as it is', async () => {
  await provideClients(path('clients'));
  const before = statSync(path('clients/go'));
  await provideClients(path('clients'));
  expect(statSync(path('clients/go')).ino).toBe(before.ino);
});

test('what is made of other sources is replaced, and nothing of it stays', async () => {
  await provideClients(path('clients'));
  writeFileSync(path('clients/go/removed_generated.go'), 'package keystored\n');
  writeFileSync(path('clients/go/client.go'), 'planted');
  mkdirSync(path('clients/packages'));
  writeFileSync(path('clients/state'), 'other sources');
  await provideClients(path('clients'));
  expect(existsSync(path('clients/go/removed_generated.go'))).toBe(false);
  expect(read('clients/go/client.go')).not.toBe('planted');
  expect(existsSync(path('clients/packages'))).toBe(false);
});

test('two runs at the same time make one', async () => {
  await Promise.all([provideClients(path('both')), provideClients(path('both'))]);
  expect(readdirSync(path('both')).toSorted()).toEqual([...languages, 'state'].toSorted());
});

test('where the API cannot be described, no client of other sources stays', async () => {
  await provideClients(path('failing'));
  writeFileSync(path('failing/state'), 'other sources');
  const failing = provideClients(path('failing'), () => Promise.reject(new Error('no description')));
  await expect(failing).rejects.toThrow('no description');
  expect(readdirSync(path('failing'))).toEqual([]);
});

test('a run of the tests begins with those of the present sources', async () => {
  await provideClients(path('clients'));
  expect(readFileSync(join(clientsDirectory, 'state'), 'utf8')).toBe(read('clients/state'));
});
