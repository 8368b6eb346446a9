// The programs that the console hands over, against those of the clients' READMEs, which other tests run: the same lines, but for the use of the key.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { environmentOf, snippetsFor } from '../../../plugins/console/app/views/giving/snippets.ts';
import { rulesFor, uses } from '../../../plugins/console/app/views/giving/uses.ts';

const readme = (language: string): ReadonlySet<string> =>
  new Set(
    readFileSync(resolve(import.meta.dirname, `../../../appliance/clients/${language}/README.md`), 'utf8')
      .split('\n')
      .map((line) => line.trim()),
  );

describe.each(['encrypt', 'decrypt', 'sign', 'verify'])('a program for "%s"', (action) => {
  const snippets = snippetsFor({ key: 'orders', actions: [action] });

  test.each([
    ['TypeScript', 'typescript'],
    ['Python', 'python'],
    ['Go', 'go'],
    ['Java', 'java'],
  ])('in %s is that of the README, but for the use of the key', (language, folder) => {
    const text = snippets.find((one) => one.language === language)?.text ?? '';
    const known = readme(folder);
    const own = text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !known.has(line));
    const use = own.filter((line) => new RegExp(`key\\.${action}\\(`, 'i').test(line));
    expect(use).toHaveLength(1);
    expect(own.filter((line) => !use.includes(line))).toEqual(language === 'Go' ? ['fmt.Println(result)'] : []);
  });

  test('in curl asks for that use alone', () => {
    expect(snippets.find(({ language }) => language === 'curl')?.text).toContain(`/v1/state/keystore/transit-keys/orders/${action}"`);
  });
});

test.each(['encrypt', 'decrypt'])('of a derived key every program for "%s" names a context', (action) => {
  const [plain, derived] = [false, true].map((isDerived) => snippetsFor({ key: 'orders', actions: [action], isDerived }));
  expect(derived).toHaveLength(5);
  for (const { text } of derived ?? []) expect(text).toContain('customer-17');
  for (const { text } of plain ?? []) expect(text).not.toContain('customer-17');
});

test('a key whose uses have no program has none', () => expect(snippetsFor({ key: 'orders', actions: ['hmac'] })).toEqual([]));

test('the lines for the shell have no secret, and quote what a shell would read otherwise', () => {
  expect(environmentOf('https://keys.test', "a'b")).toBe(
    [
      "export KEYSTORED_URL=https://keys.test KEYSTORED_ROLE_ID='a'\\''b'",
      'read -rs KEYSTORED_SECRET_ID && export KEYSTORED_SECRET_ID',
    ].join('\n'),
  );
});

test('the rules for an application are about one key and the chosen uses', () => {
  expect(rulesFor('a key', ['encrypt'])).toEqual([
    { path: '/v1/state/keystore/transit-keys/a%20key/encrypt', operations: { execute: 'allow' } },
  ]);
  expect(new Set(uses.map(({ action }) => action)).size).toBe(uses.length);
});
