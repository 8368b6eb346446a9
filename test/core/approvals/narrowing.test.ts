// Rules that values of fields narrow: which requests they are about, and what a record says of those that they are not about.
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { findUnapproved } from '../../../core/approvals/in-trail.ts';
import type { AuditRecord } from '../../../core/audit/record.ts';
import { openAuditTrail } from '../../../core/audit/trail.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { TestClock } from '../../harness/clock.ts';
import { type Answer, memoryLog } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type People, rule, rulePath, startPeople } from './people.ts';

const at = temporaryDirectory();
let people: People;
const list = '/v1/config/keystore/transit-keys';
const key = '/v1/state/keystore/transit-keys/payments';
const exporting = `${key}/export`;
const wrapped = {
  format: 'wrapped',
  'wrapping-key': generateKeyPairSync('rsa', { modulusLength: 3_072 }).publicKey.export({ type: 'spki', format: 'pem' }),
};
const codeOf = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${String(body?.code)}`);

beforeAll(async () => {
  people = await startPeople(at());
  for (const name of ['payments', 'prod', 'prepared']) {
    const labels = name === 'prod' ? { env: 'prod' } : {};
    const made = await people.as('root', 'POST', list, { name, exportable: true, 'deletion-allowed': name === 'prepared', labels });
    expect(codeOf(made)).toBe('201');
  }
});
afterAll(() => people.appliance.close());
afterEach(async () => expect(await people.appliance.check()).toEqual([]));

const approvedBy = async (by: readonly string[], method: string, path: string, body?: object): Promise<Answer> => {
  const { body: asked } = await people.ask('root', method, path, body);
  for (const name of by) await people.approve(name, String(asked.id));
  return people.as('root', method, path, body, { approval: String(asked.id) });
};
/** Makes the only rule. */
const setRule = async (fields: object): Promise<void> => {
  const { body: rules } = await people.as('root', 'GET', rulePath);
  for (const { name } of rules as { name: string }[])
    expect(codeOf(await approvedBy(['anna', 'bert'], 'DELETE', `${rulePath}/${name}`))).toBe('204');
  const made = await people.as('root', 'POST', rulePath, rule('narrow', { acts: ['take-keys-out'], ...fields }));
  expect(codeOf(made), JSON.stringify(made.body)).toBe('201');
};
const send = async (method: string, path: string, body?: object): Promise<string> => codeOf(await people.as('asker', method, path, body));
const needed = '403 approval-needed';

test('a rule is about requests with one of its values, stated or left out', async () => {
  await setRule({ values: { format: ['clear', 'jwk'] } });
  for (const body of [{}, { format: 'clear' }, { format: 'jwk' }, { version: 1 }]) expect(await send('POST', exporting, body)).toBe(needed);
  expect(await send('POST', exporting, wrapped)).toBe('200');
  expect(await send('POST', `${key}/export-openpgp`, {})).not.toBe(needed);
});

test('a field that a request cannot have narrows nothing', async () => {
  expect(await send('POST', `${key}/backup`, {})).toBe(needed);
  expect(await send('POST', '/v1/state/system/backup', {})).toBe(needed);
  expect(await send('POST', list, { name: 'other', exportable: true })).toBe(needed);
});

test('each field narrows, and a request is approved as ever', async () => {
  await setRule({ values: { format: ['clear', 'wrapped'], version: ['latest', 1] } });
  expect(await send('POST', exporting, { ...wrapped, version: 1 })).toBe(needed);
  expect(await send('POST', exporting, { version: 1, format: 'jwk' })).toBe('200');
  const { body: asked } = await people.ask('asker', 'POST', exporting, { version: 1 });
  for (const name of ['anna', 'cleo']) await people.approve(name, String(asked.id));
  expect(codeOf(await people.as('asker', 'POST', exporting, { version: 1 }, { approval: String(asked.id) }))).toBe('200');
});

test('another spelling of a value is that value, and beside a number only another number is another one', async () => {
  await setRule({ values: { version: [1] } });
  for (const body of [{ version: 1 }, { version: 'latest' }, {}]) expect(await send('POST', exporting, body)).toBe(needed);
  expect(await send('POST', exporting, { version: 2 })).toBe('400 version-unknown');
  await setRule({ acts: ['destroy'], values: { 'auto-rotate/invalidate-after': ['180d'] } });
  const timer = (after: string) =>
    send('PATCH', `${list}/payments`, { 'auto-rotate': { 'rotate-after': '90d', 'invalidate-after': after } });
  for (const text of ['180d', '4320h', '179d24h', '259200m']) expect([text, await timer(text)]).toEqual([text, needed]);
  expect(await timer('181d')).toBe('204');
});

test('a change is judged as it finds the document and as it leaves it', async () => {
  await setRule({ acts: ['destroy'], values: { 'deletion-allowed': [true] } });
  expect(await send('PATCH', `${list}/payments`, { 'auto-rotate': { 'rotate-after': '90d', 'invalidate-after': '180d' } })).toBe('204');
  expect(await send('PATCH', `${list}/payments`, { 'deletion-allowed': true })).toBe(needed);
  expect(await send('DELETE', `${list}/prepared`)).toBe(needed);
  await setRule({ acts: ['destroy'], values: { 'labels/env': ['prod'] } });
  expect(await send('PATCH', `${list}/prod`, { labels: { env: null }, 'deletion-allowed': true })).toBe(needed);
  expect(await send('PATCH', `${list}/payments`, { labels: { env: 'prod' }, 'deletion-allowed': true })).toBe(needed);
  expect(await send('PATCH', `${list}/payments`, { 'auto-rotate': { 'rotate-after': '90d', 'invalidate-after': '190d' } })).toBe('204');
});

test('one entry of a batch is enough, and of a list one element', async () => {
  await setRule({ values: { usage: ['sign'], 'labels/team': ['bank', null] } });
  const batch = (...items: object[]): Promise<string> =>
    send('POST', `${list}-batch`, { 'batch-input': items.map((one, index) => ({ name: `made-${index}`, exportable: true, ...one })) });
  expect(await batch({ labels: { team: 'lab' } }, { labels: { team: 'bank' } })).toBe(needed);
  expect(await batch({ labels: { team: 'lab' } }, {})).toBe(needed);
  expect(await batch({ labels: { team: 'lab' } }, { labels: { team: 'lab' } })).toBe('200');
});

test('a secret narrows nothing', async () => {
  await setRule({ acts: ['bring-keys-in'], values: { data: ['another'], passphrase: ['another'] } });
  expect(await send('POST', `${key}/import`, { data: 'AAAA' })).toBe(needed);
});

test('changes of trust are not narrowed', async () => {
  await setRule({ acts: ['take-keys-out', 'change-trust'], values: { name: ['another'] } });
  expect(await send('POST', '/v1/config/policy/policies', { name: 'one', 'rest-api': { rules: [] } })).toBe(needed);
  expect(await send('POST', list, { name: 'plain-one', exportable: true })).toBe('201');
});

test('fields and values that no request has are told', async () => {
  const tried = (fields: object): Promise<Answer> => people.as('root', 'POST', `${rulePath}?validate=true`, rule('tried', { ...fields }));
  const warningsOf = async (fields: object): Promise<unknown> => (await tried({ acts: ['take-keys-out'], ...fields })).body.warnings;
  expect(await warningsOf({ values: { format: ['clear'] } })).toBeUndefined();
  expect(await warningsOf({ values: { formt: ['clear'] } })).toEqual([
    expect.stringMatching(/"values\/formt" narrows nothing.*"format" is one/),
  ]);
  expect(await warningsOf({ acts: ['change-trust'], values: { name: ['a'] } })).toEqual([expect.stringContaining('no effect')]);
  for (const values of [
    { format: ['cleer'] },
    { 'deletion-allowed': ['true'] },
    { format: ['clear', true] },
    { format: [] },
    { '': ['a'] },
  ])
    expect([values, codeOf(await tried({ acts: ['take-keys-out', 'destroy'], values }))]).toEqual([values, '400 invalid-value']);
  for (const values of [{ format: ['openpgp', null] }, { 'auto-rotate/rotate-after': ['30d'] }, { name: ['a'] }])
    expect([values, codeOf(await tried({ acts: ['take-keys-out', 'destroy'], values }))]).toEqual([values, '201']);
});

test('values count as they were and as they are, whichever is stricter', async () => {
  await setRule({ values: { format: ['clear'] } });
  const change = async (name: string, values: object): Promise<void> => {
    const path = `${rulePath}/${name}?lists=replace`;
    const { body: asked } = await people.ask('root', 'PATCH', path, { values });
    for (const one of ['anna', 'bert', 'cleo']) await people.approve(one, String(asked.id));
    expect(codeOf(await people.as('root', 'PATCH', path, { values }, { approval: String(asked.id) }))).toBe('204');
  };
  const made = rule('wide', { acts: ['take-keys-out'], needed: 1, approvers: { approles: ['anna', 'bert'] } });
  expect(codeOf(await approvedBy(['anna', 'bert'], 'POST', rulePath, made))).toBe('201');
  const ask = async (body: object): Promise<string> => String((await people.ask('asker', 'POST', exporting, body)).body.id);
  const rulesOf = async (id: string): Promise<unknown> =>
    ((await people.as('asker', 'GET', `/v1/state/approvals/${id}`)).body.rules as { name: string }[]).map(({ name }) => name);
  const [outside, inside] = [await ask(wrapped), await ask({})];
  await people.approve('anna', outside);
  await people.approve('anna', inside);
  expect([await rulesOf(outside), await rulesOf(inside)]).toEqual([['wide'], ['narrow', 'wide']]);
  await change('narrow', { format: ['wrapped'] });
  expect(codeOf(await people.as('asker', 'POST', exporting, wrapped, { approval: outside }))).toBe('409 approval-missing');
  expect(codeOf(await people.as('asker', 'POST', exporting, {}, { approval: inside }))).toBe('409 approval-missing');
  // A rule that changed counts until the request is seen again, which tells whether it is about that.
  await change('narrow', { format: ['openpgp'] });
  expect(await rulesOf(outside)).toEqual(['wide', 'narrow']);
  expect(await ask(wrapped)).toBe(outside);
  expect(await rulesOf(outside)).toEqual(['wide']);
  expect(codeOf(await people.as('asker', 'POST', exporting, wrapped, { approval: outside }))).toBe('200');
});

test('the trail says why a rule did not count', async () => {
  expect(await findUnapproved([join(people.appliance.directory, 'audit')])).toEqual([]);
  const clock = new TestClock();
  const trail = await openAuditTrail({ directory: (mkdirSync(at('trail')), at('trail')), chain: 'worker-1', clock, log: memoryLog([]) });
  const write = (fields: Partial<AuditRecord>): Promise<void> => {
    clock.advance(61);
    const shared = { kind: 'request' as const, requestId: 'r', tenantId: 't', method: 'POST', status: 200, path: exporting };
    return trail.write({ ...shared, occurredAt: formatTimestamp(clock.now()), acts: ['take-keys-out'], ...fields });
  };
  const outside = (values: unknown, name = 'out', field = 'format') => ({ outsideRules: [{ rule: name, field, values }] });
  const changed = (fields: Partial<AuditRecord>) => write({ acts: ['change-trust'], path: `${rulePath}/out`, approval: 'a', ...fields });
  const stated = { acts: ['take-keys-out'], needed: 1, values: { format: ['clear'] } };
  await write({ acts: ['change-trust'], path: rulePath, status: 201, requestParameters: { name: 'out', ...stated } });
  await write(outside(['wrapped']));
  await write({});
  await write(outside(['clear', 'wrapped']));
  await write(outside([]));
  await write(outside(['wrapped'], 'another'));
  await write(outside(['wrapped'], 'out', 'version'));
  await changed({ method: 'PATCH', status: 204, approvers: [], requestParameters: { values: { format: ['wrapped'] } } });
  await write(outside(['wrapped']));
  await changed({
    method: 'PATCH',
    status: 204,
    approval: 'b',
    query: { lists: 'replace' },
    requestParameters: { values: { format: ['jwk'] } },
  });
  await write(outside(['wrapped']));
  await trail.close();
  const places = (await findUnapproved([at('trail')]))
    .filter(({ problem }) => problem.includes('/export'))
    .map(({ where }) => Number(where.split(':')[1]));
  expect(places).toEqual([4, 5, 6, 7, 8, 10]);
});
