// Copied commands: a shell takes every word as it was meant.
import { execFileSync } from 'node:child_process';
import { array, assert as holds, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commandsOf, type Commanded } from '../../../plugins/console/app/commands/commands.ts';
import { quote } from '../../../core/base/texts/quote.ts';
import type { Entry } from '../../../plugins/console/app/description/catalog.ts';

/** The words that a shell makes of a line. */
function wordsOf(line: string): readonly string[] {
  const out = execFileSync('sh', ['-c', `set -- ${line}; for word; do printf '%s\\0' "$word"; done`], { encoding: 'utf8' });
  return out.split('\0').slice(0, -1);
}

describe('a quoted word', () => {
  test.each(["it's", '$(id)', '`id`', 'a b', '', '*', '~', '!!', 'a\nb', '-rf', '\\', '"', '=x', '#', 'ü‮', ';', "'"])(
    '%j is one word of a shell',
    (word) => {
      expect(wordsOf(quote(word))).toEqual([word]);
    },
  );

  test('any text without NUL is', () => {
    const text = string({ unit: 'grapheme' }).filter((one) => !one.includes('\0') && one.isWellFormed());
    holds(
      property(array(text, { minLength: 1, maxLength: 8 }), (words) => {
        expect(wordsOf(words.map(quote).join(' '))).toEqual(words);
      }),
      { numRuns: 50 },
    );
  });

  test('with NUL is refused', () => {
    expect(() => quote('a\0b')).toThrow(RangeError);
  });
});

describe('a command', () => {
  const entry = {
    method: 'POST',
    path: '/v1/config/x',
    names: [],
    command: { verb: 'create', resource: 'x' },
    operation: {},
  } as unknown as Entry;
  const made = (body: object, more: Partial<Commanded> = {}): Readonly<Record<string, string>> => {
    const request = { method: 'POST', path: '/v1/config/x', body };
    return Object.fromEntries(
      commandsOf({ entry, names: [], request, nameField: 'name', hasSecrets: false, ...more }, 'https://a').map(({ program, text }) => [
        program,
        text,
      ]),
    );
  };

  test('of keystorectl has the name as a word and simple fields as flags', () => {
    expect(made({ name: 'orders', exportable: true, cipher: "it's" })['keystorectl']).toBe(
      String.raw`keystorectl create x orders --exportable=true '--cipher=it'\''s'`,
    );
  });

  test('of keystorectl has what flags cannot say in a document', () => {
    const body = { name: 'a', 'role-select': { claim: "g'" }, note: '@file' };
    const [before = '', after = ''] = (made(body)['keystorectl'] ?? '').split(' | ');
    expect(after).toBe('keystorectl create x a --file -');
    expect(JSON.parse(wordsOf(before)[2] ?? '')).toEqual({ 'role-select': { claim: "g'" }, note: '@file' });
  });

  test('of curl sends the same body, and never a file that a value names', () => {
    const body = { name: '@/etc/passwd', text: "a'b" };
    const words = wordsOf((made(body)['curl'] ?? '').replaceAll('\\\n', ''));
    expect(JSON.parse(words[words.indexOf('--data-raw') + 1] ?? '')).toEqual(body);
  });

  test('has no secret in it', () => {
    for (const text of Object.values(made({ name: 'a', 'client-secret': 'hunter2' }, { hasSecrets: true }))) {
      expect(text).not.toContain('hunter2');
      expect(text).toContain('request.json');
    }
  });
});
