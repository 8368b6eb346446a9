// Texts of others on the pages of the console: what cannot be seen is made visible, and a name is one segment of an address.
import { expect, test } from 'vitest';
import { returnPathOf } from '../../../plugins/console/session/return-path.ts';
import { matchPath, fillPath } from '../../../plugins/console/app/address/path.ts';
import { visible } from '../../../plugins/console/app/parts/visible.ts';

test.each([
  ['a\u202eb', 'a⟨U+202E⟩b'],
  ['a\u200bb', 'a⟨U+200B⟩b'],
  ['a\u0000b', 'a⟨U+0000⟩b'],
  ['a\u001b[31mb', 'a⟨U+001B⟩[31mb'],
  ['a\nb', 'a⟨U+000A⟩b'],
  ['\u{e0041}', '⟨U+E0041⟩'],
  ['<b>ü 漢 😀', '<b>ü 漢 😀'],
])('%j is shown as %j', (text, shown) => expect(visible(text)).toBe(shown));

test('line ends stay where lines are shown', () => expect(visible('a\nb\u202e', 'lines')).toBe('a\nb⟨U+202E⟩'));

test('a name is one segment of an address, and never a step in it', () => {
  const template = '/v1/config/keystore/transit-keys/{name}';
  expect(fillPath(template, ['a/../b'])).toBe('/v1/config/keystore/transit-keys/a%2F..%2Fb');
  for (const name of ['', '.', '..']) expect(() => fillPath(template, [name])).toThrow(RangeError);
  for (const path of [
    '/v1/config/keystore/transit-keys/..',
    '/v1/config/keystore/transit-keys/%2e%2e',
    '/v1/config/keystore/transit-keys/%zz',
  ])
    expect(matchPath(template, path)).toBeUndefined();
  expect(matchPath(template, '/v1/config/keystore/transit-keys/a%2Fb')).toEqual(['a/b']);
});

test('the address to return to is one of the console', () => {
  expect(returnPathOf('/ui/v1/config/x?after=m')).toBe('/ui/v1/config/x?after=m');
  for (const text of ['//evil.test/ui/v1', 'https://evil.test/ui/v1', '/ui/v1x', '/login', '/ui/v1/../../login'])
    expect(returnPathOf(text)).toBeUndefined();
});
