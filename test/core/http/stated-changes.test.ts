// What tools that state a whole document rely on: a dry run that says whether anything would change, and lists that are replaced.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCoreApp, type CoreApp } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { things } from '../../harness/things.ts';

const at = temporaryDirectory();
let app: CoreApp;

beforeAll(async () => {
  app = await startCoreApp({ directory: at('core'), plugin: things });
});
afterAll(() => app.stop());

const list = '/v1/config/things';

test('validate=true answers the entity tag when the entry is so already, secrets included, and none when it would change', async () => {
  const first = 'a first secret that is long';
  const rotation = { 'auto-rotate': { 'rotate-after': '48h' } };
  await app.send('POST', list, { name: 'dry', tags: ['a', 'b'], 'client-secret': first, ...rotation });
  const tag = (await app.send('GET', `${list}/dry`)).headers['etag'];
  const dryRun = async (method: string, body: object): Promise<string | undefined> => {
    const { status, headers } = await app.send(method, `${list}/dry?validate=true`, body);
    expect(status).toBe(204);
    return headers['etag']?.toString();
  };
  for (const same of [{}, { color: 'red' }, { tags: ['b'] }, { 'client-secret': first }, rotation])
    expect(await dryRun('PATCH', same)).toBe(tag);
  for (const other of [{ color: 'green' }, { tags: ['c'] }, { 'client-secret': 'a second secret that is long' }, { 'client-secret': null }])
    expect(await dryRun('PATCH', other)).toBeUndefined();
  expect(await dryRun('PUT', { name: 'dry', tags: ['a', 'b'], 'client-secret': first, ...rotation })).toBe(tag);
  expect(await dryRun('PUT', { tags: ['a', 'b'], ...rotation })).toBeUndefined();
});

test('a dry run does not say whether a secret that could be guessed is the present one', async () => {
  await app.send('POST', list, { name: 'short', 'client-secret': '123456' });
  const dryRun = async (body: object) => (await app.send('PATCH', `${list}/short?validate=true`, body)).headers['etag'];
  expect(await dryRun({})).toBeDefined();
  expect(await dryRun({ 'client-secret': '123456' })).toBeUndefined();
  expect(await dryRun({ 'client-secret': '123457' })).toBeUndefined();
});

test('lists=replace makes a list of a merge the whole list; nothing else merges differently', async () => {
  await app.send('POST', list, { name: 'lists', tags: ['a', 'b'], steps: ['1'], marks: { x: '1' }, 'client-secret': 'kept' });
  const merge = (rule: string, body: object) => app.send('PATCH', `${list}/lists?lists=${rule}`, body);
  expect((await merge('replace', { tags: ['b', 'c'], marks: { y: '2' } })).status).toBe(204);
  const state = async () => (await app.send('GET', '/v1/state/things/lists')).body;
  expect(await state()).toMatchObject({ tags: ['b', 'c'], steps: ['1'], marks: { x: '1', y: '2' }, 'client-secret-set': true });
  expect((await merge('unite', { tags: ['d'] })).status).toBe(204);
  expect((await state()).tags).toEqual(['b', 'c', 'd']);
  expect((await merge('replace', { tags: [] })).status).toBe(204);
  expect((await state()).tags).toEqual([]);
  const patch = (rule: string, body: object) =>
    app.send('PATCH', `${list}/lists${rule}`, body, { headers: { 'content-type': 'application/merge-patch+json; charset=utf-8' } });
  expect((await patch('', { tags: ['e', 'f'] })).status).toBe(204);
  expect((await state()).tags, 'a body of RFC 7396').toEqual(['e', 'f']);
  expect((await patch('?lists=unite', { tags: ['g'] })).status).toBe(204);
  expect((await state()).tags).toEqual(['e', 'f', 'g']);
  expect(await merge('other', {})).toMatchObject({ status: 400, body: { code: 'invalid-value' } });
  expect((await app.send('PUT', `${list}/lists?lists=replace`, {})).body.code).toBe('unknown-parameter');
});
