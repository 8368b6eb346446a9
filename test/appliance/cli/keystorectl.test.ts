// keystorectl against the composed appliance: every verb, how values come and go, and what the exit codes say.
import { createPublicKey, verify } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { unarmor } from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { formats, formatValue } from '../../../appliance/cli/terminal/output.ts';
import { ctlFor, type Ctl } from './run.ts';
import { startWholeAppliance } from './whole-appliance.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let ctl: Ctl;

beforeAll(async () => {
  mkdirSync(path('appliance'));
  appliance = await startWholeAppliance(path('appliance'));
  mkdirSync(path('home'));
  ctl = ctlFor(appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
});
afterAll(() => appliance.close());

describe('verbs over resources', () => {
  test('create, show, list, merge, replace and delete do what the API does', async () => {
    expect(await ctl.json('create', 'transit-keys', 'verbs', '--exportable')).toMatchObject({ name: 'verbs', exportable: true });
    expect(await ctl.json('merge', 'transit-keys', 'verbs', '--auto-rotate/rotate-after', '90d')).toBeUndefined();
    expect(await ctl.json('show', 'transit-keys', 'verbs')).toMatchObject({
      'auto-rotate': { 'rotate-after': '90d' },
      'latest-version': 1,
    });
    const config = await ctl.json('show', 'transit-keys', 'verbs', '--config');
    expect(config).not.toHaveProperty('latest-version');
    writeFileSync(path('verbs.json'), JSON.stringify({ ...config, 'auto-rotate': undefined, 'deletion-allowed': true }));
    await ctl.json('replace', 'transit-keys', 'verbs', '--file', path('verbs.json'));
    expect(await ctl.json('show', 'transit-keys', 'verbs', '--config')).not.toHaveProperty('auto-rotate');
    expect(await ctl.json('list', 'transit-keys', '--keys')).toContain('verbs');
    expect(await ctl.json('list', 'transit-keys', '--count')).toEqual({ count: expect.any(Number) });
    await ctl.json('delete', 'transit-keys', 'verbs');
    expect((await ctl(['show', 'transit-keys', 'verbs'])).code).toBe(4);
  });

  test('--validate checks and stores nothing', async () => {
    await ctl.json('create', 'transit-keys', 'never-made', '--validate');
    expect((await ctl(['show', 'transit-keys', 'never-made'])).code).toBe(4);
    expect((await ctl(['create', 'transit-keys', 'never-made', '--validate', '--cipher', 'rot13'])).code).toBe(2);
  });

  test('a flag alone is true, --no- is false, and the next word is not swallowed', async () => {
    expect(await ctl.json('create', 'transit-keys', '--exportable', 'flags')).toMatchObject({ exportable: true });
    await ctl.json('merge', 'transit-keys', 'flags', '--deletion-allowed', 'true');
    await ctl.json('merge', 'transit-keys', 'flags', '--no-deletion-allowed');
    expect(await ctl.json('show', 'transit-keys', 'flags')).toMatchObject({ 'deletion-allowed': false });
  });

  test('children are named after their parents, and lists are given by repeating', async () => {
    writeFileSync(
      path('service.yaml'),
      'role-select: {role-claim: groups}\nallowed-redirect-uris: [https://localhost:4646/oidc-callback]\n',
    );
    const provider = [
      '--discovery-url',
      'https://id.example/.well-known/openid-configuration',
      '--client-id',
      'keystore',
      '--client-secret',
      's',
    ];
    await ctl.json('create', 'oidc', 'work', '--file', path('service.yaml'), ...provider);
    const grants = ['--token-policies', 'user', '--token-policies', 'default', '--claim-mappings', '{email: username}'];
    await ctl.json('create', 'oidc-roles', 'work', '/team/a b', ...grants);
    expect(await ctl.json('show', 'oidc-roles', 'work', '/team/a b')).toMatchObject({
      name: '/team/a b',
      'token-policies': ['user', 'default'],
      'claim-mappings': { email: 'username' },
    });
    expect((await ctl(['__complete', 'show', 'oidc-roles', 'work', ''])).stdout).toBe('/team/a b\n');
  });

  test('show without the name lists, and things without entries are shown', async () => {
    expect(await ctl.json('show', 'policies', '--keys')).toContain('root');
    expect(await ctl.json('show', 'health')).toMatchObject({ status: 'ok' });
    expect((await ctl(['list', 'tokens'])).stdout).toContain('"user": "root"');
  });

  test('--if-match guards a change', async () => {
    await ctl.json('create', 'transit-keys', 'guarded');
    const refused = await ctl(['merge', 'transit-keys', 'guarded', '--exportable', '--if-match', '"other"']);
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('412 precondition-failed') });
  });
});

describe('documents', () => {
  test('come over a pipe in YAML or JSON, and flags win over them', async () => {
    const yaml = await ctl(['create', 'transit-keys', '--exportable'], { stdin: 'ignored: because a flag was given' });
    expect(yaml.code).toBe(2);
    expect((await ctl(['create', 'transit-keys'], { stdin: 'name: piped\ncipher: ed25519\n' })).code).toBe(0);
    expect((await ctl(['create', 'transit-keys', 'piped-2'], { stdin: '{"cipher": "ed25519"}' })).code).toBe(0);
    expect(
      JSON.parse((await ctl(['create', 'transit-keys', 'piped-3', '--file', '-', '--exportable'], { stdin: 'exportable: false' })).stdout),
    ).toMatchObject({
      exportable: true,
    });
    expect(await ctl.json('show', 'transit-keys', 'piped-2')).toMatchObject({ cipher: 'ed25519' });
  });

  test('that are none are named with their line', async () => {
    const broken = await ctl(['create', 'transit-keys', '--file', '-'], { stdin: 'name: a\n  b: [' });
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringMatching(/standard input line \d/) });
    expect(await ctl(['merge', 'transit-keys', 'piped'], { stdin: 'some name\n' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not a document'),
    });
    expect((await ctl(['create', 'transit-keys', '--file', path('absent.yaml')])).stderr).toContain('ENOENT');
  });
});

describe('actions', () => {
  beforeAll(async () => {
    await ctl.json('create', 'transit-keys', 'box');
    await ctl.json('create', 'transit-keys', 'pen', '--cipher', 'ecdsa-p256');
  });

  test('take positional values: trim 3, random-bytes 32', async () => {
    const { bytes } = await ctl.json('do', 'crypto-functions', 'random-bytes', '32', '--format', 'hex');
    expect(bytes).toMatch(/^[0-9a-f]{64}$/);
    await ctl.json('create', 'transit-keys', 'trimmed');
    for (let version = 2; version <= 3; version += 1) await ctl.json('do', 'transit-keys', 'trimmed', 'rotate');
    await ctl.json('do', 'transit-keys', 'trimmed', 'trim', '3');
    expect(Object.keys((await ctl.json('show', 'transit-keys', 'trimmed')).keys)).toEqual(['3']);
    expect((await ctl(['do', 'transit-keys', 'trimmed', 'trim', 'three'])).stderr).toContain('--version must be whole number');
  });

  test('encrypt and decrypt files as they are, binary or not', async () => {
    const octets = Buffer.from([0, 255, 10, 13, 128, 7]);
    writeFileSync(path('plain'), octets);
    await ctl.json('do', 'transit-keys', 'box', 'encrypt', '--in', path('plain'), '--out', path('cipher'));
    expect(readFileSync(path('cipher'), 'utf8')).toMatch(/^store:v1:[A-Za-z0-9+/]+=*\n$/);
    await ctl.json('do', 'transit-keys', 'box', 'decrypt', '--in', path('cipher'), '--out', path('opened'));
    expect(readFileSync(path('opened'))).toEqual(octets);
    expect(statSync(path('opened')).mode & 0o777).toBe(0o600);
    const piped = await ctl(['do', 'transit-keys', 'box', 'encrypt', '--in', '-', '--out', '-'], { stdin: 'hello' });
    const { plaintext } = await ctl.json('do', 'transit-keys', 'box', 'decrypt', '--ciphertext', piped.stdout.trim());
    expect(Buffer.from(plaintext, 'base64').toString()).toBe('hello');
  });

  test('text without base64 goes in and comes out as text', async () => {
    const { ciphertext } = await ctl.json('do', 'transit-keys', 'box', 'encrypt', '--plaintext', 'grüß', '--base64-encoded', 'false');
    expect(await ctl.json('do', 'transit-keys', 'box', 'decrypt', '--ciphertext', ciphertext, '--no-base64-encoded')).toMatchObject({
      plaintext: 'grüß',
    });
    writeFileSync(path('sealed'), ciphertext);
    const out = await ctl(['do', 'transit-keys', 'box', 'decrypt', '--in', path('sealed'), '--no-base64-encoded', '--out', '-']);
    expect(out.stdout).toBe('grüß');
  });

  test('a signature of a file verifies outside, and a wrong one gives exit code 7', async () => {
    writeFileSync(path('text'), 'to be signed');
    await ctl.json('do', 'transit-keys', 'pen', 'sign', '--in', path('text'), '--out', path('signature'));
    const { keys } = await ctl.json('show', 'transit-keys', 'pen');
    const raw = Buffer.from(
      readFileSync(path('signature'), 'utf8')
        .trim()
        .replace(/^store:v1:/, ''),
      'base64',
    );
    expect(verify('sha256', readFileSync(path('text')), createPublicKey(keys['1']), raw)).toBe(true);
    const check = ['do', 'transit-keys', 'pen', 'verify', '--signature', `@${path('signature')}`];
    expect(await ctl([...check, '--in', path('text')])).toMatchObject({ code: 0, stdout: expect.stringContaining('true') });
    expect(await ctl([...check, '--text', 'b3RoZXI='])).toMatchObject({ code: 7, stdout: expect.stringContaining('false'), stderr: '' });
  });

  test('binary OpenPGP signatures and key blocks are octets in files, as gpg writes and reads them', async () => {
    await ctl.json('create', 'transit-keys', 'archive', '--cipher', 'ed25519', '--openpgp-user-id', 'Archive');
    writeFileSync(path('release'), 'Origin: Example\n');
    const sign = ['do', 'transit-keys', 'archive', 'openpgp-sign', '--in', path('release')];
    await ctl.json(...sign, '--format', 'binary', '--out', path('release.sig'));
    expect(readFileSync(path('release.sig')).subarray(0, 1)).toEqual(Buffer.of(0xc2));
    await ctl.json(...sign, '--out', path('release.asc'));
    expect(readFileSync(path('release.asc'), 'utf8')).toMatch(/^-----BEGIN PGP SIGNATURE-----\n/);
    for (const signature of ['release.sig', 'release.asc']) {
      const check = ['do', 'transit-keys', 'archive', 'openpgp-verify', '--in', path('release'), '--signature', `@${path(signature)}`];
      expect(await ctl.json(...check)).toMatchObject({ valid: true });
    }
    await ctl.json('do', 'transit-keys', 'archive', 'export-openpgp-public', '--out', path('archive.asc'));
    const { data } = await unarmor(readFileSync(path('archive.asc'), 'utf8'));
    writeFileSync(path('archive.gpg'), data as Uint8Array);
    for (const [name, block] of [['of-binary', 'archive.gpg'] as const, ['of-armor', 'archive.asc'] as const]) {
      await ctl.json('do', 'keystore', 'import-openpgp', name, '--in', path(block));
      const { keys } = await ctl.json('do', 'transit-keys', name, 'export-openpgp-public');
      expect(keys[0].keyblock).toBe(readFileSync(path('archive.asc'), 'utf8'));
    }
  });

  test('a policy question is answered by the exit code as well', async () => {
    const question = ['do', 'policy', 'check', '/v1/config/tenants', 'create'];
    expect(await ctl(question)).toMatchObject({ code: 0, stdout: expect.stringContaining('"allowed": true') });
    await ctl.json('do', 'token', 'create', '--policies', 'default', '--out', path('weak'));
    const weak = { KEYSTORED_TOKEN: '', KEYSTORED_TOKEN_FILE: path('weak') };
    expect(await ctl(question, { environment: weak })).toMatchObject({ code: 7, stdout: expect.stringContaining('"allowed": false') });
    expect(await ctl(['policy', 'check', '/v1/config/tenants', 'create', '--policies', 'user', '--output', 'yaml'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('why: The rule "/**" of the token\'s policy "user" allows "create".'),
    });
  });

  test('without a token, or with one that does not work, a login is named and no header', async () => {
    const bare = { KEYSTORED_TOKEN: '', KEYSTORED_TOKEN_FILE: '', KEYSTORED_DATA: '' };
    const missing = await ctl(['list', 'transit-keys'], { environment: bare });
    expect(missing).toMatchObject({ code: 3, stderr: expect.stringMatching(/No token was given: .*keystorectl login.*KEYSTORED_TOKEN/) });
    const unknown = await ctl(['list', 'transit-keys', '--token', '6f1c9f6e-9f5c-4a52-8d4c-6f1c9f6e9f5c']);
    expect(unknown).toMatchObject({ code: 3, stderr: expect.stringMatching(/token is unknown here, has expired .*keystorectl login/) });
    for (const { stderr } of [missing, unknown]) expect(stderr).not.toContain('Bearer');
  });

  test('warnings about a policy go to standard error, whatever changed it', async () => {
    const vain = '{ rules: [{ path: /v1/nowhere, operations: { read: allow } }] }';
    const warning = 'keystorectl: warning: rest-api/rules/0 (/v1/nowhere) has no effect: the API has no such path.';
    for (const words of [
      ['create', 'policies', 'vain', '--rest-api', vain, '--validate'],
      ['create', 'policies', 'vain', '--rest-api', vain],
      ['replace', 'policies', 'vain', '--rest-api', vain],
      ['merge', 'policies', 'vain', '--description', 'merged'],
    ])
      expect(await ctl(words)).toMatchObject({ code: 0, stderr: `${warning}\n` });
  });

  test('without an action, or with a wrong one, the actions are named', async () => {
    expect(await ctl(['do', 'transit-keys', 'box'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('actions: encrypt, encrypt-batch, decrypt'),
    });
    expect(await ctl(['do', 'transit-keys', 'box', 'frobnicate'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('"frobnicate"'),
    });
  });
});

describe('--lines', () => {
  test('rewraps a file of ciphertexts in batches, in place, line for line', async () => {
    await ctl.json('create', 'transit-keys', 'bulk');
    writeFileSync(
      path('lines'),
      Array.from({ length: 1_500 }, (_, index) => `${Buffer.from(`row ${index}`).toString('base64')}\n`).join(''),
    );
    const bulk = ['do', 'transit-keys', 'bulk'];
    await ctl.json(...bulk, 'encrypt', '--lines', '--in', path('lines'), '--out', path('bulk'));
    await ctl.json(...bulk, 'rotate');
    const shown = await ctl([...bulk, 'rewrap', '--lines', '--in', path('bulk'), '--out', path('bulk')], { terminal: true });
    expect(shown).toMatchObject({ code: 0, stderr: expect.stringContaining('1,000 done') });
    const lines = readFileSync(path('bulk'), 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(1_500);
    expect(lines.every((line) => line.startsWith('store:v2:'))).toBe(true);
    const { plaintext } = await ctl.json(...bulk, 'decrypt', '--ciphertext', lines[1_234] ?? '');
    expect(Buffer.from(plaintext, 'base64').toString()).toBe('row 1234');
  });

  test('writes nothing when a line fails, and says which; --keep-going leaves its line empty', async () => {
    writeFileSync(path('bad'), 'aGVsbG8=\nnot base64\naGVsbG8=\n');
    const bulk = ['do', 'transit-keys', 'bulk', 'encrypt', '--lines', '--in', path('bad'), '--out', path('bad.out')];
    expect(await ctl(bulk)).toMatchObject({
      code: 7,
      stderr: expect.stringMatching(/1 of 3 lines failed, nothing was written.*\n {2}line 2: invalid-base64/),
    });
    expect(existsSync(path('bad.out'))).toBe(false);
    expect((await ctl([...bulk, '--keep-going'])).code).toBe(7);
    expect(
      readFileSync(path('bad.out'), 'utf8')
        .split('\n')
        .map((line) => line.slice(0, 9)),
    ).toEqual(['store:v2:', '', 'store:v2:', '']);
    expect(readdirSync(dirname(path('bad'))).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

describe('output', () => {
  test('is YAML on a terminal, JSON in a pipe, and a table when asked for', async () => {
    const show = ['show', 'policies', 'default', '--fields', 'name,built-in'];
    expect((await ctl(show, { terminal: true, environment: { NO_COLOR: '1' } })).stdout).toBe('name: default\nbuilt-in: true\n');
    expect(JSON.parse((await ctl(show)).stdout)).toEqual({ name: 'default', 'built-in': true });
    expect((await ctl(['list', 'policies', '--output', 'table', '--fields', 'name,built-in'])).stdout.split('\n')[0]).toMatch(
      /^NAME +BUILT-IN$/,
    );
  });

  test('a table of certificates says until when they last and whether they count, on a narrow terminal too', async () => {
    const certificate = {
      serial: 'f'.repeat(40),
      subject: 'CN=device.example',
      names: ['device.example'],
      'not-before': '2026-01-01T00:00:00.000000Z',
    };
    const after = { 'not-after': '2027-01-01T00:00:00.000000Z', via: 'est', 'key-version': 1, status: 'revoked' };
    const [head, row] = (await formatValue([{ ...certificate, ...after }], 'table', 80)).split('\n');
    expect(head).toMatch(/^SERIAL +STATUS +NOT-AFTER$/);
    expect(row).toMatch(/^f{40} +revoked +2027-01-01T00:00:00.000000Z$/);
    expect((await formatValue([{ ...certificate, ...after }], 'table', 200)).split('\n')[0]).toMatch(
      /NOT-AFTER +SUBJECT +NAMES +NOT-BEFORE/,
    );
  });

  test.each(formats)('%s hands no control characters of a document to the terminal', async (format) => {
    const text = await formatValue({ description: 'a\u001b[2Jb\u0007' }, format);
    expect(text).toContain('[2Jb');
    expect(text).not.toMatch(/(?!\r?\n)\p{Cc}/u);
  });

  test('a backup replaces no file unless it is told to, and a device stays a device', async () => {
    await ctl.json('create', 'transit-keys', 'kept', '--exportable', '--allow-plaintext-backup');
    const backup = ['do', 'transit-keys', 'kept', 'backup', '--out', path('kept.backup')];
    expect((await ctl(backup)).code).toBe(0);
    const before = readFileSync(path('kept.backup'), 'utf8');
    expect(await ctl(backup)).toMatchObject({ code: 1, stderr: expect.stringMatching(/kept\.backup exists: .*--force/) });
    expect(readFileSync(path('kept.backup'), 'utf8')).toBe(before);
    await ctl.json('do', 'transit-keys', 'kept', 'rotate');
    expect((await ctl([...backup, '--force'])).code).toBe(0);
    expect(readFileSync(path('kept.backup'), 'utf8')).not.toBe(before);

    writeFileSync(path('passphrase'), 'correct horse battery staple');
    const whole = ['backup', '--passphrase', `@${path('passphrase')}`, '--out', path('whole.backup')];
    const size = (): number => statSync(path('whole.backup')).size;
    expect(await ctl(whole)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/the backup is in .*whole\.backup, [\d,]+ octets\n$/),
    });
    expect(size()).toBeGreaterThan(0);
    expect(await ctl(whole)).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') });
    expect((await ctl([...whole, '--force'])).code).toBe(0);
    symlinkSync('/dev/null', path('nothing'));
    expect((await ctl(['do', 'transit-keys', 'kept', 'backup', '--out', path('nothing')])).code).toBe(0);
    expect(lstatSync(path('nothing')).isSymbolicLink()).toBe(true);
  });

  test('--fields also picks from what actions answer', async () => {
    const { stdout } = await ctl(['do', 'token', 'info', '--fields', 'user', '--output', 'yaml']);
    expect(stdout).toBe('user: root\n');
  });
});

describe('exit codes', () => {
  test.each([
    [1, 'an unknown resource', ['create', 'transit-keyss', 'a']],
    [1, 'an unknown option', ['create', 'transit-keys', 'a', '--colour', 'red']],
    [1, 'a missing name', ['delete', 'transit-keys']],
    [2, 'a wrong value', ['create', 'transit-keys', 'a', '--cipher', 'rot13']],
    [4, 'a missing entry', ['delete', 'transit-keys', 'absent']],
    [5, 'a state that forbids it', ['do', 'transit-keys', 'exit-codes', 'backup']],
  ] as const)('%i: %s', async (code, _, words) => {
    await ctl(['create', 'transit-keys', 'exit-codes']);
    expect(await ctl(words)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining('keystorectl: ') });
  });

  test('3: a token that is none', async () => {
    expect((await ctl(['list', 'transit-keys'], { environment: { KEYSTORED_TOKEN: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' } })).code).toBe(
      3,
    );
  });

  test('6: no answer; 1: the answering server is not trusted', async () => {
    expect(await ctl(['list', 'transit-keys', '--url', 'https://127.0.0.1:1'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('does not answer'),
    });
    const untrusted = await ctl(['list', 'transit-keys'], { environment: { KEYSTORED_CA: '' } });
    expect(untrusted).toMatchObject({ code: 1, stderr: expect.stringContaining('--ca') });
  });

  test('an answer that is a refusal as well is shown, and the exit code tells', async () => {
    const words = ['do', 'transit-keys', 'exit-codes', 'decrypt', '--batch-input', '[{ciphertext: wrong}]'];
    expect(await ctl(words)).toMatchObject({ code: 2, stdout: expect.stringContaining('"code": "invalid-format"'), stderr: '' });
  });

  test('a refusal names code, rule and request', async () => {
    const { stderr } = await ctl(['create', 'transit-keys', 'Not_A_Name']);
    expect(stderr).toMatch(/^keystorectl: 400 invalid-value: "name" must be .*\n {2}request-id [0-9a-f-]{36}\n$/s);
  });
});

describe('login', () => {
  const bare = { KEYSTORED_TOKEN: '' };

  test('as an approle keeps address, CA and token in a profile only its owner can read; logout ends the token', async () => {
    await ctl.json('create', 'approles', 'app', '--token-policies', 'user');
    const { 'role-id': roleId } = await ctl.json('show', 'approles', 'app');
    await ctl.json('do', 'approles', 'app', 'generate-secret-id', '--out', path('secret-id'));
    const printed = await ctl(['login', 'approle', '--role-id', roleId, '--secret-id', `@${path('secret-id')}`, '--print']);
    expect(printed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[\da-f-]{36}$/), stderr: '' });
    const login = await ctl(['login', 'approle', '--role-id', roleId, '--secret-id', `@${path('secret-id')}`]);
    expect(login).toMatchObject({ code: 0, stderr: expect.stringContaining(`logged in at ${appliance.url} as app of tenant system\n`) });
    expect(login.stderr).toMatch(/policies: user\n {2}until: [\d-]+ [\d:]+ UTC, in \d+ \w+s\n$/);
    const profile = path('home', '.config/keystored/profile.yaml');
    expect(statSync(profile).mode & 0o777).toBe(0o600);
    const alone = { ...bare, KEYSTORED_URL: '', KEYSTORED_CA: '' };
    expect(JSON.parse((await ctl(['do', 'token', 'info'], { environment: alone })).stdout)).toMatchObject({ user: 'app' });
    const elsewhere = await ctl(['do', 'token', 'info', '--url', appliance.url.replace('127.0.0.1', 'localhost')], { environment: bare });
    expect(elsewhere.code).toBe(3);
    const [, token = ''] = /^token: (.+)$/m.exec(readFileSync(profile, 'utf8')) ?? [];
    expect((await ctl(['logout'], { environment: alone })).code).toBe(0);
    expect((await ctl(['do', 'token', 'info'], { environment: { KEYSTORED_TOKEN: token } })).code).toBe(3);
  });

  test('with a token that is there keeps it, and logout does not end it', async () => {
    const login = await ctl(['login', 'token']);
    expect(login).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/as root of tenant system\n {2}policies: root\n {2}until: no end\n$/),
    });
    expect((await ctl(['list', 'tenants'], { environment: bare })).code).toBe(0);
    expect((await ctl(['logout'], { environment: bare })).code).toBe(0);
    expect((await ctl(['list', 'tenants'])).code).toBe(0);
  });

  test('a profile that others may read is refused', async () => {
    await ctl(['login', 'token']);
    const profile = path('home', '.config/keystored/profile.yaml');
    chmodSync(profile, 0o644);
    expect(await ctl(['list', 'tenants'])).toMatchObject({ code: 1, stderr: expect.stringContaining('chmod 600') });
    chmodSync(profile, 0o600);
  });

  test('asks for the method it does not know', async () => {
    expect(await ctl(['login'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('one of: approle, certificate, jwt, oidc, token'),
    });
    expect((await ctl(['login', 'approle'])).stderr).toContain('--role-id is required');
  });
});

describe('help and completion', () => {
  test('help of a resource has its fields with their rules', async () => {
    const { code, stdout } = await ctl(['create', 'transit-keys', '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/--exportable .*Lets export answer key material.*cannot be set back/s);
    expect((await ctl(['do', 'transit-keys', '--help'])).stdout).toMatch(/trim +Remove old versions/);
    expect((await ctl(['do', '--help'])).stdout).toContain('crypto-functions');
    expect((await ctl(['--help'])).stdout).toContain('Exit codes:');
    expect((await ctl(['help', 'do', 'transit-keys', 'trim'])).stdout).toContain('Oldest version to keep.');
    expect((await ctl(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test('help works from what was learned last time when the appliance cannot be asked', async () => {
    const away = { environment: { KEYSTORED_CA: '', KEYSTORED_PROFILE: path('no-profile') } };
    expect((await ctl(['create', 'transit-keys', '--help'])).code).toBe(0);
    expect((await ctl(['create', 'transit-keys', '--help'], away)).code).toBe(0);
    expect((await ctl(['create', 'transit-keys', 'x'], away)).code).toBe(1);
  });

  test.each([
    [['d'], ['delete', 'do', 'diff', 'decrypt-file']],
    [['watch', 'transit-keys', 'bo'], ['box']],
    [['apply', '--dr'], ['--dry-run']],
    [
      ['context', ''],
      ['list', 'show', 'use', 'set', 'delete'],
    ],
    [['do', 'crypto'], ['crypto-functions']],
    [
      ['do', 'transit-keys', 'box', 'openpgp-'],
      ['openpgp-sign', 'openpgp-trailer', 'openpgp-sign-digest', 'openpgp-verify'],
    ],
    [['show', 'transit-keys', 'bo'], ['box']],
    [
      ['create', 'transit-keys', 'x', '--custody', ''],
      ['wrapped', 'token'],
    ],
    [
      ['create', 'transit-keys', 'x', '--allow'],
      ['--allow-plaintext-backup', '--allow-shared-secret'],
    ],
    [['no-such-verb', 'x', ''], []],
  ])('%j completes to %j', async (words, candidates) => {
    const { stdout } = await ctl(['__complete', ...words]);
    expect(stdout.split('\n').filter((line) => line !== '')).toEqual(candidates);
  });

  test.each(['bash', 'zsh', 'fish', 'powershell'])('there is a script for %s', async (shell) => {
    expect((await ctl(['completion', shell])).stdout).toContain('keystorectl __complete');
    expect((await ctl(['__complete', 'completion', shell.slice(0, 2)])).stdout).toBe(`${shell}\n`);
  });

  // PowerShell is not at hand where these tests run: what can be seen is that the script is whole and passes what the others pass.
  test('the script for PowerShell registers a completer, closes what it opens, and passes the begun word also when it is empty', async () => {
    const { stdout } = await ctl(['completion', 'powershell']);
    expect(stdout).toMatch(
      /^Register-ArgumentCompleter -Native -CommandName @\('keystorectl', 'keystorectl\.cmd'\) -ScriptBlock \{\n[^]*\n\}\n$/,
    );
    const code = stdout.replaceAll(/'(?:[^']|'')*'|"(?:[^"`]|`.)*"/g, '');
    let nested = code.replaceAll(/[^(){}[\]]/g, '');
    for (let before = ''; before !== nested; nested = nested.replaceAll(/\(\)|\{\}|\[\]/g, '')) before = nested;
    expect(nested).toBe('');
    expect(code).toMatch(/& \$keystorectl __complete @words \$begun 2>\$null \|/);
    expect((await ctl(['__complete', 'context', ''])).stdout).toContain('list\n');
  });
});

test('all of it leaves the store as it must be', async () => {
  expect(await appliance.check()).toEqual([]);
});
