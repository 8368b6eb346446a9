// Fields of rules: groups of approvers, requests without a reason, and who counts when a rule is saved.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { approvers, type People, rule, rulePath, startPeople } from './people.ts';

const at = temporaryDirectory();
let people: People;
const list = '/v1/config/keystore/transit-keys';
const exporting = '/v1/state/keystore/transit-keys/payments/export';
const codeOf = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${String(body?.code)}`);
const dayHours = 24 * 3_600;

beforeAll(async () => {
  people = await startPeople(at());
  await people.as('root', 'POST', list, { name: 'payments', exportable: true });
});
afterAll(() => people.appliance.close());
afterEach(async () => expect(await people.appliance.check()).toEqual([]));

const runJob = async (name: string): Promise<void> =>
  people.appliance.jobs.find((job) => job.name === name)?.run(new AbortController().signal);
const tryRule = (fields: object = {}): Promise<Answer> =>
  people.as('root', 'POST', `${rulePath}?validate=true`, rule('tried', { ...fields }));
const sendApproved = async (by: readonly string[], method: string, path: string, body?: object): Promise<Answer> => {
  const { body: asked } = await people.ask('asker', method, path, body);
  for (const name of by) await people.approve(name, String(asked.id));
  return people.as('asker', method, path, body, { approval: String(asked.id) });
};
/** The rule with these fields: a merge adds to its groups. */
const replace = (by: readonly string[], fields: object): Promise<Answer> =>
  sendApproved(by, 'PUT', `${rulePath}/both`, rule('both', { acts: ['take-keys-out'], ...fields }));

test('a rule counts who has logged in within 90 days, logged in now or not', async () => {
  for (const name of approvers) await people.as(name, 'POST', '/v1/logout', {});
  await runJob('expired-tokens');
  expect(codeOf(await tryRule())).toMatch(/^2/);
  people.appliance.clock.advance(89 * dayHours);
  await people.logIn('anna');
  await runJob('expired-approvals');
  expect(codeOf(await tryRule())).toMatch(/^2/);
  people.appliance.clock.advance(3 * dayHours);
  await runJob('expired-approvals');
  await runJob('expired-tokens');
  const refused = await tryRule();
  expect([codeOf(refused), String(refused.body.detail)]).toEqual([
    '409 in-use',
    expect.stringMatching(/^1 people have logged in by these roles within 90 days/),
  ]);
  for (const name of ['asker', ...approvers]) await people.logIn(name);
  expect(codeOf(await tryRule())).toMatch(/^2/);
});

test('groups are of approvers of the rule, no more than it needs people, and each of two who have logged in', async () => {
  const refusalOf = async (groups: readonly object[], fields: object = {}): Promise<string> => {
    const answer = await tryRule({ 'distinct-groups': groups, ...fields });
    const [first] = (answer.body?.errors ?? []) as { 'error-info': string }[];
    return `${codeOf(answer)} ${first?.['error-info'] ?? ''}`.trim();
  };
  expect(await refusalOf([{ approles: ['other'] }])).toBe('400 invalid-value distinct-groups/0');
  expect(await refusalOf([{ approles: ['anna'] }, {}])).toBe('400 invalid-value distinct-groups/1');
  expect(await refusalOf([{ approles: ['nobody'] }])).toBe('400 invalid-value distinct-groups/0/approles');
  expect(await refusalOf(Array.from({ length: 3 }, () => ({ approles: ['anna', 'bert'] })))).toBe('400 invalid-value distinct-groups');
  expect(await refusalOf([{ approles: ['anna'] }])).toBe('409 in-use');
  expect(await refusalOf([{ approles: ['anna'] }], { force: true })).toMatch(/^2/);
});

test('a rule of which all approvers must agree is warned of', async () => {
  const warned = await people.as('root', 'POST', `${rulePath}?validate=true`, rule('tried', { needed: 3, force: true }));
  expect(JSON.stringify([warned.headers, warned.body])).toContain('All approvers must approve');
  expect(JSON.stringify(Object.values(await tryRule()))).not.toContain('All approvers must approve');
});

test('of each group another person must have approved', async () => {
  const groups = [{ approles: ['anna', 'bert'] }, { approles: ['bert', 'cleo'] }];
  const made = await people.as('root', 'POST', rulePath, rule('both', { acts: ['take-keys-out'], 'distinct-groups': groups, force: true }));
  expect(codeOf(made), JSON.stringify(made.body)).toBe('201');
  expect((await people.as('root', 'GET', `${rulePath}/both`)).body['distinct-groups']).toEqual(
    groups.map((group) => ({ roles: [], ...group })),
  );
  // Bert stands for the other group when Anna is there, and Cleo when Bert is the first.
  for (const by of [
    ['bert', 'anna'],
    ['bert', 'cleo'],
    ['anna', 'cleo'],
  ])
    expect(codeOf(await sendApproved(by, 'POST', exporting, {}))).toBe('200');
  const apart = { 'distinct-groups': [{ approles: ['anna', 'bert'] }, { approles: ['cleo'] }], force: true };
  expect(codeOf(await replace(['anna', 'bert'], apart))).toBe('204');
  const { body: asked } = await people.ask('asker', 'POST', exporting, {});
  const id = String(asked.id);
  await people.approve('anna', id);
  const { body: seen } = await people.approve('bert', id);
  expect([seen.state, seen.rules]).toEqual(['open', [{ name: 'both', needed: 2, have: 2, 'groups-lacking': 1 }]]);
  expect(codeOf(await people.as('asker', 'POST', exporting, {}, { approval: id }))).toBe('409 approval-missing');
  // Groups that were there when it was asked for count, although the rule has none now.
  expect(codeOf(await replace(['anna', 'cleo'], {}))).toBe('204');
  expect(codeOf(await people.as('asker', 'POST', exporting, {}, { approval: id }))).toBe('409 approval-missing');
  await people.approve('cleo', id);
  expect(codeOf(await people.as('asker', 'POST', exporting, {}, { approval: id }))).toBe('200');
});

test('the last of a group is not deleted', async () => {
  const apart = { 'distinct-groups': [{ approles: ['cleo'] }], force: true };
  expect(codeOf(await replace(['anna', 'bert'], apart))).toBe('204');
  const remove = (name: string): Promise<Answer> =>
    sendApproved(['anna', 'cleo'], 'DELETE', `/v1/config/keystore/authentication/approles/${name}`);
  expect(codeOf(await remove('cleo'))).toBe('409 last-approver');
  expect(codeOf(await remove('bert'))).toBe('204');
});

test('a request may have no reason where every rule lets it', async () => {
  const asks = (reason: string): Promise<Answer> => people.as('asker', 'POST', exporting, { version: 1 }, { 'approval-reason': reason });
  expect(codeOf(await asks(''))).toBe('400 invalid-value');
  expect(codeOf(await sendApproved(['anna', 'cleo'], 'PATCH', `${rulePath}/both`, { 'reason-required': false }))).toBe('204');
  expect(codeOf(await asks('short'))).toBe('400 invalid-value');
  const asked = await asks('');
  expect(codeOf(asked), JSON.stringify(asked.body)).toBe('202');
  expect((await people.as('anna', 'GET', `/v1/state/approvals/${String(asked.body.id)}`)).body.reason).toBe('');
  const strict = rule('strict', { acts: ['take-keys-out'], needed: 1, approvers: { approles: ['anna'] }, force: true });
  expect(codeOf(await sendApproved(['anna', 'cleo'], 'POST', rulePath, strict))).toBe('201');
  expect(codeOf(await people.as('asker', 'POST', exporting, {}, { 'approval-reason': '' }))).toBe('400 invalid-value');
});
