// apply --prune and diff --prune: what has the labels and is in no document goes, in order, and everything else stays with a reason.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { ctlFor, type Ctl, type Run } from './run.ts';
import { startWholeAppliance } from './whole-appliance.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let ctl: Ctl;

beforeAll(async () => {
  for (const name of ['appliance', 'home']) mkdirSync(path(name));
  appliance = await startWholeAppliance(path('appliance'));
  ctl = ctlFor(appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
});
afterAll(() => appliance.close());

const service = {
  'discovery-url': 'https://id.example/.well-known/openid-configuration',
  'client-id': 'keystore',
  'client-secret': 'PLANTED-CLIENT-SECRET',
  'role-select': { 'role-claim': 'groups' },
  'allowed-redirect-uris': ['https://localhost:4646/oidc-callback'],
};
type Stated = { readonly resource: string; readonly name: string; readonly parents?: readonly string[]; readonly config: object };

// Every test has a team of its own, so that none sees what another leaves.
let team = 0;
beforeEach(() => void (team += 1));
const own = (name: string): string => `t${team}-${name}`;
const selector = (): string => `team=t${team}`;
const stated = (resource: string, name: string, config: object = {}, parents?: readonly string[]): Stated => ({
  resource,
  name,
  ...(parents && { parents }),
  config: { labels: { team: `t${team}` }, ...config },
});
const key = (name: string, config: object = {}): Stated => stated('transit-keys', own(name), { 'deletion-allowed': true, ...config });
const write = (...documents: readonly Stated[]): string => {
  const file = path(`t${team}.yaml`);
  writeFileSync(file, documents.map((one) => stringify(one)).join('---\n'));
  return file;
};
const prune = (documents: readonly Stated[], words: readonly string[] = ['apply', '--yes']): Promise<Run> =>
  ctl([...words, '-f', write(...documents), '--prune', '--selector', selector()]);
const make = async (...documents: readonly Stated[]): Promise<void> => {
  expect(await ctl(['apply', '--yes', '-f', write(...documents)])).toMatchObject({ code: 0, stderr: '' });
};
const isThere = async (...words: readonly string[]): Promise<boolean> => (await ctl(['show', ...words])).code === 0;
const linesOf = ({ stdout }: Run, begin: string): readonly string[] => stdout.split('\n').filter((line) => line.startsWith(begin));

describe('what goes', () => {
  const everything = (): readonly Stated[] => [
    stated('tenants', own('branch')),
    stated('policies', own('shop'), { 'rest-api': { rules: [{ path: '/v1/health', operations: { read: 'allow' } }] } }),
    key('primary', { cipher: 'ed25519', 'openpgp-user-id': 'A <a@example.com>' }),
    key('a-subkey', { cipher: 'ed25519', 'openpgp-primary': own('primary'), 'openpgp-key-usage': ['sign'] }),
    stated('ca', own('plant'), { 'deletion-allowed': true }),
    stated('ca', own('a-line'), { 'issuing-ca': own('plant'), ttl: '1y', 'deletion-allowed': true }),
    stated('approles', own('shop'), { 'token-policies': [own('shop')] }),
    stated('oidc', own('work'), service),
    stated('oidc-roles', 'admins', { 'token-policies': [own('shop')] }, [own('work')]),
  ];
  const keepers = (): readonly Stated[] => [
    stated('tenants', own('keep')),
    stated('policies', own('keep')),
    key('keep'),
    stated('ca', own('keep')),
    stated('approles', own('keep')),
    stated('oidc', own('keep'), service),
    stated('oidc-roles', 'keep', {}, [own('keep')]),
  ];

  test('is of every resource, shown first, in the order in which entries depend on each other; the second time nothing is left', async () => {
    const [all, kept] = [everything(), keepers()];
    await make(...all, ...kept);
    const exported = (await ctl(['export-config', 'transit-keys', own('keep')])).stdout;
    expect(exported).toContain(`labels:\n    team: t${team}\n`);
    const differs = await prune(kept, ['diff']);
    expect(differs).toMatchObject({ code: 7, stderr: '' });
    expect(differs.stdout).toContain(`+++ transit-keys ${own('primary')}, deleted\n`);
    expect(differs.stdout).toContain('# this destroys every version of the key');
    const dry = await prune(kept, ['apply', '--dry-run']);
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n9 to delete, 7 as they are\n$/) });
    expect(await isThere('tenants', own('branch'))).toBe(true);

    const applied = await prune(kept);
    expect(applied).toMatchObject({ code: 0, stderr: '' });
    const order = [
      `oidc-roles ${own('work')} admins`,
      `oidc ${own('work')}`,
      `approles ${own('shop')}`,
      `tenants ${own('branch')}`,
      `ca ${own('a-line')}`,
      `ca ${own('plant')}`,
      `transit-keys ${own('a-subkey')}`,
      `transit-keys ${own('primary')}`,
      `policies ${own('shop')}`,
    ];
    expect(linesOf(applied, 'deleted ')).toEqual(order.map((one) => `deleted ${one}`));
    for (const { resource, name, parents = [] } of all) expect(await isThere(resource, ...parents, name)).toBe(false);
    for (const { resource, name, parents = [] } of kept) expect(await isThere(resource, ...parents, name)).toBe(true);
    expect(await prune(kept)).toMatchObject({ code: 0, stdout: 'nothing to change: 7 as they are\n' });
    expect(await prune(kept, ['diff'])).toMatchObject({ code: 0, stdout: '' });
  });

  test('has every label of the selector, and is in no document', async () => {
    const labels = (more: object) => ({ labels: { team: `t${team}`, ...more } });
    await make(
      key('keep', labels({ env: 'prod' })),
      key('prod', labels({ env: 'prod' })),
      key('test', labels({ env: 'test' })),
      key('bare'),
    );
    await make(key('none', { labels: {} }));
    const file = write(key('keep', labels({ env: 'prod' })));
    const applied = await ctl(['apply', '--yes', '-f', file, '--prune', '--selector', `${selector()},env=prod`]);
    expect(linesOf(applied, 'deleted ')).toEqual([`deleted transit-keys ${own('prod')}`]);
    for (const name of ['keep', 'test', 'bare', 'none']) expect(await isThere('transit-keys', own(name))).toBe(true);
  });

  test('is of a resource that a document is of; the others are named and stay', async () => {
    await make(key('keep'), stated('policies', own('other')));
    const applied = await prune([key('keep')]);
    expect(applied.stdout).toBe(
      `# left: policies ${own('other')}: no document is of its resource, policies\nnothing to change: 1 as they are, 1 left\n`,
    );
    expect(await isThere('policies', own('other'))).toBe(true);
  });

  test('goes after what is made and changed, in the same run', async () => {
    await make(key('old'));
    const applied = await prune([key('new')]);
    expect(applied.stdout).toMatch(new RegExp(`1 to create, 1 to delete\ncreated .*${own('new')}\ndeleted .*${own('old')}\n$`));
    const failing = [stated('policies', own('bad'), { 'rest-api': { rules: [{ path: 'x', operations: {} }] } }), key('newer')];
    expect((await prune(failing)).code).not.toBe(0);
    expect(await isThere('transit-keys', own('new'))).toBe(true);
  });

  test('nothing of another tenant', async () => {
    await make(key('keep'), stated('tenants', own('other'), { kind: 'site-provider' }));
    const { token } = await ctl.json('do', 'token', 'create-root', own('other'));
    const there = { environment: { KEYSTORED_TOKEN: String(token) } };
    const file = write(key('keep'), key('gone'));
    expect((await ctl(['apply', '--yes', '-f', file], there)).code).toBe(0);
    expect((await prune([key('keep')])).stdout).toContain('1 as they are');
    expect((await ctl(['show', 'transit-keys', own('gone')], there)).code).toBe(0);
    const pruned = await ctl(['apply', '--yes', '-f', write(key('keep')), '--prune', '--selector', selector()], there);
    expect(linesOf(pruned, 'deleted ')).toEqual([`deleted transit-keys ${own('gone')}`]);
  });
});

describe('what stays', () => {
  test('what is guarded, with the reason and the code 0, as often as one likes', async () => {
    await make(key('keep'), key('guarded', { 'deletion-allowed': false }), key('gone'));
    const first = await prune([key('keep')]);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain(
      `# left: transit-keys ${own('guarded')}: 409 deletion-not-allowed: Set deletion-allowed to true first.\n`,
    );
    expect(linesOf(first, 'deleted ')).toEqual([`deleted transit-keys ${own('gone')}`]);
    const again = await prune([key('keep')]);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/nothing to change: 1 as they are, 1 left\n$/) });
    expect((await prune([key('keep')], ['diff'])).code).toBe(0);
    expect(await isThere('transit-keys', own('guarded'))).toBe(true);
  });

  test('a parent of something that stays', async () => {
    await make(
      stated('oidc', own('keep'), service),
      stated('oidc', own('work'), service),
      stated('oidc-roles', 'labelled', {}, [own('work')]),
      stated('oidc-roles', 'foreign', { labels: { team: 'another' } }, [own('work')]),
      stated('oidc-roles', 'keep', {}, [own('keep')]),
    );
    const applied = await prune([stated('oidc', own('keep'), service), stated('oidc-roles', 'keep', {}, [own('keep')])]);
    expect(applied.code).toBe(0);
    expect(applied.stdout).toContain(`# left: oidc ${own('work')}: oidc-roles ${own('work')} foreign would go with it\n`);
    expect(linesOf(applied, 'deleted ')).toEqual([`deleted oidc-roles ${own('work')} labelled`]);
    const declaredChild = await prune([
      stated('oidc', own('keep'), service),
      stated('oidc-roles', 'foreign', { labels: { team: 'another' } }, [own('work')]),
    ]);
    expect(declaredChild.stdout).toContain(`# left: oidc ${own('work')}: oidc-roles ${own('work')} foreign would go with it\n`);
    expect(await isThere('oidc-roles', own('work'), 'foreign')).toBe(true);
  });

  test('a tenant that is not empty', async () => {
    await make(stated('tenants', own('keep')), stated('tenants', own('full'), { kind: 'site-provider' }));
    const { token } = await ctl.json('do', 'token', 'create-root', own('full'));
    await ctl(['create', 'transit-keys', 'inside'], { environment: { KEYSTORED_TOKEN: String(token) } });
    const applied = await prune([stated('tenants', own('keep'))]);
    expect(applied).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/# left: tenants .*-full: 409 in-use: The tenant is not empty/),
    });
    expect(await isThere('tenants', own('full'))).toBe(true);
  });

  test('what a policy does not let the token delete', async () => {
    await make(key('keep'), key('denied'));
    const rules = [
      { path: '/v1/**', operations: { all: 'allow' } },
      { path: '/v1/config/keystore/transit-keys/*', operations: { delete: 'reject' } },
    ];
    await ctl.json('create', 'policies', own('no-delete'), '--rest-api', JSON.stringify({ rules }));
    const { token } = await ctl.json('do', 'token', 'create', '--policies', own('no-delete'));
    const words = ['apply', '--yes', '-f', write(key('keep')), '--prune', '--selector', selector()];
    const applied = await ctl(words, { environment: { KEYSTORED_TOKEN: String(token) } });
    expect(applied).toMatchObject({ code: 0, stdout: expect.stringMatching(/# left: .*-denied: 403 policy-denied/) });
    expect(await isThere('transit-keys', own('denied'))).toBe(true);
  });

  test('what somebody changed after the plan was shown, and the others go', async () => {
    await make(key('keep'), key('a-contested'), key('b-gone'), key('c-deleted'));
    const entry = (name: string): string => `/v1/config/keystore/transit-keys/${own(name)}`;
    const typed = async (): Promise<string> => {
      await appliance.request('PATCH', entry('a-contested'), { labels: { owner: 'somebody' } });
      await appliance.request('DELETE', entry('c-deleted'));
      return 'y\n';
    };
    const words = ['apply', '-f', write(key('keep')), '--prune', '--selector', selector()];
    const raced = await ctl(words, { terminal: true, typed });
    expect(raced.code).toBe(5);
    expect(raced.stderr).toContain(`Make these changes and delete 3 for good, at ${appliance.url}? [y/N] `);
    expect(raced.stderr).toMatch(/not everything was deleted\n {2}transit-keys .*-a-contested: 412 precondition-failed/);
    expect(raced.stdout).toContain(`deleted transit-keys ${own('b-gone')}\n`);
    expect(raced.stdout).toContain(`deleted transit-keys ${own('c-deleted')}: it was gone already\n`);
    expect(await isThere('transit-keys', own('a-contested'))).toBe(true);
  });

  test('everything, unless a person says yes or a script --yes', async () => {
    await make(key('keep'), key('gone'));
    const words = ['apply', '-f', write(key('keep')), '--prune', '--selector', selector()];
    for (const options of [{ terminal: true, typed: 'n\n' }, { terminal: true, typed: '' }, { stdin: 'y\n' }, {}])
      expect(await ctl(words, options)).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was done') });
    expect(await isThere('transit-keys', own('gone'))).toBe(true);
  });
});

describe('the selector', () => {
  test.each([
    [['--prune'], /--prune needs --selector/],
    [['--selector', 'team=a'], /give both or neither/],
    ...['', ' ', ',', 'team', '=', '=a', 'team=a,', 'team=a,team=b', 'team!=a', 'team in (a)', '*', 'team=*', '__proto__=a'].map(
      (text): [string[], RegExp] => [['--prune', '--selector', text], /--selector must be labels such as/],
    ),
  ])('%j is refused before anything is asked of the appliance', async (words, message) => {
    const file = write(key('never'));
    expect(await ctl(['apply', '--yes', '-f', file, ...words])).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
    expect((await ctl(['diff', '-f', file, ...words])).code).toBe(1);
    expect(await isThere('transit-keys', own('never'))).toBe(false);
  });

  test('a document without the labels is made, with a warning that it will not be found again', async () => {
    const applied = await prune([key('bare', { labels: {} })]);
    expect(applied).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`has not the labels ${selector()}: --prune will never delete it`),
    });
  });

  test('picks entries of lists, and is completed', async () => {
    await make(key('listed'));
    expect(await ctl.json('list', 'transit-keys', '--selector', selector(), '--keys')).toEqual([own('listed')]);
    expect(
      (await ctl(['list', 'transit-keys', '--selector', selector(), '--output', 'table', '--fields', 'name,labels'])).stdout,
    ).toContain(`team=t${team}`);
    for (const [words, flag] of [
      [['apply', '--pr'], '--prune'],
      [['diff', '--sel'], '--selector'],
      [['list', 'transit-keys', '--sel'], '--selector'],
      [['merge', 'transit-keys', '--lab'], '--labels'],
    ] as const)
      expect((await ctl(['__complete', ...words])).stdout).toBe(`${flag}\n`);
    await ctl.json('merge', 'transit-keys', own('listed'), '--labels', '{env: prod, team: null}');
    expect((await ctl.json('show', 'transit-keys', own('listed'))).labels).toEqual({ env: 'prod' });
  });
});

test('all of it leaves the store as it must be', async () => expect(await appliance.check()).toEqual([]));
