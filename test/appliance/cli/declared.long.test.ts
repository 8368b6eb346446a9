// apply, diff, export-config and edit: documents of many entries, compared by the appliance, changed only where nobody else was.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { ctlFor, type Ctl } from './run.ts';
import { startWholeAppliance } from './whole-appliance.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let ctl: Ctl;

beforeAll(async () => {
  for (const name of ['appliance', 'home', 'conf', 'edited']) mkdirSync(path(name));
  appliance = await startWholeAppliance(path('appliance'));
  ctl = ctlFor(appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
});
afterAll(() => appliance.close());

const keys = '/v1/config/keystore/transit-keys';
const document = (resource: string, name: string, config: object, parents?: readonly string[]) => ({
  resource,
  name,
  ...(parents && { parents }),
  config,
});
const write = (name: string, ...documents: readonly unknown[]): string => {
  const text = documents.map((one) => (typeof one === 'string' ? one : stringify(one))).join('---\n');
  writeFileSync(path(name), text);
  return path(name);
};
const service = {
  'discovery-url': 'https://id.example/.well-known/openid-configuration',
  'client-id': 'keystore',
  'client-secret': 'PLANTED-CLIENT-SECRET',
  'role-select': { 'role-claim': 'groups' },
  'allowed-redirect-uris': ['https://localhost:4646/oidc-callback'],
};

describe('apply', () => {
  const everything = [
    document('oidc-roles', 'admins', { 'token-policies': ['shop'], 'claim-mappings': { email: 'username' } }, ['work']),
    document('oidc', 'work', service),
    document('approles', 'shop', { 'token-policies': ['shop'], 'token-ttl': '60m' }),
    document('ca', 'devices', { 'issuing-ca': 'plant', ttl: '1y' }),
    document('ca', 'plant', {
      subject: 'CN=Plant',
      ttl: '10y',
      est: { enabled: true, 'initial-enroll-secret': 'PLANTED-ENROL-SECRET', 'allowed-domains': ['a.example'] },
    }),
    document('transit-keys', 'orders', { exportable: true, 'auto-rotate': { 'rotate-after': '48h' } }),
    document('policies', 'shop', {
      'rest-api': { rules: [{ path: '/v1/state/keystore/transit-keys/orders/*', operations: { execute: 'allow' } }] },
    }),
    // A tenant names policies, which have to be there.
    document('tenants', 'branch', { 'descriptive-name': 'Branch', policies: ['shop'] }),
  ];

  test('makes a folder of documents in the order in which they depend on each other; the second time nothing is left to do', async () => {
    writeFileSync(
      path('conf', '1.yaml'),
      everything
        .slice(0, 4)
        .map((one) => stringify(one))
        .join('---\n'),
    );
    writeFileSync(path('conf', '2.json'), JSON.stringify(everything.slice(4)));
    writeFileSync(path('conf', 'notes.txt'), 'not a document');
    const differs = await ctl(['diff', '-f', path('conf')]);
    expect(differs).toMatchObject({ code: 7, stdout: expect.stringContaining('+++ transit-keys orders, '), stderr: '' });
    expect((await ctl(['show', 'tenants', 'branch'])).code).toBe(4);
    const dry = await ctl(['apply', '-f', path('conf'), '--dry-run']);
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n8 to create\n$/) });
    expect((await ctl(['show', 'tenants', 'branch'])).code).toBe(4);

    const applied = await ctl(['apply', '-f', path('conf'), '--yes']);
    expect(applied).toMatchObject({ code: 0, stderr: '' });
    const made = applied.stdout.split('\n').filter((line) => line.startsWith('created '));
    expect(made).toEqual(
      [
        'policies shop',
        'transit-keys orders',
        'ca plant',
        'ca devices',
        'tenants branch',
        'approles shop',
        'oidc work',
        'oidc-roles work admins',
      ].map((one) => `created ${one}`),
    );
    for (const { stdout } of [differs, dry, applied]) expect(stdout).not.toContain('PLANTED');
    expect(applied.stdout).toContain('# a secret is sent as well: client-secret\n');
    for (const words of [['apply', '--yes'], ['apply'], ['apply', '--replace'], ['diff'], ['diff', '--replace']]) {
      const again = await ctl([...words, '-f', path('conf')]);
      expect(again, words.join(' ')).toMatchObject({ code: 0, stdout: words[0] === 'diff' ? '' : 'nothing to change: 8 as they are\n' });
    }
  });

  test('sets what a document states and leaves the rest; lists and maps are stated as a whole', async () => {
    await ctl.json('merge', 'oidc-roles', 'work', 'admins', '--token-policies', 'user', '--claim-mappings', '{name: fullname}');
    const roles = '/v1/config/keystore/authentication/oidc/work/roles/admins';
    expect((await appliance.request('GET', roles)).body['token-policies']).toEqual(['shop', 'user']);
    const { stdout } = await ctl(['apply', '--yes', '-f', path('conf')]);
    expect(stdout).toContain('-  - user\n');
    expect(stdout).toMatch(/1 to change, 7 as they are\nchanged oidc-roles work admins\n$/);
    expect((await appliance.request('GET', roles)).body).toMatchObject({
      'token-policies': ['shop'],
      'claim-mappings': { email: 'username' },
    });

    await ctl.json('merge', 'transit-keys', 'orders', '--deletion-allowed');
    expect((await ctl(['diff', '-f', path('conf')])).code).toBe(0);
    const reset = await ctl(['apply', '--yes', '--replace', '-f', write('orders.yaml', everything[5])]);
    expect(reset.stdout).toContain('-deletion-allowed: true\n+deletion-allowed: false\n');
    expect((await appliance.request('GET', `${keys}/orders`)).body).toMatchObject({ 'deletion-allowed': false, exportable: true });
  });

  test('a changed secret is a change, although neither is shown', async () => {
    const file = write('secret.yaml', document('oidc', 'work', { 'client-secret': 'PLANTED-OTHER-SECRET' }));
    const { code, stdout } = await ctl(['diff', '-f', file]);
    expect(code).toBe(7);
    expect(stdout).toContain('# a secret is sent as well: client-secret');
    expect(stdout).not.toContain('PLANTED');
    expect((await ctl(['apply', '--yes', '-f', file])).stdout).toContain('changed oidc work\n');
    expect((await ctl(['diff', '-f', file])).code).toBe(0);
  });

  test('asks at a terminal, and does nothing for any other answer or without one', async () => {
    const file = write('asked.yaml', document('transit-keys', 'asked', {}));
    for (const options of [
      { terminal: true, typed: 'n\n' },
      { terminal: true, typed: '' },
      { stdin: 'y\n' },
      { terminal: true, stdin: 'y\n' },
      {},
    ])
      expect(await ctl(['apply', '-f', file], options)).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was done') });
    expect((await ctl(['show', 'transit-keys', 'asked'])).code).toBe(4);
    expect(await ctl(['apply', '-f', '-'], { stdin: readFileSync(file), terminal: true })).toMatchObject({ code: 1 });
    const yes = await ctl(['apply', '-f', file], { terminal: true, typed: 'y\n' });
    expect(yes).toMatchObject({ code: 0, stderr: expect.stringContaining(`Make these changes at ${appliance.url}? [y/N] `) });
    expect(yes.stdout).toContain('\u001b[32m+name: asked');
    expect((await ctl(['show', 'transit-keys', 'asked'])).code).toBe(0);
  });

  test('stops at the first refusal, says what was done and what was not, and goes on where it stopped', async () => {
    const documents = ['one', 'two', 'three'].map((name) => document('transit-keys', `stop-${name}`, {}));
    const file = write('stops.yaml', ...documents);
    const rule = { path: keys, operations: { create: 'allow' }, 'allowed-values': { name: ['stop-one'] } };
    await ctl.json(
      'create',
      'policies',
      'first-only',
      '--rest-api',
      JSON.stringify({ rules: [rule, { path: '/v1/**', operations: { read: 'allow' } }] }),
    );
    const { token } = await ctl.json('do', 'token', 'create', '--policies', 'first-only');
    const stopped = await ctl(['apply', '--yes', '-f', file], { environment: { KEYSTORED_TOKEN: token } });
    expect(stopped).toMatchObject({ code: 3, stdout: expect.stringContaining('created transit-keys stop-one\n') });
    expect(stopped.stderr).toMatch(
      /stops\.yaml document 2, line \d+: transit-keys stop-two: 403 .*\n(?:.*\n)*  done before: transit-keys stop-one\n  not done: transit-keys stop-two, transit-keys stop-three\n$/,
    );
    expect((await ctl(['apply', '--yes', '-f', file])).stdout).toMatch(/2 to create, 1 as they are\n/);
  });

  const numbered = (prefix: string): string[] => Array.from({ length: 30 }, (_, at) => `${prefix}-${String(at).padStart(2, '0')}`);

  test('creates many keys in batches; a refusal ends it behind its batch, with what was done and what was not', async () => {
    const names = numbered('many');
    const isWrong = (name: string): boolean => name === 'many-07' || name === 'many-21';
    const last = document('approles', 'after-many', { 'token-policies': ['user'], 'token-ttl': '60m' });
    const documents = names.map((name) => document('transit-keys', name, isWrong(name) ? { cipher: 'rot13' } : { exportable: true }));
    const stopped = await ctl(['apply', '--yes', '-f', write('wrong.yaml', ...documents, last)]);
    const made = names.filter((name) => !isWrong(name));
    expect(stopped.stdout.match(/^created transit-keys .*$/gm)).toEqual(made.map((name) => `created transit-keys ${name}`));
    expect(stopped.stderr).toMatch(
      /wrong\.yaml document 8, line \d+: transit-keys many-07: 400 .*\n {2}of its batch, 1 more refused\n {2}done before: transit-keys many-00, /,
    );
    expect(stopped.stderr).toMatch(/\n {2}not done: transit-keys many-07, transit-keys many-21, approles after-many\n$/);
    const right = write('right.yaml', ...names.map((name) => document('transit-keys', name, { exportable: true })), last);
    expect((await ctl(['apply', '--yes', '-f', right])).stdout).toMatch(/3 to create, 28 as they are\n/);
    expect((await appliance.request('GET', `${keys}/many-21`)).body).toMatchObject({ exportable: true });
    expect((await ctl(['diff', '-f', right])).code).toBe(0);
  });

  test('creates them one by one where the batch as a whole is refused, up to the one that is', async () => {
    const names = numbered('some');
    const file = write('some.yaml', ...names.map((name) => document('transit-keys', name, {})));
    const rules = [
      { path: keys, operations: { create: 'allow' }, 'allowed-values': { name: names.filter((name) => name !== 'some-03') } },
      { path: '/v1/**', operations: { read: 'allow' } },
    ];
    await ctl.json('create', 'policies', 'all-but-one', '--rest-api', JSON.stringify({ rules }));
    const { token } = await ctl.json('do', 'token', 'create', '--policies', 'all-but-one');
    const stopped = await ctl(['apply', '--yes', '-f', file], { environment: { KEYSTORED_TOKEN: token } });
    expect(stopped.code).toBe(3);
    expect(stopped.stderr).toMatch(
      /some\.yaml document 4, line \d+: transit-keys some-03: 403 .*\n(?:.*\n)* {2}done before: transit-keys some-00, transit-keys some-01, transit-keys some-02\n {2}not done: transit-keys some-03, /,
    );
  });

  test('what is refused in the plan is refused before anything is done', async () => {
    const file = write('refused.yaml', document('transit-keys', 'planned', {}), document('transit-keys', 'orders', { exportable: false }));
    expect(await ctl(['apply', '--yes', '-f', file])).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/document 2, line \d+: transit-keys orders: 409 one-way-flag/),
    });
    expect((await ctl(['show', 'transit-keys', 'planned'])).code).toBe(4);
  });

  test('a change that somebody makes after the plan is not overwritten', async () => {
    await ctl.json('create', 'transit-keys', 'contested');
    const file = write('contested.yaml', document('transit-keys', 'contested', { 'auto-rotate': { 'rotate-after': '30d' } }));
    // The answer is read once the plan was shown; the other change comes before it.
    const typed = async (): Promise<string> => {
      await appliance.request('PATCH', `${keys}/contested`, { 'deletion-allowed': true });
      return 'y\n';
    };
    const raced = await ctl(['apply', '-f', file], { terminal: true, typed });
    expect(raced).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/412 precondition-failed[^]*if somebody else changed it .* nothing of that was overwritten/),
    });
    const { body } = await appliance.request('GET', `${keys}/contested`);
    expect(body).toMatchObject({ 'deletion-allowed': true });
    expect(body).not.toHaveProperty('auto-rotate');
  });
});

describe('documents that are none', () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\nresource: [*d,*d,*d,*d,*d]\n`;
  test.each([
    [
      'a field twice',
      'resource: policies\nname: a\nconfig:\n  description: x\n  description: y\n',
      /document 1, line 5: "description" is there twice/,
    ],
    ['broken YAML', 'resource: policies\nname: a\n---\nresource: [\n', /document 2, line \d+: /],
    ['aliases of aliases', bomb, /[Aa]lias/],
    ['lists in lists in lists', '- '.repeat(18_000), /cannot be read: its fields are nested too deep/],
    ['the same in brackets', `resource: ${'['.repeat(18_000)}${']'.repeat(18_000)}`, /cannot be read: its fields are nested too deep/],
    ['a tag that is not known', 'resource: !secret x\nname: a\n', /document 1, line 1: .*!secret/],
    ['a text', 'just text\n', /document 1, line 1: a document maps/],
    ['nothing', '# nothing\n---\n', /there is no document/],
    ['a field beside the config', 'resource: policies\nname: a\ndescription: x\n', /"description" is not known here/],
    [
      'an unknown resource',
      'resource: policy\nname: a\n',
      /there is no resource "policy"; there are: policies, transit-keys, jwt, ca, kmip-spaces, tenants, approles, oidc, oidc-roles, jwt-roles/,
    ],
    ['a missing parent', 'resource: oidc-roles\nname: a\n', /"parents" of oidc-roles must have 1 names, service/],
    [
      'the same entry twice',
      'resource: policies\nname: a\n---\n{"resource": "policies", "name": "a"}\n',
      /document 2, line 4: policies a is in .* document 1, line 1 already/,
    ],
    [
      'CAs that issue each other',
      stringify([document('ca', 'x', { 'issuing-ca': 'y' }), document('ca', 'y', { 'issuing-ca': 'x' })]),
      /refers to itself, by x, y/,
    ],
    [
      'an unknown field',
      'resource: policies\nname: a\nconfig: { no-such-field: 1 }\n',
      /document 1, line 1: policies a: 400 unknown-field/,
    ],
    ['names of a prototype', 'resource: policies\nname: a\nconfig: { __proto__: { x: 1 } }\n', /policies a: 400/],
  ])('%s is named with its place, and nothing is done', async (_, text, message) => {
    const file = write('broken.yaml', text);
    const applied = await ctl(['apply', '--yes', '-f', file]);
    expect(applied.stderr).toMatch(message);
    expect([1, 2]).toContain(applied.code);
    expect((await ctl(['diff', '-f', file])).code).toBe(applied.code);
    expect((await ctl(['show', 'policies', 'a'])).code).toBe(4);
  });

  test('a deep or wide document ends soon', async () => {
    const deep = write('deep.yaml', `resource: policies\nname: a\nconfig: ${'['.repeat(100_000)}`);
    expect((await ctl(['diff', '-f', deep])).code).toBe(1);
    const wide = write(
      'wide.yaml',
      `resource: policies\nname: a\nconfig:\n${Array.from({ length: 50_000 }, (_, index) => `  k${index}: 1\n`).join('')}`,
    );
    expect((await ctl(['diff', '-f', wide])).code).toBe(2);
    expect((await ctl(['diff', '-f', path('no-such-file.yaml')])).code).toBe(1);
    expect((await ctl(['diff'])).code).toBe(1);
    expect((await ctl(['diff', '--help'])).code).toBe(0);
  });
});

describe('export-config', () => {
  test('prints what apply makes again, without secrets and built-in entries', async () => {
    const { stdout, code } = await ctl(['export-config']);
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/PLANTED|name: (?:root|default)\n/);
    for (const resource of ['tenants', 'policies', 'transit-keys', 'ca', 'approles', 'oidc', 'oidc-roles'])
      expect(stdout).toContain(`resource: ${resource}\n`);
    expect(await ctl(['diff', '-f', '-'], { stdin: stdout })).toMatchObject({ code: 0, stdout: '' });
    const one = await ctl.json('export-config', 'oidc-roles', 'work', 'admins', '--output', 'json');
    expect(one).toMatchObject([{ resource: 'oidc-roles', name: 'admins', parents: ['work'], config: { 'token-policies': ['shop'] } }]);
    expect(await ctl.json('export-config', 'oidc-roles', 'work', '--output', 'json')).toEqual(one);
    expect((await ctl(['export-config', 'ca', 'absent'])).code).toBe(4);
  });

  test('makes the same on another appliance, but for the secrets', async () => {
    mkdirSync(path('other'));
    mkdirSync(path('other-home'));
    const other = await startWholeAppliance(path('other'));
    try {
      const there = ctlFor(other, readFileSync(path('other', 'tls-cert.pem'), 'utf8'), path('other-home'));
      const exported = (await ctl(['export-config', 'transit-keys'])).stdout;
      expect(await there(['apply', '--yes', '-f', '-'], { stdin: exported })).toMatchObject({ code: 0, stderr: '' });
      expect((await there(['export-config', 'transit-keys'])).stdout).toBe(exported);
    } finally {
      await other.close();
    }
  });
});

describe('edit', () => {
  const editor = (name: string, ...lines: readonly string[]): { environment: Record<string, string> } => {
    writeFileSync(path(name), ['#!/bin/sh', ...lines, ''].join('\n'));
    chmodSync(path(name), 0o700);
    return { environment: { EDITOR: path(name), VISUAL: '' } };
  };
  const config = async () => (await appliance.request('GET', `${keys}/edited`)).body;
  beforeAll(() => ctl.json('create', 'transit-keys', 'edited', '--exportable', '--auto-rotate/rotate-after', '90d'));

  test('sends what was changed and nothing else', async () => {
    const change = editor(
      'change',
      `sed -i 's/deletion-allowed: false/deletion-allowed: true/; s/rotate-after: .*/rotate-after: 30d/' "$1"`,
    );
    expect(await ctl(['edit', 'transit-keys', 'edited'], change)).toMatchObject({
      code: 0,
      stderr: 'keystorectl: changed transit-keys edited\n',
    });
    expect(await config()).toMatchObject({ 'deletion-allowed': true, 'auto-rotate': { 'rotate-after': '30d' }, exportable: true });
    expect(await ctl(['edit', 'transit-keys', 'edited'], editor('nothing', ':'))).toMatchObject({
      code: 0,
      stderr: 'keystorectl: nothing was changed\n',
    });
  });

  test('opens again with the refusal as a comment, and keeps the text when it is not mended', async () => {
    const mended = editor(
      'mend',
      `if grep -q '^# ! .*one-way-flag' "$1"; then sed -i 's/^exportable: false/exportable: true/' "$1"; else sed -i 's/^exportable: true/exportable: false/; s/30d/40d/' "$1"; fi`,
    );
    expect((await ctl(['edit', 'transit-keys', 'edited'], mended)).code).toBe(0);
    expect(await config()).toMatchObject({ exportable: true, 'auto-rotate': { 'rotate-after': '40d' } });
    for (const [name, line] of [
      ['stubborn', `sed -i 's/^exportable: true/exportable: false/; s/40d/50d/' "$1"`],
      ['broken', `sed -i 's/40d/50d: [/' "$1"`],
    ] as const) {
      const kept = await ctl(['edit', 'transit-keys', 'edited'], editor(name, line));
      expect(kept.code).toBe(2);
      const [, file = ''] = /it is in (\/\S+)/.exec(kept.stderr) ?? [];
      expect(readFileSync(file, 'utf8')).toContain('50d');
    }
  });

  test('an editor that fails changes nothing, and what was typed is kept', async () => {
    const failed = await ctl(['edit', 'transit-keys', 'edited'], editor('fails', `sed -i 's/40d/60d/' "$1"; exit 3`));
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the editor ".*fails" failed \(3\)\n {2}nothing was changed; what you typed is in /),
    });
    const [, file = ''] = /typed is in (\/\S+)/.exec(failed.stderr) ?? [];
    expect(readFileSync(file, 'utf8')).toContain('60d');
    expect((await ctl(['edit', 'transit-keys', 'edited'], { environment: { EDITOR: path('no-such-editor') } })).code).toBe(1);
    expect(await config()).toMatchObject({ 'auto-rotate': { 'rotate-after': '40d' } });
  });

  test('a change by somebody else meanwhile is a conflict, and nothing is overwritten', async () => {
    const ctlScript = `curl -sS -k -X PATCH ${appliance.url}${keys}/edited -H 'Authorization: Bearer ${appliance.rootToken}' -H 'Content-Type: application/json' -d '{"deletion-allowed": false}'`;
    const conflict = await ctl(['edit', 'transit-keys', 'edited'], editor('overtaken', ctlScript, `sed -i 's/40d/70d/' "$1"`));
    expect(conflict).toMatchObject({ code: 5, stderr: expect.stringMatching(/412 precondition-failed[^]*what you typed is in \//) });
    expect(await config()).toMatchObject({ 'deletion-allowed': false, 'auto-rotate': { 'rotate-after': '40d' } });
  });

  test('there is something to edit', async () => {
    expect((await ctl(['edit', 'transit-keys', 'absent'], editor('nothing', ':'))).code).toBe(4);
    expect((await ctl(['edit', 'transit-keyss', 'x'])).stderr).toContain('there is no resource "transit-keyss"');
    expect((await ctl(['edit', 'oidc-roles', 'x'])).stderr).toContain('<service> <name>');
  });
});

test('all of it leaves the store as it must be', async () => {
  expect(await appliance.check()).toEqual([]);
  expect(readdirSync(path('home')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});
