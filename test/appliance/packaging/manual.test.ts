// Manual pages: every command has one with all of its operations, and none of their text is read as a request of roff.
import { beforeAll, describe, expect, test } from 'vitest';
import { programCommands } from '../../../appliance/cli/program.ts';
import { daemonPage } from '../../../appliance/packaging/manual/daemon-page.ts';
import { keystorectlPages } from '../../../appliance/packaging/manual/pages.ts';
import { ManualPage, type PageFile } from '../../../appliance/packaging/manual/roff.ts';

const date = '2026-11-22';
let pages: readonly PageFile[];
beforeAll(async () => {
  pages = [...(await keystorectlPages(date)), daemonPage(date)];
});

test('there is one for each command, for all of them, and for the daemon', () => {
  const expected = ['keystorectl', ...programCommands.map(({ name }) => `keystorectl-${name}`)].map((name) => `man1/${name}.1`);
  expect(pages.map(({ path }) => path)).toEqual([...expected, 'man8/keystored.8']);
});

test('each begins with title and NAME, and has only requests of man(7)', () => {
  const known = new Set(['TH', 'SH', 'SS', 'PP', 'TP', 'B', 'BR', 'nf', 'fi', 'nh', 'ad']);
  for (const { path, text } of pages) {
    expect(text, path).toMatch(
      /^\.TH "KEYSTORE[^"]*" [18] "2026-11-22" ".+" "keystored manual"\n\.nh\n\.ad l\n\.SH NAME\nkeystore\S+ \\- \S/,
    );
    const requests = [...text.matchAll(/^[.'](\w*)/gm)].map(([, name = '']) => name);
    expect(
      requests.filter((name) => !known.has(name)),
      path,
    ).toEqual([]);
    expect(text, path).toMatch(/^[\n\u0020-\u007E]+$/);
    expect(text, path).not.toMatch(/\n\n|undefined/);
  }
});

test('a verb has its operations, their fields and what they mean; a command with subcommands the help of each', () => {
  const of = (name: string): string => pages.find(({ path }) => path === `man1/keystorectl-${name}.1`)?.text ?? '';
  expect(of('create')).toContain('.SS "create transit\\-keys <name>"');
  expect(of('create')).toContain('.B "\\-\\-exportable [true|false]"');
  expect(of('do')).toContain('.SS "do transit\\-keys <name> encrypt');
  expect(of('audit')).toContain('find every flipped, dropped');
  expect(of('login')).toContain('\\-\\-role\\-id');
  expect(of('hsm')).toContain('.SH "HSM CHANGE\\-PIN"');
  expect(pages[0]?.text).toContain('KEYSTORED_NO_CACHE');
});

describe('text that roff would read as its own', () => {
  const written = (text: string): string =>
    new ManualPage({ name: 'x', section: 1, source: 'x', date }).text(text).file().text.split('.ad l\n')[1] ?? '';
  test.each([
    ['.so /etc/passwd', '.PP\n\\&.so /etc/passwd\n'],
    ["'quoted'", '.PP\n\\&\\(aqquoted\\(aq\n'],
    ['a \\fB b', '.PP\na \\efB b\n'],
    ['--flag', '.PP\n\\-\\-flag\n'],
    ['one\n.two\n\nthree', '.PP\none .two\n.PP\nthree\n'],
    ['First. .Second', '.PP\nFirst. .Second\n'],
    ['Ärger …', '.PP\n\\[u00C4]rger \\&...\n'],
  ])('%j is text', (text, expected) => {
    expect(written(text)).toBe(expected);
  });

  test('in a heading, a term and laid-out lines too', () => {
    const page = new ManualPage({ name: 'x', section: 1, source: 'x', date }).section('a "b" \\c').item('--x "y"', '').literal('.a\n\n  b');
    expect(page.file().text).toContain('.SH "A \\(dqB\\(dq \\eC"\n.TP\n.B "\\-\\-x \\(dqy\\(dq"\n\\&\n.PP\n.nf\n\\&.a\n\\&\n  b\n.fi\n');
  });
});
