// A request under a rule runs only after others have agreed to exactly that request, once.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askedSchemas } from '../../../core/http/description/asked.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type People, rule, rulePath, startPeople } from './people.ts';

const at = temporaryDirectory();
let people: People;
const key = '/v1/config/keystore/transit-keys/payments';
const exporting = '/v1/state/keystore/transit-keys/payments/export';

beforeAll(async () => {
  people = await startPeople(at());
  await people.as('root', 'POST', '/v1/config/keystore/transit-keys', { name: 'payments', exportable: true });
});
afterAll(() => people.appliance.close());

test('without a rule nothing asks for approval', async () => {
  expect((await people.as('asker', 'POST', exporting, {})).status).toBe(200);
});

test('with a rule a request is refused, asked for, approved by two, and runs once', async () => {
  const made = await people.as('root', 'POST', rulePath, rule('key-material'));
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const refused = await people.as('asker', 'POST', exporting, {});
  expect([refused.status, refused.body.code]).toEqual([403, 'approval-needed']);
  const asked = await people.ask('asker', 'POST', exporting, {});
  expect(asked.status, JSON.stringify(asked.body)).toBe(202);
  expect(Object.keys(asked.body).toSorted()).toEqual(Object.keys(askedSchemas['ApprovalAsked']?.properties ?? {}).toSorted());
  const id = String(asked.body.id);
  expect(asked.headers['location']).toBe(`/v1/state/approvals/${id}`);
  const early = await people.as('asker', 'POST', exporting, {}, { approval: id });
  expect([early.status, early.body.code]).toEqual([409, 'approval-missing']);
  expect((await people.approve('anna', id)).body.state).toBe('open');
  expect((await people.approve('bert', id)).body.state).toBe('granted');
  const ran = await people.as('asker', 'POST', exporting, {}, { approval: id });
  expect(ran.status, JSON.stringify(ran.body)).toBe(200);
  expect(ran.body.keys).toBeDefined();
  const again = await people.as('asker', 'POST', exporting, {}, { approval: id });
  expect([again.status, again.body.code]).toEqual([409, 'approval-void']);
});

test('a change of a resource is approved with its present and its wanted value', async () => {
  const asked = await people.ask('asker', 'PATCH', key, { 'deletion-allowed': true });
  expect(asked.status, JSON.stringify(asked.body)).toBe(202);
  const id = String(asked.body.id);
  const seen = await people.as('anna', 'GET', `/v1/state/approvals/${id}`);
  expect(seen.body.parameters).toEqual({ 'deletion-allowed': { present: false, wanted: true } });
  for (const name of ['anna', 'cleo']) await people.approve(name, id);
  const ran = await people.as('asker', 'PATCH', key, { 'deletion-allowed': true }, { approval: id });
  expect(ran.status, JSON.stringify(ran.body)).toBe(204);
});

test('the trail has the digest that was approved and the reason of a rejection, of refused decisions too', async () => {
  const id = String((await people.ask('asker', 'POST', exporting, {})).body.id);
  const decide = (verb: string, body: object): Promise<unknown> => people.as('anna', 'POST', `/v1/state/approvals/${id}/${verb}`, body);
  await decide('approve', { digest: 'of another request' });
  await decide('reject', { reason: 'nobody has asked me' });
  const directory = join(people.appliance.directory, 'audit');
  const lines = readdirSync(directory).flatMap((name) =>
    name.endsWith('.jsonl') ? readFileSync(join(directory, name), 'utf8').split('\n') : [],
  );
  const of = (verb: string): unknown =>
    (JSON.parse(lines.find((line) => line.includes(`/approvals/${id}/${verb}"`)) ?? '{}') as Record<string, unknown>)['request-parameters'];
  expect([of('approve'), of('reject')]).toEqual([{ digest: 'of another request' }, { reason: 'nobody has asked me' }]);
});

test('approvers see every character of a request', async () => {
  const rules = [{ path: '/v1/state/keystore/\u202Eyap', operations: { read: 'allow' } }];
  const asked = await people.ask('asker', 'POST', '/v1/config/policy/policies', { name: 'turned', 'rest-api': { rules } });
  expect(asked.status, JSON.stringify(asked.body)).toBe(202);
  const seen = await people.as('anna', 'GET', `/v1/state/approvals/${String(asked.body.id)}`);
  expect(JSON.stringify(seen.body.parameters)).toContain('/v1/state/keystore/\uFFFDyap');
});

test('rules protect themselves', async () => {
  const refused = await people.as('root', 'DELETE', `${rulePath}/key-material`);
  expect([refused.status, refused.body.code]).toEqual([403, 'approval-needed']);
});
