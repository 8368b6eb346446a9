// Labels of entries: a field of every resource, a selector of lists, and what names and values may be.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Selector } from '../../../core/wire/labels.ts';
import { startCoreApp, type CoreApp } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { things, type Thing } from '../../harness/things.ts';

const at = temporaryDirectory();
let app: CoreApp;
let recordOf: (name: string) => Thing | undefined;

beforeAll(async () => {
  app = await startCoreApp({
    directory: at('core'),
    plugin(parts) {
      const table = parts.store.table<Thing>('things');
      recordOf = (name) => [...table.entries([])].find(([key]) => key.at(-1) === name)?.[1];
      return things(parts);
    },
  });
});
afterAll(() => app.stop());

const list = '/v1/config/things';
const labelsOf = async (name: string) => (await app.send('GET', `${list}/${name}`)).body.labels;
const names = async (query: string, tree = 'config') => {
  const { status, body, headers } = await app.send('GET', `/v1/${tree}/things?${query}`);
  expect(status, query).toBe(200);
  return [body.map(({ name }: { name: string }) => name), headers['total-count']];
};

describe('the field', () => {
  test('is stored, merged as a map, and replaced as a whole; an entry without labels has no such field', async () => {
    const created = await app.send('POST', list, { name: 'one', labels: { team: 'a', env: 'prod' } });
    expect(created).toMatchObject({ status: 201, body: { labels: { team: 'a', env: 'prod' } } });
    expect((await app.send('GET', '/v1/state/things/one')).body.labels).toEqual({ team: 'a', env: 'prod' });
    await app.send('PATCH', `${list}/one`, { labels: { env: null, tier: '1' } });
    expect(await labelsOf('one')).toEqual({ team: 'a', tier: '1' });
    await app.send('PATCH', `${list}/one`, { color: 'green' });
    await app.send('PATCH', `${list}/one`, { labels: {} });
    expect(await labelsOf('one')).toEqual({ team: 'a', tier: '1' });
    await app.send('PUT', `${list}/one`, { labels: { team: 'b' } });
    expect(await labelsOf('one')).toEqual({ team: 'b' });
    for (const [method, body] of [
      ['PUT', {}],
      ['PATCH', { labels: null }],
      ['PATCH', { labels: { team: null } }],
      ['PUT', { labels: {} }],
    ] as const) {
      await app.send('PUT', `${list}/one`, { labels: { team: 'b' } });
      expect((await app.send(method, `${list}/one`, body)).status).toBe(204);
      expect((await app.send('GET', `${list}/one`)).body).not.toHaveProperty('labels');
      expect(recordOf('one')).not.toHaveProperty('labels');
    }
  });

  test('belongs to children, built-in entries have none, and its changes change the entity tag', async () => {
    await app.send('PUT', `${list}/parent`, {});
    expect((await app.send('POST', `${list}/parent/parts`, { name: 'p', size: 1, labels: { team: 'a' } })).status).toBe(201);
    expect((await app.send('GET', `${list}/parent/parts?selector=team=a`)).body).toEqual([{ name: 'p', size: 1, labels: { team: 'a' } }]);
    expect((await app.send('GET', '/v1/config/policy/policies?selector=team=a')).body).toEqual([]);
    expect((await app.send('PATCH', '/v1/config/policy/policies/root', { labels: { team: 'a' } })).body.code).toBe('built-in');
    const before = (await app.send('GET', `${list}/parent`)).headers['etag'];
    const dry = await app.send('PATCH', `${list}/parent?validate=true`, { labels: { team: 'a' } });
    expect([dry.status, dry.headers['etag']]).toEqual([204, undefined]);
    const changed = await app.send('PATCH', `${list}/parent`, { labels: { team: 'a' } }, { headers: { 'if-match': String(before) } });
    expect(changed.headers['etag']).not.toBe(before);
    expect((await app.send('PATCH', `${list}/parent?validate=true`, { labels: { team: 'a' } })).headers['etag']).toBe(
      changed.headers['etag'],
    );
  });

  test('stays when the platform changes the record, and is in the audit trail as it was sent', async () => {
    await app.send('POST', '/v1/config/tenants', { name: 'labelled', labels: { team: 'audited-label' } });
    await app.send('POST', '/v1/state/keystore/token/create-root', { name: 'labelled' });
    const { body } = await app.send('GET', '/v1/state/tenants/labelled');
    expect(body).toMatchObject({ 'root-token-issued': true, labels: { team: 'audited-label' } });
    expect(app.auditText()).toContain('"labels":{"team":"audited-label"}');
  });

  test('names and values are those of Kubernetes without the prefix', async () => {
    const long = 'a'.repeat(63);
    const sound = { a: '', A: 'Z', '1': '0', 'a.b_c-D': 'v1.2_x-Y', [long]: long, constructor: 'x', 'example.com.team': 'a' };
    expect((await app.send('PUT', `${list}/sound`, { labels: sound })).status).toBe(201);
    expect(await labelsOf('sound')).toEqual(sound);
    const most = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`n${index}`, 'x']));
    expect((await app.send('PUT', `${list}/most`, { labels: most })).status).toBe(201);
    const refused: readonly unknown[] = [
      ...['', ' ', '-a', 'a-', '.a', 'a.', '_a', 'a b', 'a/b', 'a=b', 'a,b', 'ä', 'a\n', 'a\u0000', `${long}a`, '__proto__', '\ud800'].map(
        (name) => JSON.parse(`{${JSON.stringify(name)}: "x"}`) as unknown,
      ),
      ...['-', 'a-', '.a', 'a b', ' a', 'a,b', 'a=b', 'a/b', 'ä', 'a\n', '\n', 'a\u202e', `${long}a`, 1, true, {}, [], '\ud800'].map(
        (a) => ({ a }),
      ),
      { ...most, more: 'x' },
      [],
      'a=b',
      1,
    ];
    for (const labels of refused) {
      const { status, body } = await app.send('PUT', `${list}/refused`, { labels });
      expect([status, body.code], JSON.stringify(labels)).toEqual([400, 'invalid-value']);
      expect(body.detail).toMatch(/^"labels/);
    }
    const nullInNew = await app.send('POST', list, { name: 'refused', labels: { a: null } });
    expect(nullInNew.status).toBe(400);
    const { body } = await app.send('PUT', `${list}/refused`, { labels: { 'a/b': 'x' } });
    expect(body.detail).toBe(
      '"labels/(unprintable)" cannot be a name here: a name must be 1 to 63 letters, digits, ".", "_" and "-", with a letter or digit at both ends.',
    );
  });
});

describe('the selector', () => {
  beforeAll(async () => {
    const labels = { b1: { team: 'b' }, b2: { team: 'b', env: 'prod' }, b3: { team: 'b', env: '' }, b4: { env: 'prod' }, b5: undefined };
    for (const [name, one] of Object.entries(labels)) await app.send('PUT', `${list}/${name}`, { ...(one && { labels: one }) });
  });

  test('picks the entries that have all of its labels, in both trees, with the other parameters of lists', async () => {
    expect(await names('selector=team=b')).toEqual([['b1', 'b2', 'b3'], '3']);
    expect(await names('selector=team%3Db%2Cenv%3Dprod', 'state')).toEqual([['b2'], '1']);
    expect(await names('selector=env=')).toEqual([['b3'], '1']);
    expect(await names('selector=team=none')).toEqual([[], '0']);
    expect(await names('selector=constructor=y')).toEqual([[], '0']);
    expect((await app.send('GET', `${list}?selector=team=b&keys=true`)).body).toEqual(['b1', 'b2', 'b3']);
    expect((await app.send('GET', `${list}?selector=team=b&count=true`)).body).toEqual({ count: 3 });
    expect((await app.send('GET', `${list}?selector=env=prod&fields=name`)).body).toEqual([{ name: 'b2' }, { name: 'b4' }]);
    const page = await app.send('GET', `${list}?selector=team=b&limit=2`);
    expect([page.body.length, page.headers['total-count']]).toEqual([2, '3']);
    const [, next = ''] = /^<(.*)>/.exec(String(page.headers['link'])) ?? [];
    const last = await app.send('GET', next);
    expect([last.body.map(({ name }: { name: string }) => name), last.headers['link']]).toEqual([['b3'], undefined]);
  });

  test.each(['', 'team', ',team=b', 'team=b,', 'team=b,,env=prod', 'team=b,team=b', 'team=b,team=c', 'team==b', 'team!=b'])(
    '"%s" is refused',
    async (text) => {
      const { status, body } = await app.send('GET', `${list}?selector=${encodeURIComponent(text)}`);
      expect([status, body.code, body.errors[0]['error-info']]).toEqual([400, 'invalid-value', 'selector']);
    },
  );

  test('hostile texts are refused', () => {
    for (const text of [
      '=',
      '=a',
      'a=b c',
      'a b=c',
      '__proto__=x',
      'a=\n',
      'a\n=b',
      'a=b\u0000',
      'a='.repeat(50_000),
      `a=${'b'.repeat(64)}`,
      '*',
      '!a',
    ])
      expect(Selector.parse(text), text).toBeUndefined();
    const many = (count: number): string => Array.from({ length: count }, (_, index) => `n${index}=x`).join();
    expect(Selector.parse(many(64))?.toString()).toBe(many(64));
    expect(Selector.parse(many(65))).toBeUndefined();
    for (const value of [undefined, null, 'team=b', [], {}]) expect(Selector.parse('toString=')?.matches(value)).toBe(false);
  });

  test.each([
    ['labels', 0, 0],
    ['labels/team', 0, 1],
  ])('does not find by %s where a policy hides it', async (hidden, byTeam, byEnv) => {
    const name = hidden.replace('/', '-');
    const rule = { path: '/v1/config/things', operations: { all: 'allow' }, 'hide-fields': [hidden] };
    await app.send('PUT', `/v1/config/policy/policies/${name}`, { 'rest-api': { rules: [rule] } });
    const as = { token: await app.makeTenant(`tenant-${name}`, [name]) };
    expect((await app.send('POST', list, { name: 'x', labels: { team: 'a', env: 'prod' } }, as)).status).toBe(201);
    for (const [selector, found] of [
      ['team=a', byTeam],
      ['env=prod', byEnv],
    ] as const) {
      const { body, headers } = await app.send('GET', `${list}?selector=${selector}`, undefined, as);
      expect([body.length, headers['total-count']], selector).toEqual([found, String(found)]);
    }
  });
});
