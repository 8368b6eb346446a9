// What people do every day: bare values in scripts, several appliances, questions before what destroys, colour, and waiting.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { formatBare, formatCsv } from '../../../appliance/cli/terminal/plain.ts';
import { ctlFor, type Ctl } from './run.ts';
import { startWholeAppliance } from './whole-appliance.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let ctl: Ctl;

beforeAll(async () => {
  for (const name of ['appliance', 'home']) mkdirSync(path(name));
  appliance = await startWholeAppliance(path('appliance'));
  ctl = ctlFor(appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
  await ctl.json('create', 'transit-keys', 'box');
  await ctl.json('create', 'transit-keys', 'pen', '--cipher', 'ecdsa-p256');
});
afterAll(() => appliance.close());

describe('--value', () => {
  test('is the value and nothing else: octet by octet in a pipe, with a line end on a terminal', async () => {
    const bare = await ctl(['do', 'transit-keys', 'box', 'encrypt', '--plaintext', 'aGVsbG8=', '--value', 'ciphertext']);
    expect(bare).toMatchObject({ code: 0, stdout: expect.stringMatching(/^store:v1:[A-Za-z0-9+/]+=*$/), stderr: '' });
    const raw = await ctl(['do', 'transit-keys', 'box', 'decrypt', '--ciphertext', bare.stdout, '--output', 'raw']);
    expect(raw.stdout).toBe('aGVsbG8=');
    const onTerminal = await ctl(['show', 'transit-keys', 'box', '--value', 'latest-version'], { terminal: true });
    expect(onTerminal.stdout).toBe('1\n');
    expect((await ctl(['show', 'transit-keys', 'pen', '--value', 'keys/1'])).stdout).toMatch(
      /^-----BEGIN PUBLIC KEY-----\n[^]*-----END PUBLIC KEY-----\n$/,
    );
  });

  test('of a list is a line for each element, of a list of documents the field of each', async () => {
    expect((await ctl(['list', 'transit-keys', '--value', 'name'])).stdout).toBe('box\npen\n');
    expect((await ctl(['list', 'transit-keys', '--output', 'raw'])).stdout).toBe('box\npen\n');
    expect((await ctl(['list', 'transit-keys', '--fields', 'cipher', '--output', 'raw'])).stdout).toBe('aes256-gcm96\necdsa-p256\n');
    expect((await ctl(['do', 'token', 'info', '--value', 'policies'])).stdout).toBe('root\n');
    expect((await ctl(['list', 'transit-keys', '--value', '1/name'])).stdout).toBe('pen');
  });

  test('a field that the answer cannot have is refused before anything is done, one that it lacks afterwards', async () => {
    const misspelt = await ctl(['do', 'transit-keys', 'box', 'rotate', '--value', 'ciphertxt']);
    expect(misspelt.code).not.toBe(0);
    expect((await ctl(['do', 'transit-keys', 'box', 'encrypt', '--plaintext', '', '--value', 'ciphertxt'])).stderr).toMatch(
      /has no field "ciphertxt"; there are: ciphertext, key-version/,
    );
    expect(await ctl(['show', 'transit-keys', 'box', '--value', 'keys/7'])).toMatchObject({
      code: 7,
      stdout: '',
      stderr: 'keystorectl: the answer has no keys/7\n',
    });
    expect((await ctl(['show', 'transit-keys', 'box', '--output', 'raw'])).stderr).toContain('name its field with --value');
    expect((await ctl(['show', 'transit-keys', 'box', '--output', 'json', '--value', 'name'])).code).toBe(1);
  });

  test('a terminal gets no control characters of a value, a pipe gets what there is', () => {
    expect(formatBare({ a: 'x\u001b[2Jy' }, ['a'], true)).toBe('x\u{FFFD}[2Jy\n');
    expect(formatBare({ a: 'x\u001b[2Jy' }, ['a'], false)).toBe('x\u001b[2Jy');
    expect(formatBare({ a: [] }, ['a'], true)).toBe('');
    expect(formatBare({ a: { b: 1 } }, ['a'], false)).toBe('{"b":1}');
  });

  test('CSV is RFC 4180, and no cell is a formula', async () => {
    expect(
      formatCsv([
        { a: 'x,"y"\n', b: '=1+1' },
        { b: -1, c: ['p', 'q'] },
      ]),
    ).toBe('a,b,c\r\n"x,""y""\n",\'=1+1,\r\n,-1,"[""p"",""q""]"\r\n');
    expect((await ctl(['list', 'transit-keys', '--output', 'csv', '--fields', 'name,cipher'])).stdout).toBe(
      'name,cipher\r\nbox,aes256-gcm96\r\npen,ecdsa-p256\r\n',
    );
  });
});

describe('contexts', () => {
  const alone = { KEYSTORED_URL: '', KEYSTORED_CA: '', KEYSTORED_TOKEN: '' };
  const profile = () => path('home', '.config/keystored/profile.yaml');
  const run = (...words: readonly string[]) => ctl(words, { environment: alone });

  test('a profile from before contexts is the context "default", and stays as it was', async () => {
    expect((await ctl(['login', 'token'])).code).toBe(0);
    const before = parse(readFileSync(profile(), 'utf8'));
    expect(Object.keys(before)).toEqual(['url', 'ca', 'token', 'fromLogin']);
    const { stdout } = await run('context', 'list');
    expect(JSON.parse(stdout)).toEqual([
      {
        name: 'default',
        current: true,
        url: appliance.url,
        login: 'a token that was there',
        ca: expect.stringMatching(/^SHA-256 ([0-9A-F]{2}:?){32}$/),
      },
    ]);
    expect(stdout).not.toContain(appliance.rootToken);
    expect((await run('list', 'transit-keys')).code).toBe(0);
  });

  test('each has an address, a CA and a token of its own; one is current, and --context or KEYSTORED_CONTEXT names another', async () => {
    await ctl.json('create', 'tenants', 'branch');
    const { token } = await ctl.json('do', 'token', 'create-root', 'branch');
    writeFileSync(path('branch-token'), token);
    const set = await run(
      'context',
      'set',
      'branch',
      '--url',
      appliance.url,
      '--ca',
      path('home', 'ca.pem'),
      '--token-file',
      path('branch-token'),
    );
    expect(set).toMatchObject({ code: 0, stderr: `keystorectl: the context "branch" is ${appliance.url}\n` });
    expect(statSync(profile()).mode & 0o777).toBe(0o600);
    const tenantOf = async (words: readonly string[], environment: Record<string, string> = {}) =>
      (await ctl(['do', 'token', 'info', '--value', 'tenant', ...words], { environment: { ...alone, ...environment } })).stdout;
    expect(await tenantOf([])).toBe('system');
    expect(await tenantOf(['--context', 'branch'])).toBe('branch');
    expect(await tenantOf([], { KEYSTORED_CONTEXT: 'branch' })).toBe('branch');
    // An option wins over the environment, whose address and token are of another appliance.
    expect(await tenantOf(['--context', 'branch'], { KEYSTORED_URL: 'https://192.0.2.1:1', KEYSTORED_TOKEN: 'of-another' })).toBe('branch');
    expect((await ctl(['--context', 'branch', 'do', 'token', 'info', '--value', 'tenant'], { environment: alone })).stdout).toBe('branch');
    expect((await run('context', 'use', 'branch')).code).toBe(0);
    expect(await tenantOf([])).toBe('branch');
    expect(JSON.parse((await run('context', 'show')).stdout)).toMatchObject({ name: 'branch', current: true });
    expect((await ctl(['context', 'list'], { environment: alone, terminal: true })).stdout).toMatch(/^NAME +CURRENT +URL/m);
    expect((await run('context', 'delete', 'branch')).stderr).toContain('"default" is the current context now');
    expect(await tenantOf([])).toBe('system');
  });

  test('a login keeps its token in the context it names, and shows it to no other address', async () => {
    await ctl.json('create', 'approles', 'app', '--token-policies', 'user');
    const roleId = (await ctl(['show', 'approles', 'app', '--value', 'role-id'])).stdout;
    await ctl.json('do', 'approles', 'app', 'generate-secret-id', '--out', path('secret-id'));
    const connection = ['--context', 'app', '--url', appliance.url, '--ca', path('home', 'ca.pem')];
    expect((await run('login', 'approle', '--role-id', roleId, '--secret-id', `@${path('secret-id')}`, ...connection)).code).toBe(0);
    expect((await run('do', 'token', 'info', '--context', 'app', '--value', 'user')).stdout).toBe('app');
    const elsewhere = await run(
      'do',
      'token',
      'info',
      '--context',
      'app',
      '--url',
      appliance.url.replace('127.0.0.1', 'localhost'),
      '--ca',
      path('home', 'ca.pem'),
    );
    expect(elsewhere).toMatchObject({ code: 3, stderr: expect.stringContaining('No token was given') });
    // A context that gets another address loses the token of the old one.
    expect((await run('context', 'set', 'app', '--url', 'https://127.0.0.1:1')).stderr).toContain('without a token');
    await run('login', 'approle', '--role-id', roleId, '--secret-id', `@${path('secret-id')}`, ...connection);
    expect((await run('logout', '--context', 'app')).code).toBe(0);
    expect((await run('logout', '--context', 'app')).stderr).toContain('not logged in with the context "app"');
    expect((await run('list', 'transit-keys')).code).toBe(0);
  });

  test('what is no name, no context or no profile is refused', async () => {
    expect((await run('list', 'transit-keys', '--context', 'nowhere')).stderr).toMatch(
      /there is no context "nowhere"; there are: default, app/,
    );
    for (const name of ['../x', '__proto__', 'a b', '']) expect((await run('context', 'set', name, '--url', appliance.url)).code).toBe(1);
    expect((await run('context', 'use', 'nowhere')).code).toBe(1);
    const kept = readFileSync(profile());
    for (const text of ['[]', 'url: [', 'contexts: 7', 'contexts: { a: { token: 7 } }', '&a [*a]']) {
      writeFileSync(profile(), text);
      expect(await run('context', 'list')).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a profile') });
    }
    writeFileSync(profile(), kept);
    expect(existsSync(`${profile()}.${process.pid}.tmp`)).toBe(false);
  });
});

describe('before what destroys', () => {
  beforeAll(() => ctl.json('create', 'transit-keys', 'doomed', '--deletion-allowed'));
  const isThere = async () => (await ctl(['show', 'transit-keys', 'doomed'])).code === 0;

  test('a person at a terminal is asked, with what it ends; any answer but yes does nothing', async () => {
    for (const typed of ['', '\n', 'n\n', 'yess\n', 'maybe\n']) {
      const asked = await ctl(['delete', 'transit-keys', 'doomed'], { terminal: true, typed });
      expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was done') });
      expect(asked.stderr).toContain(
        `delete transit-keys doomed, at ${appliance.url}: this destroys every version of the key: what it encrypted can never be opened again. Go on? [y/N] `,
      );
    }
    expect(await isThere()).toBe(true);
    expect((await ctl(['delete', 'transit-keys', 'doomed'], { terminal: true, typed: 'y\n' })).code).toBe(0);
    expect(await isThere()).toBe(false);
  });

  test.each([
    ['do', 'transit-keys', 'box', 'trim', '1'],
    ['do', 'token', 'disable', '--accessor', 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6'],
    ['do', 'system', 'seal'],
    ['do', 'system', 'rotate-wrapping-key'],
    ['do', 'ca', 'some', 'revoke', '01'],
    ['do', 'approles', 'some', 'disable-secret-id', 'x'],
    ['delete', 'policies', 'some'],
  ])('%s %s %s %s is asked as well', async (...words) => {
    expect(await ctl(words, { terminal: true, typed: 'n\n' })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/: this [a-z].*Go on\? \[y\/N\]/),
    });
  });

  test('--yes, --validate and scripts are not asked; what destroys nothing is not either', async () => {
    await ctl.json('create', 'transit-keys', 'doomed', '--deletion-allowed');
    expect((await ctl(['delete', 'transit-keys', 'doomed', '--validate'], { terminal: true })).code).toBe(0);
    expect((await ctl(['delete', 'transit-keys', 'doomed'], { stdin: '' })).code).toBe(0);
    await ctl.json('create', 'transit-keys', 'doomed', '--deletion-allowed');
    expect((await ctl(['delete', 'transit-keys', 'doomed', '--yes'], { terminal: true })).code).toBe(0);
    expect((await ctl(['do', 'transit-keys', 'box', 'rotate'], { terminal: true })).code).toBe(0);
  });
});

describe('colour', () => {
  const show = ['show', 'transit-keys', 'box', '--output', 'yaml'];
  const colored = (text: string): boolean => text.includes('\u001b[');

  test.each([
    [true, {}, true, []],
    [false, {}, false, []],
    [false, { NO_COLOR: '1' }, true, []],
    [true, { NO_COLOR: '' }, true, []],
    [false, { TERM: 'dumb' }, true, []],
    [true, { FORCE_COLOR: '1' }, false, []],
    [false, { FORCE_COLOR: '0' }, true, []],
    [false, { NO_COLOR: '1', FORCE_COLOR: '1' }, true, []],
    [true, { NO_COLOR: '1' }, false, ['--color=always']],
    [true, { TERM: 'dumb' }, false, ['--color', 'always']],
    [false, { FORCE_COLOR: '1' }, true, ['--color', 'never']],
  ])('%s with %j, terminal %s, %j', async (expected, environment, terminal, options) => {
    const { code, stdout } = await ctl([...show, ...options], { environment, terminal });
    expect(code).toBe(0);
    expect(colored(stdout)).toBe(expected);
  });

  test('failures too; JSON never; another word is refused', async () => {
    expect((await ctl(['show', 'transit-keys', 'none', '--color=always'])).stderr).toContain('\u001b[31mkeystorectl:\u001b[39m 404');
    expect(colored((await ctl(['show', 'transit-keys', 'box', '--output', 'json', '--color=always'])).stdout)).toBe(false);
    expect(await ctl([...show, '--color', 'mauve'])).toMatchObject({ code: 1, stderr: 'keystorectl: --color is auto, always, never\n' });
  });
});

describe('watch', () => {
  test('prints what changes until the condition holds', async () => {
    await ctl.json('create', 'transit-keys', 'watched');
    const watching = ctl([
      'watch',
      'transit-keys',
      'watched',
      '--fields',
      'latest-version',
      '--until',
      'latest-version=2',
      '--interval',
      '50ms',
      '--output',
      'yaml',
    ]);
    await ctl.json('do', 'transit-keys', 'watched', 'rotate');
    expect(await watching).toMatchObject({ code: 0, stdout: expect.stringMatching(/latest-version: 2\n$/), stderr: '' });
    const list = ['watch', 'transit-keys', '--interval', '50ms', '--timeout', '200ms', '--until'];
    expect((await ctl([...list, 'name=watched', '--until', 'latest-version=2'])).code).toBe(0);
    expect(await ctl([...list, 'name=watched', '--until', 'latest-version=9'])).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('after 200ms it is not so: name=watched, latest-version=9'),
    });
    expect((await ctl(['watch', 'health', '--until', 'status!=down', '--interval', '50ms'])).code).toBe(0);
  });

  test('ends for what will not mend itself, and for a wrong command line', async () => {
    const away = await ctl(['watch', 'transit-keys', 'watched', '--interval', '20ms', '--timeout', '100ms'], {
      environment: { KEYSTORED_TOKEN: 'none' },
    });
    expect(away.code).toBe(3);
    expect((await ctl(['watch', 'transit-keys', 'none', '--until', 'name=x'])).code).toBe(4);
    for (const words of [['watch'], ['watch', 'nothing'], ['watch', 'health', '--interval', 'soon'], ['watch', 'health', '--until', '=x']])
      expect((await ctl(words)).code).toBe(1);
    expect((await ctl(['watch', '--help'])).stdout).toContain('--until <FIELD=VALUE>');
  });
});

test('policy check answers for whom it is asked: an approle, an OIDC role, a token, policies; with the rule that decides', async () => {
  const rule = { path: '/v1/state/keystore/transit-keys/box/encrypt', operations: { execute: 'allow' } };
  await ctl.json('create', 'policies', 'boxer', '--rest-api', JSON.stringify({ rules: [rule] }));
  await ctl.json('create', 'approles', 'boxer', '--token-policies', 'boxer');
  const { accessor } = await ctl.json('do', 'token', 'create', '--policies', 'boxer');
  const question = ['policy', 'check', rule.path, 'execute'];
  for (const whom of [
    ['--as', 'approles', 'boxer'],
    ['--accessor', accessor],
    ['--policies', 'boxer'],
  ])
    expect(await ctl.json(...question, ...whom)).toMatchObject({
      allowed: true,
      rule: rule.path,
      policy: 'boxer',
      why: expect.any(String),
    });
  expect((await ctl(['policy', 'check', '/v1/config/tenants', 'create', '--as', 'approles', 'boxer', '--value', 'allowed'])).stdout).toBe(
    'false',
  );
  expect((await ctl(['policy', 'check', '/v1/config/tenants', 'create', '--as', 'approles', 'boxer'])).code).toBe(7);
  expect((await ctl([...question, '--as', 'approles', 'absent'])).code).toBe(4);
  expect((await ctl([...question, '--as', 'transit-keys', 'box'])).stderr).toMatch(/approles <name>, oidc-roles <service> <name>/);
  expect((await ctl(['policy', 'check', '--help'])).stdout).toContain('--as RESOURCE NAMES…');
});
