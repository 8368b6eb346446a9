// Rules by which more than one person must reject a request to end it.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type People, rule, rulePath, startPeople } from './people.ts';

const at = temporaryDirectory();
let people: People;
const exporting = '/v1/state/keystore/transit-keys/payments/export';
const codeOf = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${String(body?.code)}`);

beforeAll(async () => {
  people = await startPeople(at());
  await people.as('root', 'POST', '/v1/config/keystore/transit-keys', { name: 'payments', exportable: true });
  const made = rule('out', { acts: ['take-keys-out'], rejections: 2 });
  expect(codeOf(await people.as('root', 'POST', rulePath, made))).toBe('201');
});
afterAll(() => people.appliance.close());
afterEach(async () => expect(await people.appliance.check()).toEqual([]));

const ask = async (): Promise<string> => String((await people.ask('asker', 'POST', exporting, {})).body.id);
const decide = (name: string, verb: 'reject' | 'withdraw', id: string): Promise<Answer> =>
  people.as(name, 'POST', `/v1/state/approvals/${id}/${verb}`, verb === 'reject' ? { reason: `says ${name}` } : undefined);
const use = async (id: string): Promise<string> => codeOf(await people.as('asker', 'POST', exporting, {}, { approval: id }));
const seen = async (id: string): Promise<Record<string, unknown>> => (await people.as('asker', 'GET', `/v1/state/approvals/${id}`)).body;
const change = async (method: string, path: string, body?: object): Promise<void> => {
  const { body: asked } = await people.ask('root', method, path, body);
  for (const one of ['anna', 'bert']) await people.approve(one, String(asked.id));
  expect(codeOf(await people.as('root', method, path, body, { approval: String(asked.id) }))).toMatch(/^2/);
};

test('one person does not keep the others from a request', async () => {
  const id = await ask();
  const { body } = await decide('anna', 'reject', id);
  expect(body).toMatchObject({
    state: 'open',
    rules: [{ name: 'out', needed: 2, have: 0, 'rejections-needed': 2 }],
    rejections: [{ user: 'anna', kind: 'approle', reason: 'says anna' }],
  });
  expect(codeOf(await decide('anna', 'reject', id))).toBe('200');
  expect((await seen(id)).state).toBe('open');
  for (const name of ['bert', 'cleo']) await people.approve(name, id);
  expect(await use(id)).toBe('200');
});

test('two end it, also when it was approved', async () => {
  const id = await ask();
  for (const name of ['anna', 'bert']) await people.approve(name, id);
  expect((await seen(id)).state).toBe('granted');
  await decide('cleo', 'reject', id);
  expect((await seen(id)).state).toBe('granted');
  const { body } = await decide('bert', 'reject', id);
  expect(body).toMatchObject({ state: 'rejected', 'ended-by': { user: 'bert' }, rejection: 'says bert' });
  expect((body.rejections as { user: string }[]).map(({ user }) => user)).toEqual(['cleo', 'bert']);
  expect(await use(id)).toBe('409 approval-void');
  expect(codeOf(await people.approve('anna', id))).toBe('409 approval-void');
  expect(await ask()).not.toBe(id);
});

test('who rejects takes the own approval back, and the other way round', async () => {
  const id = await ask();
  for (const name of ['anna', 'bert']) await people.approve(name, id);
  await decide('anna', 'reject', id);
  expect(await use(id)).toBe('409 approval-missing');
  expect((await people.approve('anna', id)).body).toMatchObject({ state: 'granted', rejections: [] });
  await decide('cleo', 'reject', id);
  expect(codeOf(await decide('cleo', 'withdraw', id))).toBe('200');
  expect((await seen(id)).rejections).toEqual([]);
  await decide('bert', 'reject', id);
  expect((await decide('cleo', 'reject', id)).body.state).toBe('rejected');
});

test('a rejection of a disabled token does not count', async () => {
  const id = await ask();
  await decide('anna', 'reject', id);
  const { body: token } = await people.as('anna', 'POST', '/v1/state/keystore/token/info', {});
  await people.as('root', 'POST', '/v1/state/keystore/token/disable', { accessor: token.accessor });
  await people.logIn('anna');
  expect((await decide('bert', 'reject', id)).body.state).toBe('open');
  expect((await decide('anna', 'reject', id)).body.state).toBe('rejected');
});

test('each rule that a request is under counts by itself, and the smaller number of then and now', async () => {
  const [first, second] = [await ask(), String((await people.ask('asker', 'POST', exporting, { version: 1 })).body.id)];
  await decide('cleo', 'reject', first);
  const strict = rule('strict', { acts: ['take-keys-out'], needed: 1, approvers: { approles: ['anna', 'bert'] } });
  await change('POST', rulePath, strict);
  expect((await seen(first)).state).toBe('open');
  expect((await decide('anna', 'reject', second)).body.state).toBe('rejected');
  await change('DELETE', `${rulePath}/strict`);
  await change('PATCH', `${rulePath}/out`, { rejections: 1 });
  expect((await seen(first)).state).toBe('rejected');
  for (const name of ['anna', 'bert']) expect(codeOf(await people.approve(name, first))).toBe('409 approval-void');
  expect(await use(first)).toBe('409 approval-void');
  const third = await ask();
  expect(third).not.toBe(first);
  await change('PATCH', `${rulePath}/out`, { rejections: 2 });
  expect((await decide('cleo', 'reject', third)).body.state).toBe('rejected');
});

test('more people must be able to reject than end a request', async () => {
  const tried = (rejections: number, fields: object = {}): Promise<Answer> =>
    people.as('root', 'POST', `${rulePath}?validate=true`, rule('tried', { rejections, ...fields }));
  expect(codeOf(await tried(2))).toBe('201');
  const refused = await tried(3);
  expect([codeOf(refused), String(refused.body.detail)]).toEqual(['409 in-use', expect.stringContaining('to reject')]);
  expect(codeOf(await tried(3, { force: true }))).toBe('201');
  for (const rejections of [0, 9]) expect(codeOf(await tried(rejections))).toBe('400 invalid-value');
});
