// Resources in both trees: documents, merges, preconditions, queries, and changes that overtake each other.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCoreApp, type CoreApp, type Sent } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { things, type ThingEvents } from '../../harness/things.ts';

const at = temporaryDirectory();
let app: CoreApp;
let events: ThingEvents;

beforeAll(async () => {
  app = await startCoreApp({
    directory: at('core'),
    plugin(parts) {
      const plugin = things(parts);
      events = plugin.events;
      return plugin;
    },
  });
});
afterAll(() => app.stop());

const list = '/v1/config/things';
const defaults = { color: 'red', exportable: false, shape: 'round', tags: [], steps: [], marks: {}, vault: { enabled: false } };
const read = async (name: string) => (await app.send('GET', `${list}/${name}`)).body as Record<string, unknown>;
const code = async (method: string, path: string, body?: unknown, options?: Sent) => {
  const { status, body: problem } = await app.send(method, path, body, options);
  return `${status} ${String(problem?.code ?? 'done')}`;
};

const withTag = (value: string): Sent => ({ headers: { 'if-match': value } });

describe('creation', () => {
  test('POST answers 201 with Location, tag and the document with its defaults', async () => {
    const answer = await app.send('POST', list, { name: 'first' });
    expect([answer.status, answer.headers['location'], answer.body]).toEqual([201, `${list}/first`, { name: 'first', ...defaults }]);
    expect(answer.headers['etag']).toBe((await app.send('GET', `${list}/first`)).headers['etag']);
  });

  test('a name in use is 409, a bad or absent one 400', async () => {
    expect(await code('POST', list, { name: 'first' })).toBe('409 already-exists');
    expect(await code('POST', list, {})).toBe('400 missing-field');
    for (const name of ['', 'A', '-a', 'a-', 'a_b', 'a/b', '../a', 'a'.repeat(129), 7, null, 'ü']) {
      expect(await code('POST', list, { name })).toBe('400 invalid-value');
    }
    expect(await code('POST', list, { name: 'a'.repeat(128) })).toBe('201 done');
  });

  test('what is wrong with the body is told before what is there (api 55)', async () => {
    await app.send('PUT', `${list}/taken`, { exportable: true });
    expect(await code('POST', list, { name: 'taken', color: 'pink' })).toBe('400 invalid-value');
    expect(await code('PUT', `${list}/taken`, { exportable: false, color: 'pink' })).toBe('400 invalid-value');
    expect(await code('PATCH', `${list}/taken`, { shape: 'square', color: 'pink' })).toBe('400 invalid-value');
  });

  test('PUT creates with 201 and replaces with 204; a bad name in the path is 400', async () => {
    const created = await app.send('PUT', `${list}/put`, { color: 'green' });
    expect([created.status, created.headers['location'], created.body]).toEqual([
      201,
      `${list}/put`,
      { name: 'put', ...defaults, color: 'green' },
    ]);
    expect(await app.send('PUT', `${list}/put`, { name: 'put' })).toMatchObject({ status: 204, text: '' });
    expect((await read('put'))['color']).toBe('red');
    expect(await code('PUT', `${list}/BAD`, {})).toBe('400 invalid-value');
    expect(await code('PUT', `${list}/put`, { name: 'other' })).toBe('409 immutable-field');
  });

  test('PUT that creates needs create as well as update', async () => {
    await app.send('POST', '/v1/config/policy/policies', {
      name: 'updater',
      'rest-api': { rules: [{ path: '/v1/config/things/*', operations: { update: 'allow', read: 'allow' } }] },
    });
    const token = await app.makeTenant('updating', ['updater']);
    expect(await code('PUT', `${list}/new`, {}, { token })).toBe('403 policy-denied');
    expect(await code('GET', `${list}/new`, undefined, { token })).toBe('404 not-found');
  });

  test('a document is refused as a whole: unknown, read-only and wrong fields', async () => {
    expect(await code('POST', list, { name: 'x', colour: 'red' })).toBe('400 unknown-field');
    expect(await code('POST', list, { name: 'x', serial: '1' })).toBe('400 read-only-field');
    expect(await code('POST', list, { name: 'x', vault: { shelves: 1 } })).toBe('400 read-only-field');
    expect(await code('POST', list, { name: 'x', 'auto-rotate': {} })).toBe('400 missing-field');
    expect(await code('GET', `${list}/x`)).toBe('404 not-found');
  });
});

describe('the two trees', () => {
  test('config has the writable fields, state has all, secrets are in neither', async () => {
    await app.send('POST', list, {
      name: 'safe',
      'client-secret': 'S1',
      vault: { enabled: true, 'pin-code': 'S2' },
      marks: { camelCase: 'x' },
    });
    const config = { name: 'safe', ...defaults, marks: { camelCase: 'x' }, vault: { enabled: true } };
    expect(await read('safe')).toEqual(config);
    const { body } = await app.send('GET', '/v1/state/things/safe');
    expect(body).toEqual({
      ...config,
      vault: { enabled: true, shelves: 2, 'pin-code-set': true },
      'client-secret-set': true,
      serial: expect.stringMatching(/^[0-9a-f]{8}$/),
      'creation-time': '2026-01-01T00:00:00Z',
    });
    expect((await app.send('GET', '/v1/state/things/first')).body).toMatchObject({
      'client-secret-set': false,
      vault: { 'pin-code-set': false },
    });
    expect((await app.send('GET', '/v1/state/things')).text + (await app.send('GET', list)).text).not.toMatch(/"S1"|"S2"/);
  });

  test('state is read-only', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE']) expect(await code(method, '/v1/state/things/safe', {})).toBe('405 method-not-allowed');
    expect(await code('POST', '/v1/state/things', {})).toBe('405 method-not-allowed');
  });

  test('children hang below their parent and are gone with it; odd names are percent-encoded', async () => {
    expect(await code('POST', `${list}/none/parts`, { name: 'p', size: 1 })).toBe('404 not-found');
    const created = await app.send('POST', `${list}/first/parts`, { name: '/a b/ü', size: 1 });
    expect([created.status, created.headers['location']]).toEqual([201, `${list}/first/parts/%2Fa%20b%2F%C3%BC`]);
    expect((await app.send('GET', String(created.headers['location']))).body).toEqual({ name: '/a b/ü', size: 1 });
    expect((await app.send('GET', '/v1/state/things/first/parts')).body).toEqual([{ name: '/a b/ü', size: 1 }]);
    expect((await app.send('GET', `${list}/safe/parts`)).body).toEqual([]);
    expect(await code('PUT', `${list}/first/parts/a%01`, { size: 1 })).toBe('404 not-found');
  });
});

describe('PUT is the whole document (api 4)', () => {
  test('absent optional fields return to their default, creation-time fields and one-way flags stay', async () => {
    await app.send('POST', list, {
      name: 'whole',
      color: 'blue',
      shape: 'flat',
      exportable: true,
      tags: ['a'],
      'auto-rotate': { 'rotate-after': '1d' },
      'client-secret': 's',
    });
    expect(await code('PUT', `${list}/whole`, { marks: { a: 'b' } })).toBe('204 done');
    expect(await read('whole')).toEqual({ name: 'whole', ...defaults, shape: 'flat', exportable: true, marks: { a: 'b' } });
    expect((await app.send('GET', '/v1/state/things/whole')).body['client-secret-set']).toBe(false);
  });

  test('a one-way flag set back and a changed creation-time field are 409', async () => {
    expect(await code('PUT', `${list}/whole`, { exportable: false })).toBe('409 one-way-flag');
    expect(await code('PUT', `${list}/whole`, { shape: 'round' })).toBe('409 immutable-field');
    expect(await code('PATCH', `${list}/whole`, { exportable: false })).toBe('409 one-way-flag');
    expect(await code('PATCH', `${list}/whole`, { exportable: null })).toBe('409 one-way-flag');
    expect(await code('PATCH', `${list}/whole`, { shape: 'round' })).toBe('409 immutable-field');
    expect(await code('PATCH', `${list}/whole`, { shape: 'flat', exportable: true })).toBe('204 done');
  });
});

describe('PATCH merges (api 5)', () => {
  test('objects merge, scalars replace, unordered lists are united, ordered ones replaced, null removes', async () => {
    await app.send('POST', list, {
      name: 'merged',
      tags: ['a', 'b'],
      steps: ['1', '2'],
      marks: { x: '1', y: '2' },
      'auto-rotate': { 'rotate-after': '1d', 'activate-after': '1h' },
      vault: { enabled: true, 'pin-code': 'p' },
    });
    const patch = {
      color: 'green',
      tags: ['b', 'c'],
      steps: ['3'],
      marks: { y: null, z: '3' },
      'auto-rotate': { 'rotate-after': '2d' },
      vault: { enabled: false },
    };
    expect(await app.send('PATCH', `${list}/merged`, patch)).toMatchObject({ status: 204, text: '' });
    const merged = {
      name: 'merged',
      ...defaults,
      color: 'green',
      tags: ['a', 'b', 'c'],
      steps: ['3'],
      marks: { x: '1', z: '3' },
      'auto-rotate': { 'rotate-after': '2d', 'activate-after': '1h' },
    };
    expect(await read('merged')).toEqual(merged);
    expect((await app.send('GET', '/v1/state/things/merged')).body.vault['pin-code-set']).toBe(true);
    expect(
      await code('PATCH', `${list}/merged`, { tags: null, 'auto-rotate': { 'activate-after': null }, vault: { 'pin-code': null } }),
    ).toBe('204 done');
    expect(await read('merged')).toEqual({ ...merged, tags: [], 'auto-rotate': { 'rotate-after': '2d' } });
    expect((await app.send('GET', '/v1/state/things/merged')).body.vault['pin-code-set']).toBe(false);
  });

  test('a container that a merge cannot remove is 400 and stays; a replacement removes it', async () => {
    expect(await code('PATCH', `${list}/merged`, { 'auto-rotate': null })).toBe('400 invalid-value');
    expect(await read('merged')).toHaveProperty('auto-rotate');
    await app.send('PUT', `${list}/merged`, {});
    expect(await read('merged')).not.toHaveProperty('auto-rotate');
  });

  test('the merged whole is checked, and an empty merge changes nothing', async () => {
    expect(await code('PATCH', `${list}/merged`, { 'auto-rotate': { 'activate-after': '1h' } })).toBe('400 missing-field');
    expect(await code('PATCH', `${list}/merged`, { color: 'yellow' })).toBe('400 invalid-value');
    expect(await code('PATCH', `${list}/merged`, { color: ['red'] })).toBe('400 invalid-value');
    expect(await code('PATCH', `${list}/merged`, { serial: 'x' })).toBe('400 read-only-field');
    expect(await code('PATCH', `${list}/none`, {})).toBe('404 not-found');
    const before = (await app.send('GET', `${list}/merged`)).headers['etag'];
    const { headers } = await app.send('PATCH', `${list}/merged`, {});
    expect(headers['etag']).toBe(before);
  });
});

describe('removal', () => {
  test('204, then 404; what the resource refuses stays', async () => {
    await app.send('POST', list, { name: 'gone', tags: ['kept'] });
    expect(await code('DELETE', `${list}/gone`)).toBe('409 in-use');
    await app.send('PATCH', `${list}/gone`, { tags: null });
    expect(await app.send('DELETE', `${list}/gone`)).toMatchObject({ status: 204, text: '' });
    expect(events.removed).toEqual(['gone']);
    expect(await code('DELETE', `${list}/gone`)).toBe('404 not-found');
  });
});

describe('validate=true (api 6)', () => {
  test('checks everything, stores nothing, answers as if done', async () => {
    const { prepared } = events;
    const created = await app.send('POST', `${list}?validate=true`, { name: 'dry', color: 'green', 'client-secret': 'DRYSECRET' });
    expect([created.status, created.body]).toEqual([201, { name: 'dry', ...defaults, color: 'green' }]);
    expect(await code('GET', `${list}/dry`)).toBe('404 not-found');
    expect(await code('PATCH', `${list}/first?validate=true`, { color: 'green' })).toBe('204 done');
    expect((await read('first'))['color']).toBe('red');
    expect(await code('DELETE', `${list}/first?validate=true`)).toBe('204 done');
    expect(await code('GET', `${list}/first`)).toBe('200 done');
    expect(await code('POST', `${list}?validate=true`, { name: 'first' })).toBe('409 already-exists');
    expect(await code('PUT', `${list}/first?validate=true`, { color: 'blue', tags: ['broken'] })).toBe('409 thing-broken');
    expect(await code('PUT', `${list}/first?validate=maybe`, {})).toBe('400 invalid-value');
    expect(events.prepared).toBe(prepared);
  });
});

describe('lists and fields (api 6, 8)', () => {
  let token: string;
  beforeAll(async () => {
    token = await app.makeTenant('lister');
    for (const name of ['b', 'a', 'd', 'c']) await app.send('POST', list, { name, marks: { in: name } }, { token });
  });
  const get = async (query: string, path = list) => (await app.send('GET', `${path}?${query}`, undefined, { token })).body as unknown;

  test('an empty list is 200 []', async () => {
    const answer = await app.send('GET', list, undefined, { token: await app.makeTenant('empty') });
    expect([answer.status, answer.body]).toEqual([200, []]);
  });

  test('sorted documents; names or the number alone; pages', async () => {
    expect(await get('fields=name')).toEqual([{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' }]);
    expect(await get('keys=true')).toEqual(['a', 'b', 'c', 'd']);
    expect(await get('count=true')).toEqual({ count: 4 });
    expect(await get('keys=true&limit=2')).toEqual(['a', 'b']);
    expect(await get('keys=true&after=b&limit=1')).toEqual(['c']);
    expect(await get('fields=name&after=c', '/v1/state/things')).toEqual([{ name: 'd' }]);
    expect(await get('keys=true&after=zzz')).toEqual([]);
  });

  test('headers say how many entries there are and where the next are', async () => {
    const headers = async (query: string, path = list) => {
      const { status, headers: given } = await app.send('GET', `${path}?${query}`, undefined, { token });
      return [status, given['total-count'], given['link']];
    };
    expect(await headers('')).toEqual([200, '4', undefined]);
    expect(await headers('limit=4')).toEqual([200, '4', undefined]);
    expect(await headers('limit=3&fields=name')).toEqual([200, '4', `<${list}?limit=3&fields=name&after=c>; rel="next"`]);
    expect(await headers('after=a&limit=2&keys=true', '/v1/state/things')).toEqual([
      ...[200, '4'],
      '</v1/state/things?limit=2&keys=true&after=c>; rel="next"',
    ]);
    expect(await headers('after=zzz')).toEqual([200, '4', undefined]);
    const names: string[] = [];
    let next: string | undefined = `${list}?limit=1`;
    while (next !== undefined) {
      const answer = await app.send('GET', next, undefined, { token });
      names.push(...answer.body.map(({ name }: { name: string }) => name));
      next = /^<(.*)>; rel="next"$/.exec(String(answer.headers['link']))?.[1];
    }
    expect(names).toEqual(['a', 'b', 'c', 'd']);
  });

  test('of parts, whose names can be anything, the link leads on as well', async () => {
    const parts = `${list}/a/parts`;
    for (const name of ['1 2', 'a/b', 'c?d', 'ü&<>"']) await app.send('POST', parts, { name, size: 1 }, { token });
    const names: string[] = [];
    let next: string | undefined = `${parts}?limit=1`;
    while (next !== undefined) {
      const answer = await app.send('GET', next, undefined, { token });
      expect(answer.headers['total-count']).toBe('4');
      names.push(...answer.body.map(({ name }: { name: string }) => name));
      next = /^<(.*)>; rel="next"$/.exec(String(answer.headers['link']))?.[1];
    }
    expect(names.toSorted()).toEqual(['1 2', 'a/b', 'c?d', 'ü&<>"'].toSorted());
  });

  test('fields reach into containers and maps', async () => {
    expect(await get('fields=marks/in,marks/absent,vault/enabled', `${list}/a`)).toEqual({
      marks: { in: 'a' },
      vault: { enabled: false },
    });
    expect(await get('fields=vault', '/v1/state/things/a')).toEqual({ vault: { enabled: false, shelves: 2, 'pin-code-set': false } });
    expect(await get('fields=vault/shelves,vault', '/v1/state/things/a')).toEqual({
      vault: { enabled: false, shelves: 2, 'pin-code-set': false },
    });
  });

  test('a field that no document of the tree can have is refused with the names of those that can; the name itself is not repeated', async () => {
    const wrong = { 'nope-51c0ffee': list, 'name,nope': list, 'vault/nope': `${list}/a`, 'vault/pin-code': `${list}/a`, serial: `${list}/a`, Name: list }; // prettier-ignore
    for (const [fields, where] of Object.entries(wrong)) {
      const { status, code, detail } = (await get(`fields=${fields}`, where)) as { status: number; code: string; detail: string };
      expect([fields, status, code, detail.includes('51c0ffee')]).toEqual([fields, 400, 'invalid-value', false]);
      expect(detail).toContain(fields.startsWith('vault/') ? 'enabled' : 'name, ');
    }
    expect(await get('fields=serial,vault/pin-code-set', '/v1/state/things/a')).toMatchObject({ vault: { 'pin-code-set': false } });
    expect(await get('fields=vault/pin-code', '/v1/state/things/a')).toMatchObject({ status: 400 });
    expect(await get('fields=nope', '/v1/state/things')).toMatchObject({ status: 400 });
  });

  test.each(['limit=0', 'limit=-1', 'limit=x', 'keys=1', 'fields=', 'fields=a//b', 'fields=__proto__', 'count=true&count=true'])(
    '%s is 400',
    async (query) => {
      expect(await get(query)).toMatchObject({ status: 400, code: 'invalid-value' });
    },
  );

  test('unknown parameters are 400, each method has its own', async () => {
    expect(await code('GET', `${list}?filter=a`)).toBe('400 unknown-parameter');
    expect(await code('GET', `${list}/first?keys=true`)).toBe('400 unknown-parameter');
    expect(await code('POST', `${list}?fields=a`, { name: 'x' })).toBe('400 unknown-parameter');
  });
});

describe('preconditions (api 7, RFC 9110 section 13)', () => {
  test('If-Match guards PUT, PATCH and DELETE; tags change with the document, secrets included', async () => {
    const { headers } = await app.send('POST', list, { name: 'tagged' });
    const tag = String(headers['etag']);
    for (const method of ['PUT', 'PATCH', 'DELETE'])
      expect(await code(method, `${list}/tagged`, undefined, withTag('"other"'))).toBe('412 precondition-failed');
    expect(await code('PATCH', `${list}/tagged`, {}, withTag(`W/${tag}`))).toBe('412 precondition-failed');
    expect(await code('PATCH', `${list}/tagged`, { 'client-secret': 'a' }, withTag(`"x", ${tag}`))).toBe('204 done');
    expect(await code('PATCH', `${list}/tagged`, { 'client-secret': 'b' }, withTag(tag))).toBe('412 precondition-failed');
    const second = String((await app.send('GET', '/v1/state/things/tagged')).headers['etag']);
    expect(second).not.toBe(tag);
    expect(await code('PUT', `${list}/tagged?validate=true`, {}, withTag('"other"'))).toBe('412 precondition-failed');
    expect(await code('DELETE', `${list}/tagged`, undefined, withTag(second))).toBe('204 done');
    expect(await code('PUT', `${list}/tagged`, {}, withTag('*'))).toBe('412 precondition-failed');
  });

  test('If-None-Match: * on PUT creates only', async () => {
    const only = { headers: { 'if-none-match': '*' } };
    expect(await code('PUT', `${list}/only`, {}, only)).toBe('201 done');
    expect(await code('PUT', `${list}/only`, {}, only)).toBe('412 precondition-failed');
  });

  test('of twenty changes on one state, one wins and nineteen are told', async () => {
    const { headers } = await app.send('POST', list, { name: 'contested' });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        code('PATCH', `${list}/contested`, { marks: { [`n${index}`]: 'x' } }, { headers: { 'if-match': String(headers['etag']) } }),
      ),
    );
    expect(answers.filter((answer) => answer === '204 done')).toHaveLength(1);
    expect(answers.filter((answer) => answer === '412 precondition-failed')).toHaveLength(19);
    expect(Object.keys((await read('contested'))['marks'] as object)).toHaveLength(1);
  });
});

describe('changes that overtake each other', () => {
  test('forty merges of one entry at the same time all arrive', async () => {
    await app.send('POST', list, { name: 'busy' });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => code('PATCH', `${list}/busy`, { marks: { [`n${index}`]: 'x' } })),
    );
    expect(answers.filter((answer) => answer !== '204 done')).toEqual([]);
    expect(Object.keys((await read('busy'))['marks'] as object)).toHaveLength(40);
  });

  test('of fifty creations of one name one is made, and what the others prepared is discarded', async () => {
    const before = { ...events };
    const answers = await Promise.all(Array.from({ length: 50 }, () => code('POST', list, { name: 'single' })));
    expect(answers.filter((answer) => answer === '201 done')).toHaveLength(1);
    expect(answers.filter((answer) => answer === '409 already-exists')).toHaveLength(49);
    expect(events.discarded - before.discarded).toBe(events.prepared - before.prepared - 1);
  });

  test('an entry that keeps changing is 409 conflict after some tries', async () => {
    await app.send('POST', list, { name: 'restless' });
    const table = app.store.table<Record<string, unknown>>('things');
    const key = [...table.keys([])].find((one) => one.at(-1) === 'restless') ?? [];
    let serial = 0;
    events.beforeCommit = () =>
      app.store.write((transaction) => transaction.put(table, key, { ...transaction.get(table, key), serial: String(serial++) }));
    expect(await code('PATCH', `${list}/restless`, { color: 'green' })).toBe('409 conflict');
    events.beforeCommit = undefined;
    expect(await code('PATCH', `${list}/restless`, { color: 'green' })).toBe('204 done');
  });

  test('an entry deleted under way is not brought back', async () => {
    await app.send('POST', list, { name: 'fading' });
    events.beforeCommit = async () => {
      events.beforeCommit = undefined;
      await app.send('DELETE', `${list}/fading`);
    };
    expect(await code('PATCH', `${list}/fading`, { color: 'green' })).toBe('404 not-found');
    expect(await code('GET', `${list}/fading`)).toBe('404 not-found');
  });
});

describe('policies on values and fields (api 53)', () => {
  test('allowed-values guards creations, replacements and merges; hide-fields guards every answer', async () => {
    const rules = [
      {
        path: '/v1/config/things/**',
        operations: { all: 'allow' },
        'allowed-values': { color: ['green', 'blue'] },
        'hide-fields': ['marks'],
      },
      { path: '/v1/state/things/**', operations: { read: 'allow' }, 'hide-fields': ['vault/shelves', 'serial'] },
    ];
    await app.send('POST', '/v1/config/policy/policies', { name: 'narrow', 'rest-api': { rules } });
    const token = await app.makeTenant('narrowed', ['narrow']);
    const as = { token };
    expect(await code('POST', list, { name: 'n' }, as)).toBe('403 policy-denied');
    expect(await code('POST', list, { name: 'n', color: 'red' }, as)).toBe('403 policy-denied');
    const created = await app.send('POST', list, { name: 'n', color: 'green', marks: { a: 'b' } }, as);
    expect([created.status, created.body.marks, created.body.color]).toEqual([201, undefined, 'green']);
    expect(await code('PUT', `${list}/n`, {}, as)).toBe('403 policy-denied');
    expect(await code('PATCH', `${list}/n`, { color: 'red' }, as)).toBe('403 policy-denied');
    expect(await code('PATCH', `${list}/n`, { color: 'blue' }, as)).toBe('204 done');
    expect((await app.send('GET', list, undefined, as)).body[0]).not.toHaveProperty('marks');
    const { body } = await app.send('GET', '/v1/state/things/n', undefined, as);
    expect([body.serial, body.vault.shelves, body.vault.enabled, body.marks]).toEqual([undefined, undefined, false, { a: 'b' }]);
  });

  test('the name of an entry is in every answer about it, also where hide-fields names it; links between pages go on', async () => {
    const rules = [{ path: '/v1/**', operations: { all: 'allow' }, 'hide-fields': ['name', 'color'] }];
    const kept = await app.send('POST', '/v1/config/policy/policies', { name: 'nameless', 'rest-api': { rules } });
    expect(kept.body.warnings).toEqual(['rest-api/rules/0 (/v1/**) does not hide "name": answers about an entry always have its name.']);
    const token = await app.makeTenant('unnamed', ['nameless']);
    const as = { token };
    for (const name of ['a', 'b']) {
      const { status, body } = await app.send('POST', list, { name, color: 'green' }, as);
      expect([status, body.name, body.color]).toEqual([201, name, undefined]);
    }
    for (const tree of ['config', 'state']) {
      const { body } = await app.send('GET', `/v1/${tree}/things/a`, undefined, as);
      expect([body.name, body.color]).toEqual(['a', undefined]);
      const page = await app.send('GET', `/v1/${tree}/things?limit=1&fields=name,color`, undefined, as);
      expect(page).toMatchObject({ status: 200, body: [{ name: 'a' }], headers: { link: expect.stringContaining('after=a') } });
      expect(page.body[0]).not.toHaveProperty('color');
    }
  });
});
