// The attacks on approvals (by their number in the design), each against the rule that answers it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { acts as everyAct } from '../../../core/approvals/acts.ts';
import { voidApprovals } from '../../../core/approvals/ending.ts';
import { findUnapproved } from '../../../core/approvals/in-trail.ts';
import { type Approval, approvalTable } from '../../../core/approvals/records.ts';
import { type ApprovalRule, ruleTable } from '../../../core/approvals/rules.ts';
import type { Answer } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { approvers, type People, rule, rulePath, startPeople } from './people.ts';

const at = temporaryDirectory();
let people: People;
const list = '/v1/config/keystore/transit-keys';
const exportOf = (key: string): string => `/v1/state/keystore/transit-keys/${key}/export`;
const exporting = exportOf('payments');
const codeOf = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${String(body?.code)}`);

beforeAll(async () => {
  people = await startPeople(at());
  for (const name of ['payments', 'orders']) await people.as('root', 'POST', list, { name, exportable: true });
  const made = await people.as('root', 'POST', rulePath, rule('key-material'));
  expect(made.status, JSON.stringify(made.body)).toBe(201);
});
afterAll(() => people.appliance.close());
afterEach(async () => expect(await people.appliance.check()).toEqual([]));

/** Records of the trail about a path. */
function recordsOf(path: string): readonly Record<string, unknown>[] {
  const directory = join(people.appliance.directory, 'audit');
  const lines = readdirSync(directory).flatMap((name) =>
    name.endsWith('.jsonl') ? readFileSync(join(directory, name), 'utf8').trim().split('\n') : [],
  );
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((record) => record['path'] === path);
}

const expire = async (): Promise<void> =>
  people.appliance.jobs.find(({ name }) => name === 'expired-approvals')?.run(new AbortController().signal);

const logInAll = async (): Promise<void> => {
  for (const name of ['asker', 'other', ...approvers]) await people.logIn(name);
};

/** Asks for an export and has it approved by these people. */
async function approved(by: readonly string[], path = exporting, body: object = {}, method = 'POST', asker = 'asker'): Promise<string> {
  const asked = await people.ask(asker, method, path, body);
  expect(codeOf(asked), JSON.stringify(asked.body)).toBe('202');
  const id = String(asked.body.id);
  for (const name of by) expect(codeOf(await people.approve(name, id))).toBe('200');
  return id;
}
const send = (id: string, path = exporting, body: object = {}, method = 'POST', by = 'asker'): Promise<Answer> =>
  people.as(by, method, path, body, { approval: id });

test('1: nobody approves the own request, by the same token, another login or a child', async () => {
  const id = await approved([], exporting, {}, 'POST', 'anna');
  expect(codeOf(await people.approve('anna', id))).toBe('403 approval-refused');
  await people.logIn('anna');
  expect(codeOf(await people.approve('anna', id))).toBe('403 approval-refused');
  const { body: child } = await people.as('anna', 'POST', '/v1/state/keystore/token/create', {});
  const { body: seen } = await people.as('anna', 'GET', `/v1/state/approvals/${id}`);
  const byChild = await people.appliance.request(
    'POST',
    `/v1/state/approvals/${id}/approve`,
    { digest: seen.digest },
    { token: String(child.token) },
  );
  expect(codeOf(byChild)).toBe('403 approval-refused');
});

test('1: one person counts once, by however many logins', async () => {
  const id = await approved(['anna']);
  await people.logIn('anna');
  await people.approve('anna', id);
  expect(codeOf(await send(id))).toBe('409 approval-missing');
});

test('2, 5: only people of named roles approve; a root token is none of them, and is bound', async () => {
  const id = await approved([]);
  for (const name of ['other', 'root']) expect(codeOf(await people.approve(name, id))).toBe('404 not-found');
  expect(codeOf(await people.as('root', 'POST', exporting, {}))).toBe('403 approval-needed');
});

test('3: what makes an approver needs approval', async () => {
  const approles = '/v1/config/keystore/authentication/approles';
  const tries: readonly (readonly [string, string, object?])[] = [
    ['POST', '/v1/state/keystore/authentication/approles/anna/generate-secret-id', {}],
    ['PATCH', `${approles}/anna`, { 'secret-id-num-uses': 7 }],
    ['DELETE', `${approles}/anna`],
    ['POST', '/v1/config/policy/policies', { name: 'mine' }],
    ['PATCH', `${rulePath}/key-material`, { approvers: { approles: ['other'] } }],
    ['PATCH', `${rulePath}/key-material`, { needed: 1 }],
    ['POST', rulePath, rule('another', { approvers: { approles: ['other'] }, force: true })],
    ['DELETE', `${rulePath}/key-material`],
    ['POST', '/v1/config/tenants', { name: 'shell' }],
  ];
  for (const [method, path, body] of tries)
    expect(`${method} ${path} ${codeOf(await people.as('root', method, path, body))}`).toContain('403 approval-needed');
  const ofOther = '/v1/state/keystore/authentication/approles/other/generate-secret-id';
  expect(codeOf(await people.as('root', 'POST', ofOther, {}))).toBe('200');
});

test('6: an approval is for one request: body, query, path, method and caller', async () => {
  const id = await approved(['anna', 'bert']);
  const others: readonly (readonly [string, object, string, string?])[] = [
    [exporting, { version: 1 }, 'POST'],
    [exportOf('orders'), {}, 'POST'],
    [`${list}/payments`, { 'deletion-allowed': true }, 'PATCH'],
    [exporting, {}, 'POST', 'other'],
  ];
  for (const [path, body, method, by] of others) expect(codeOf(await send(id, path, body, method, by))).toBe('409 approval-void');
  expect(codeOf(await send(id))).toBe('200');
});

test('6: the order of members and defaults that are stated make no other request', async () => {
  const id = await approved(['anna', 'bert'], `${list}/orders`, { 'deletion-allowed': true, labels: { a: '1', b: '2' } }, 'PATCH');
  expect(codeOf(await send(id, `${list}/orders`, { labels: { b: '2', a: '1' }, 'deletion-allowed': true }, 'PATCH'))).toBe('204');
});

test('6: an approved name is not another name', async () => {
  const id = await approved(['anna', 'bert'], list, { name: 'wanted', exportable: true });
  expect(codeOf(await send(id, list, { name: 'unwanted', exportable: true }))).toBe('409 approval-void');
  expect(codeOf(await send(id, list, { name: 'wanted', exportable: true }))).toBe('201');
});

test('6, 12: a batch and a flag are no way around', async () => {
  const batch = { 'batch-input': [{ name: 'open', exportable: true }, { name: 'shut' }] };
  expect(codeOf(await people.as('asker', 'POST', `${list}-batch`, batch))).toBe('403 approval-needed');
  expect(codeOf(await people.as('asker', 'POST', list, { name: 'open', exportable: true }))).toBe('403 approval-needed');
  expect(
    codeOf(await people.as('asker', 'POST', list, { name: 'late', 'auto-rotate': { 'rotate-after': '1d', 'invalidate-after': '2d' } })),
  ).toBe('403 approval-needed');
  expect(codeOf(await people.as('asker', 'PUT', `${list}/open`, { exportable: true }))).toBe('403 approval-needed');
  const id = await approved(['anna', 'bert'], `${list}-batch`, batch);
  expect(codeOf(await send(id, `${list}-batch`, batch))).toBe('200');
});

test('7: of twenty at once one runs', async () => {
  const id = await approved(['anna', 'bert']);
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(id)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(new Set(answers.map(codeOf))).toEqual(new Set(['200', '409 approval-void']));
});

test('8: what was replaced or changed meanwhile is another thing', async () => {
  const rotated = await approved(['anna', 'bert']);
  await people.as('root', 'POST', '/v1/state/keystore/transit-keys/payments/rotate', {});
  expect(codeOf(await send(rotated))).toBe('409 approval-void');
  const changed = await approved(['anna', 'bert'], `${list}/payments`, { 'deletion-allowed': true }, 'PATCH');
  await people.as('root', 'PATCH', `${list}/payments`, { labels: { team: 'cards' } });
  expect(codeOf(await send(changed, `${list}/payments`, { 'deletion-allowed': true }, 'PATCH'))).toBe('409 approval-void');
});

test('9: a disabled requester does not run what was approved', async () => {
  const id = await approved(['anna', 'bert']);
  await people.as('asker', 'POST', '/v1/logout', {});
  expect(codeOf(await send(id))).toBe('401 invalid-token');
  await people.logIn('asker');
  expect(codeOf(await send(id))).toBe('200');
});

test('10: an approval ends with its token when that is disabled, and not when it is logged out', async () => {
  const id = await approved(['anna', 'bert']);
  const { body: token } = await people.as('bert', 'POST', '/v1/state/keystore/token/info', {});
  await people.as('root', 'POST', '/v1/state/keystore/token/disable', { accessor: token.accessor });
  expect(codeOf(await send(id))).toBe('409 approval-missing');
  await people.logIn('bert');
  await people.approve('bert', id);
  await people.as('bert', 'POST', '/v1/logout', {});
  await people.logIn('bert');
  expect(codeOf(await send(id))).toBe('200');
});

test('10: an approval of a token that was logged out is void when the token is disabled', async () => {
  const id = await approved(['anna', 'bert']);
  const { body: token } = await people.as('bert', 'POST', '/v1/state/keystore/token/info', {});
  await people.as('bert', 'POST', '/v1/logout', {});
  const disable = () => people.as('root', 'POST', '/v1/state/keystore/token/disable', { accessor: token.accessor });
  expect(codeOf(await disable())).toBe('204');
  expect(codeOf(await disable())).toBe('404 not-found');
  expect(codeOf(await send(id))).toBe('409 approval-missing');
  await people.logIn('bert');
});

test('11: a rule that became stricter counts as it is, with the people that it names now', async () => {
  const id = await approved(['anna', 'bert']);
  const change = { needed: 3, force: true };
  const changing = await approved(['anna', 'bert'], `${rulePath}/key-material`, change, 'PATCH');
  expect(codeOf(await send(changing, `${rulePath}/key-material`, change, 'PATCH'))).toBe('200');
  expect(codeOf(await send(id))).toBe('409 approval-missing');
  await people.approve('cleo', id);
  expect(codeOf(await send(id))).toBe('200');
  const early = await approved(['anna', 'bert']);
  const back = { needed: 2 };
  const weaker = await approved([...approvers], `${rulePath}/key-material`, back, 'PATCH');
  expect(codeOf(await send(weaker, `${rulePath}/key-material`, back, 'PATCH'))).toBe('204');
  // Asked for under three, it needs three, although the rule says two now.
  expect(codeOf(await send(early))).toBe('409 approval-missing');
});

test('13: what leaves in small pieces needs no approval, and is on record use by use', async () => {
  const key = '/v1/state/keystore/transit-keys/values';
  await people.as('root', 'POST', list, { name: 'values' });
  const strictest = rule('strictest', { acts: [...everyAct], needed: 3, force: true });
  expect(codeOf(await send(await approved(['anna', 'bert'], rulePath, strictest), rulePath, strictest))).toBe('201');
  const before = recordsOf(`${key}/decrypt`).length;
  const values = ['MQ==', 'Mg==', 'Mw=='];
  for (const plaintext of values) {
    const { body: sealed } = await people.as('asker', 'POST', `${key}/encrypt`, { plaintext });
    const opened = await people.as('asker', 'POST', `${key}/decrypt`, { ciphertext: sealed.ciphertext });
    expect([codeOf(opened), opened.body.plaintext]).toEqual(['200', plaintext]);
  }
  expect(codeOf(await people.as('asker', 'POST', `${key}/export`, {}))).not.toBe('200');
  expect(recordsOf(`${key}/decrypt`).slice(before)).toEqual(values.map(() => expect.objectContaining({ user: 'asker', status: 200 })));
  const over = await approved(approvers, `${rulePath}/strictest`, undefined, 'DELETE');
  expect(codeOf(await send(over, `${rulePath}/strictest`, undefined, 'DELETE'))).toBe('204');
});

test('14: a flood ends at ten open requests, and the same request is one', async () => {
  const first = await people.ask('other', 'POST', exporting, { version: 1 });
  expect((await people.ask('other', 'POST', exporting, { version: 1 })).body.id).toBe(first.body.id);
  const answers: string[] = [];
  for (let at = 2; at <= 11; at++) answers.push(codeOf(await people.ask('other', 'POST', exporting, {}, `reason number ${at}`)));
  for (let name = 0; name < 10; name++)
    answers.push(codeOf(await people.ask('other', 'POST', list, { name: `flood-${name}`, exportable: true })));
  expect(answers.at(-1)).toBe('429 quota-exceeded');
  const { body: open } = await people.as('other', 'GET', '/v1/state/approvals');
  for (const { id } of open as { id: string }[]) await people.as('other', 'POST', `/v1/state/approvals/${id}/withdraw`);
});

test('15: approvers see what the request does, and no characters that turn the reason around', async () => {
  const asked = await people.ask(
    'asker',
    'PATCH',
    `${list}/payments`,
    { 'allow-plaintext-backup': true },
    'only labels \u202Echange\u200B here',
  );
  const { body } = await people.as('anna', 'GET', `/v1/state/approvals/${String(asked.body.id)}`);
  expect(body.parameters).toEqual({ 'allow-plaintext-backup': { present: false, wanted: true } });
  expect(body.reason).toBe('only labels \uFFFDchange\uFFFD here');
  expect(String(body['digest-words']).split(' ')).toHaveLength(6);
  await people.as('asker', 'POST', `/v1/state/approvals/${String(asked.body.id)}/withdraw`);
});

test('16: an approval without the digest that was shown is refused', async () => {
  const id = await approved([]);
  expect(codeOf(await people.as('anna', 'POST', `/v1/state/approvals/${id}/approve`, { digest: 'x'.repeat(43) }))).toBe(
    '403 approval-refused',
  );
  await people.as('asker', 'POST', `/v1/state/approvals/${id}/withdraw`);
});

test('17: a login of more than fifteen minutes does not approve', async () => {
  const id = await approved([]);
  people.appliance.clock.advance(960);
  expect(codeOf(await people.approve('anna', id))).toBe('403 approval-refused');
  for (const name of approvers) await people.logIn(name);
  expect(codeOf(await people.approve('anna', id))).toBe('200');
  await people.as('asker', 'POST', `/v1/state/approvals/${id}/withdraw`);
});

test('18, 28: what does not concern a caller is not there', async () => {
  const id = await approved(['anna']);
  const [strange, unknown] = [id, 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6'].map((one) => `/v1/state/approvals/${one}`);
  const answers = [await people.as('other', 'GET', String(strange)), await people.as('other', 'GET', String(unknown))];
  expect(answers.map(({ status, body }) => [status, body.code, body.detail])).toEqual(
    [...answers].reverse().map(({ status, body }) => [status, body.code, body.detail]),
  );
  expect(codeOf(answers[0] as Answer)).toBe('404 not-found');
  const { body: shown } = await people.as('other', 'GET', '/v1/state/approvals');
  expect((shown as { id: string }[]).some((one) => one.id === id)).toBe(false);
  await people.as('asker', 'POST', `/v1/state/approvals/${id}/withdraw`);
});

test('19: time ends an approval, and a clock that is set back does not revive it', async () => {
  const id = await approved(['anna', 'bert']);
  people.appliance.clock.advance(3660);
  expect(codeOf(await send(id))).toBe('409 approval-void');
  people.appliance.clock.step(-5400);
  expect(codeOf(await send(id))).toBe('409 approval-void');
  people.appliance.clock.advance(7_200);
  await expire();
  await logInAll();
  expect((await people.as('asker', 'GET', `/v1/state/approvals/${id}`)).body.state).toBe('expired');
});

test('21: a restore voids what was open', async () => {
  await logInAll();
  const id = await approved(['anna', 'bert']);
  await voidApprovals(people.appliance.store, people.appliance.clock.now());
  expect(codeOf(await send(id))).toBe('409 approval-void');
  expect((await people.as('asker', 'GET', `/v1/state/approvals/${id}`)).body.state).toBe('restored');
});

test('24: root on the machine can put a used approval back or take a rule out of the store, and the trail shows both', async () => {
  const { store, directory, clock } = people.appliance;
  const trail = join(directory, 'audit');
  expect(await findUnapproved([trail])).toEqual([]);
  const id = await approved(['anna', 'bert']);
  const tenantId = [...ruleTable(store).entries([])].map(([[tenant]]) => String(tenant))[0] ?? '';
  const earlier = approvalTable(store).get([tenantId, id]) as Approval;
  expect(codeOf(await send(id))).toBe('200');
  await store.write((transaction) => transaction.put(approvalTable(store), [tenantId, id], earlier));
  expect(codeOf(await send(id))).toBe('200');
  const rule = ruleTable(store).get([tenantId, 'key-material']) as ApprovalRule;
  await store.write((transaction) => transaction.delete(ruleTable(store), [tenantId, 'key-material']));
  clock.advance(1);
  expect(codeOf(await people.as('asker', 'POST', exporting, {}))).toBe('200');
  await store.write((transaction) => transaction.put(ruleTable(store), [tenantId, 'key-material'], rule));
  expect((await findUnapproved([trail])).map(({ problem }) => problem)).toEqual([
    `POST ${exporting} ran with an approval that another act had used before`,
    `POST ${exporting} ran without approval under the rule "key-material"`,
  ]);
});

test('26: the last approvers of a rule cannot be deleted, others can', async () => {
  const path = '/v1/config/keystore/authentication/approles/cleo';
  const id = await approved(['anna', 'bert'], path, {}, 'DELETE');
  expect(codeOf(await send(id, path, {}, 'DELETE'))).toBe('204');
});

test('27: a rejection ends a request, and another one may be made', async () => {
  const id = await approved(['anna']);
  expect(codeOf(await people.as('bert', 'POST', `/v1/state/approvals/${id}/reject`, { reason: 'not a partner' }))).toBe('200');
  expect(codeOf(await people.approve('anna', id))).toBe('409 approval-void');
  expect(codeOf(await send(id))).toBe('409 approval-void');
  const another = await approved(['anna', 'bert']);
  expect(another).not.toBe(id);
  expect(codeOf(await send(another))).toBe('200');
});

test('headers: both, repeated and malformed ones are refused', async () => {
  const refused = [
    { approval: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6', 'approval-reason': 'for%20the%20bank' },
    { approval: 'not-an-id' },
    { 'approval-reason': 'short' },
    { 'approval-reason': 'not encoded at all' },
  ];
  for (const headers of refused)
    expect(codeOf(await people.as('asker', 'POST', exporting, {}, headers as Record<string, string>))).toBe('400 invalid-value');
});

test('a dry run needs no approval and gives none', async () => {
  expect(codeOf(await people.as('asker', 'PATCH', `${list}/payments?validate=true`, { 'allow-plaintext-backup': true }))).toBe('204');
});
