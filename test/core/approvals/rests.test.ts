// Attacks that need more than one request: names, restarts, tenants made again, hidden fields, many logins of one maker, times, large requests, the trail.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { noteRestoration } from '../../../appliance/backup/restoration.ts';
import { tableKinds } from '../../../appliance/table-kinds.ts';
import { findUnapproved } from '../../../core/approvals/in-trail.ts';
import { tokenTable } from '../../../core/access/tokens/record.ts';
import type { AuditRecord } from '../../../core/audit/record.ts';
import { openAuditTrail } from '../../../core/audit/trail.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { TestClock } from '../../harness/clock.ts';
import type { TokenConfig } from '../../../hsm/api.ts';
import { type Answer, memoryLog, startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSoftToken } from '../../harness/token/softhsm.ts';
import { type People, rule, rulePath, startPeople } from './people.ts';

const at = temporaryDirectory();
let people: People;
let token: TokenConfig;
const list = '/v1/config/keystore/transit-keys';
const exporting = '/v1/state/keystore/transit-keys/payments/export';
const approles = '/v1/config/keystore/authentication/approles';
const codeOf = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${String(body?.code)}`);
const idOf = ({ body, status }: Answer): string => {
  expect(status, JSON.stringify(body)).toBe(202);
  return String(body.id);
};
const withdraw = (by: string, id: string): Promise<Answer> => people.as(by, 'POST', `/v1/state/approvals/${id}/withdraw`);

beforeAll(async () => {
  for (const name of ['data', 'token']) mkdirSync(at(name));
  token = await makeSoftToken(at('token'));
  people = await startPeople(at('data'), { tokens: [token] });
  await people.as('root', 'POST', list, { name: 'payments', exportable: true });
  await people.as('root', 'POST', '/v1/config/policy/policies', {
    name: 'blind',
    'rest-api': { rules: [{ path: '/v1/state/approvals/**', operations: { read: 'allow', execute: 'allow' } }] },
  });
  await people.as('root', 'POST', '/v1/config/policy/policies', { name: 'unused', description: 'hush', 'rest-api': { rules: [] } });
  await people.as('root', 'POST', approles, { name: 'dora', 'token-policies': ['blind'] });
  await people.renew('dora', 'root');
  for (const [number, name] of ['one', 'two', 'three'].entries()) {
    await people.as('root', 'POST', approles, { name, 'token-policies': ['root'] });
    await people.renew(name, number === 0 ? 'root' : 'one');
  }
});
afterAll(() => people.appliance.close());
afterEach(async () => expect(await people.appliance.check()).toEqual([]));

const make = (name: string, fields: object): Promise<Answer> => people.as('root', 'POST', rulePath, rule(name, { ...fields }));
const change = async (name: string, fields: object, by: readonly string[], method = 'PATCH'): Promise<void> => {
  const path = `${rulePath}/${name}`;
  const id = idOf(await people.ask('root', method, path, method === 'DELETE' ? undefined : fields));
  for (const one of by) expect(codeOf(await people.approve(one, id))).toBe('200');
  const sent = await people.as('root', method, path, method === 'DELETE' ? undefined : fields, { approval: id });
  expect(codeOf(sent), JSON.stringify(sent.body)).toBe('204');
};

test('4: the name of an approver gives no approval: the identity counts', async () => {
  expect(codeOf(await make('out', { acts: ['take-keys-out'], needed: 1, approvers: { approles: ['anna', 'bert', 'dora'] } }))).toBe('201');
  const { store } = people.appliance;
  const [found] = Array.from(tokenTable(store).entries([])).filter(([, { user }]) => user === 'other');
  if (found === undefined) throw new Error('there is no token of "other"');
  await store.write((transaction) => transaction.put(tokenTable(store), found[0], { ...found[1], user: 'anna' }));
  const id = idOf(await people.ask('asker', 'POST', exporting, {}));
  expect(codeOf(await people.approve('other', id))).toBe('404 not-found');
  expect(codeOf(await people.approve('anna', id))).toBe('200');
  await withdraw('asker', id);
});

test('29: who may not read what a request is about sees no parameters, and does not approve it', async () => {
  const id = idOf(await people.ask('asker', 'POST', exporting, {}));
  const { body } = await people.as('dora', 'GET', `/v1/state/approvals/${id}`);
  expect([body.hidden, body.parameters, body['may-decide']]).toEqual([true, undefined, true]);
  expect(codeOf(await people.approve('dora', id))).toBe('403 approval-refused');
  await withdraw('asker', id);
});

test('29: who may change and not read learns nothing of what is there by asking for approval', async () => {
  const rules = [
    { path: '/v1/config/keystore/transit-keys/*', operations: { update: 'allow', delete: 'allow' }, 'hide-fields': ['labels'] },
    { path: '/v1/config/policy/policies/*', operations: { delete: 'allow' } },
    { path: '/v1/state/approvals/**', operations: { read: 'allow', execute: 'allow' } },
  ];
  const made = { name: 'changer', 'rest-api': { rules } };
  const policy = idOf(await people.ask('root', 'POST', '/v1/config/policy/policies', made));
  expect(codeOf(await people.approve('anna', policy))).toBe('200');
  expect(codeOf(await people.as('root', 'POST', '/v1/config/policy/policies', made, { approval: policy }))).toBe('201');
  const approle = { name: 'changer', 'token-policies': ['changer'] };
  expect(codeOf(await people.as('root', 'POST', approles, approle))).toBe('201');
  await people.renew('changer', 'root');
  const key = { name: 'lab', exportable: false, 'deletion-allowed': true, labels: { inside: 'hush' } };
  expect(codeOf(await people.as('root', 'POST', list, key))).toBe('201');
  const headers = { 'if-match': '*', 'approval-reason': 'because%20of%20it' };
  for (const [method, path, body] of [
    ['PATCH', `${list}/lab`, { exportable: true, labels: { other: 'mine' } }],
    ['DELETE', '/v1/config/policy/policies/unused', undefined],
  ] as const) {
    const id = idOf(await people.as('changer', method, path, body, headers));
    const { body: own } = await people.as('changer', 'GET', `/v1/state/approvals/${id}`);
    expect(own).toMatchObject({ 'is-own': true, hidden: true, parameters: {} });
    expect(JSON.stringify((await people.as('changer', 'GET', '/v1/state/approvals')).body)).not.toContain('hush');
    expect(JSON.stringify((await people.as('anna', 'GET', `/v1/state/approvals/${id}`)).body)).toContain('hush');
    await withdraw('changer', id);
  }
});

test('14: the logins whose secret-ids one person has made are one person', async () => {
  const answers: string[] = [];
  for (const name of ['two', 'three', 'two', 'three', 'one'])
    for (let version = 1; version <= 3; version++) {
      const body = { name: `flood-${answers.length}`, exportable: true };
      answers.push(codeOf(await people.ask(name, 'POST', list, body, `flood ${name} ${version}`)));
    }
  // Two are left to the maker, whom a login that was taken over must not keep from asking.
  expect(answers.filter((one) => one === '202')).toHaveLength(12);
  expect(answers.slice(-6)).toEqual(['202', '429 quota-exceeded', '429 quota-exceeded', '202', '202', '429 quota-exceeded']);
  // Others have their room.
  await withdraw('asker', idOf(await people.ask('asker', 'POST', exporting, {})));
  for (const name of ['one', 'two', 'three']) {
    const { body: open } = await people.as(name, 'GET', '/v1/state/approvals');
    for (const { id } of open as { id: string }[]) await withdraw(name, id);
  }
});

test('11: the times of a rule that became stricter count for open requests', async () => {
  const granted = idOf(await people.ask('asker', 'POST', exporting, {}));
  expect(codeOf(await people.approve('anna', granted))).toBe('200');
  const open = idOf(await people.ask('asker', 'POST', exporting, { version: 1 }));
  await change('out', { 'approve-within': '5m', 'use-within': '1m' }, ['anna']);
  people.appliance.clock.advance(120);
  expect(codeOf(await people.as('asker', 'POST', exporting, {}, { approval: granted }))).toBe('409 approval-void');
  people.appliance.clock.advance(240);
  expect(codeOf(await people.approve('anna', open))).toBe('409 approval-void');
  await change('out', { 'approve-within': '24h', 'use-within': '1h' }, ['anna']);
});

test('15: approvers see a list of any length in full, and lists of requests stay short', async () => {
  const rules = Array.from({ length: 300 }, (_, n) => ({
    path: `/v1/state/keystore/transit-keys/key-${n}/encrypt`,
    operations: { execute: 'allow' },
  }));
  const id = idOf(await people.ask('asker', 'POST', '/v1/config/policy/policies', { name: 'many', 'rest-api': { rules } }));
  const { body } = await people.as('anna', 'GET', `/v1/state/approvals/${id}`);
  expect(JSON.stringify(body.parameters)).toContain('key-299/encrypt');
  const { body: all } = await people.as('anna', 'GET', '/v1/state/approvals');
  expect((all as { id: string; parameters: unknown }[]).find((one) => one.id === id)?.parameters).toEqual({
    bytes: expect.any(Number),
    sha256: expect.stringMatching(/^[\da-f]{64}$/),
  });
  await withdraw('asker', id);
});

test('30: an act that was cut off or failed needs another approval', async () => {
  const backup = '/v1/state/keystore/transit-keys/payments/backup';
  const id = idOf(await people.ask('asker', 'POST', backup, {}));
  await people.approve('anna', id);
  expect((await people.as('asker', 'POST', backup, {}, { approval: id })).status).toBe(409);
  expect(codeOf(await people.as('asker', 'POST', backup, {}, { approval: id }))).toBe('409 approval-void');
});

test('22: a tenant that was made again under the name has neither the requests nor the approvals of the former', async () => {
  const request: TestAppliance['request'] = (...words) => people.appliance.request(...words);
  const start = async (): Promise<string> => {
    const made = await people.as(
      'root',
      'POST',
      '/v1/config/tenants',
      { name: 'shop', kind: 'application-owner' },
      await approvalFor('POST', { name: 'shop', kind: 'application-owner' }),
    );
    expect(codeOf(made), JSON.stringify(made.body)).toBe('201');
    const body = { name: 'shop' };
    const path = '/v1/state/keystore/token/create-root';
    const id = idOf(await people.ask('root', 'POST', path, body));
    await people.approve('anna', id);
    const { body: token } = await people.as('root', 'POST', path, body, { approval: id });
    return String(token.token);
  };
  const approvalFor = async (method: string, body: object | undefined, path = '/v1/config/tenants'): Promise<Record<string, string>> => {
    const id = idOf(await people.ask('root', method, path, body));
    await people.approve('anna', id);
    return { approval: id };
  };
  const fill = async (token: string): Promise<string> => {
    await request('POST', list, { name: 'payments', exportable: true }, { token });
    await request('POST', approles, { name: 'eve', 'token-policies': ['root'] }, { token });
    const own = '/v1/state/keystore/authentication/approles/eve';
    const { body: role } = await request('GET', own, undefined, { token });
    const { body: secret } = await request('POST', `${own}/generate-secret-id`, {}, { token });
    const credentials = { 'role-id': role['role-id'], 'secret-id': secret['secret-id'] };
    const { body: eve } = await request('POST', '/v1/approle-login', credentials, { token: undefined });
    const rules = { name: 'all', acts: ['take-keys-out'], needed: 1, approvers: { approles: ['eve'] }, force: true };
    expect(codeOf(await request('POST', rulePath, rules, { token }))).toBe('201');
    return String(eve.token);
  };
  const reason = { 'approval-reason': 'for%20the%20bank' };
  const token = await start();
  const eve = await fill(token);
  const id = idOf(await request('POST', exporting, {}, { token, headers: reason }));
  const removal = idOf(await request('DELETE', `${rulePath}/all`, undefined, { token, headers: reason }));
  const { body: seen } = await request('GET', `/v1/state/approvals/${removal}`, undefined, { token: eve });
  await request('POST', `/v1/state/approvals/${removal}/approve`, { digest: seen.digest }, { token: eve });
  await request('DELETE', `${rulePath}/all`, undefined, { token, headers: { approval: removal } });
  await request('PATCH', `${list}/payments`, { 'deletion-allowed': true }, { token });
  for (const path of [`${approles}/eve`, `${list}/payments`])
    expect(codeOf(await request('DELETE', path, undefined, { token }))).toBe('204');
  const gone = await approvalFor('DELETE', undefined, '/v1/config/tenants/shop');
  expect(codeOf(await people.as('root', 'DELETE', '/v1/config/tenants/shop', undefined, gone))).toBe('204');
  const again = await start();
  await fill(again);
  expect(codeOf(await request('GET', `/v1/state/approvals/${id}`, undefined, { token: again }))).toBe('404 not-found');
  expect(codeOf(await request('POST', exporting, {}, { token: again, headers: { approval: id } }))).toBe('409 approval-void');
});

test('the revocation of a CA at its issuer falls under a rule about the path of the CA', async () => {
  const cas = '/v1/config/keystore/tls/ca';
  for (const body of [{ name: 'above' }, { name: 'below', 'issuing-ca': 'above' }]) {
    const made = await people.as('root', 'POST', cas, body);
    expect(made.status, JSON.stringify(made.body)).toBe(201);
  }
  const { body: made } = await people.as('root', 'GET', '/v1/state/keystore/tls/ca/above/certificates');
  const serial = (made as { serial: string }[])[0]?.serial ?? '';
  const narrow = {
    name: 'one-ca',
    acts: ['destroy'],
    needed: 1,
    paths: [`${cas}/below`],
    approvers: { approles: ['anna', 'bert', 'cleo'] },
  };
  const id = idOf(await people.ask('root', 'POST', rulePath, narrow));
  await people.approve('anna', id);
  expect(codeOf(await people.as('root', 'POST', rulePath, narrow, { approval: id }))).toBe('201');
  const at = '/v1/state/keystore/tls/ca/above';
  expect(codeOf(await people.as('root', 'POST', `${at}/revoke`, { serial }))).toBe('403 approval-needed');
  expect(codeOf(await people.as('root', 'POST', `${at}/import-revocations`, { serials: [serial] }))).toBe('403 approval-needed');
  expect(codeOf(await people.as('root', 'POST', `${at}/import-revocations`, { serials: ['4f9a2c51d07b83e6'] }))).toBe('200');
});

test('the trail shows an act that ran under a rule without approval, and only that', async () => {
  people.appliance.clock.advance(3_600);
  for (const name of ['asker', 'anna']) await people.logIn(name);
  const id = idOf(await people.ask('asker', 'POST', exporting, {}));
  await people.approve('anna', id);
  expect(codeOf(await people.as('asker', 'POST', exporting, {}, { approval: id }))).toBe('200');
  const directory = join(people.appliance.directory, 'audit');
  expect(await findUnapproved([directory])).toEqual([]);
});

const identity = (subject: string) => ({ kind: 'approle' as const, source: subject, subject });
const acts = ['take-keys-out'];
const approvers = [{ user: 'anna', identity: identity('anna'), accessor: 'a' }];

/** A trail of acts that no gate has judged, each a minute after the other. `close` answers what is found in it: line and problem. */
async function openOtherTrail(name: string) {
  const clock = new TestClock();
  const log = memoryLog([]);
  const trail = await openAuditTrail({ directory: at(name), chain: 'worker-1', clock, log });
  return {
    write: (fields: Partial<AuditRecord>, afterSeconds = 61): Promise<void> => {
      clock.advance(afterSeconds);
      const shared = { kind: 'request' as const, requestId: 'r', tenantId: 't', method: 'POST', status: 200, path: exporting };
      return trail.write({ ...shared, occurredAt: formatTimestamp(clock.now()), ...fields });
    },
    close: async (): Promise<readonly string[]> => {
      await trail.close();
      const found = await findUnapproved([at(name)]);
      return found.map(({ where, problem }) => `${where.split(':')[1]} ${problem.split(' ').slice(2).join(' ')}`);
    },
  };
}

test('the trail of an appliance that let acts through is found', async () => {
  const { write, close } = await openOtherTrail('other-trail');
  await write({ acts });
  await write({ acts: ['change-trust'], path: rulePath, status: 201, requestParameters: { name: 'out', acts, needed: 1 } });
  await write({ acts });
  await write({ acts, status: 403, code: 'approval-needed' });
  await write({ acts, tenantId: 'another' });
  await write({ acts, approval: 'one', approvers });
  await write({ kind: 'approval', path: '/v1/state/approvals/two/approve', approval: 'two', identity: identity('anna') });
  await write({ acts, approval: 'two', approvers });
  await write({ acts, approval: 'three', approvers: [] });
  await write({ kind: 'system', code: 'break-glass' });
  await write({ acts });
  expect(await close()).toEqual([
    expect.stringMatching(/^\d+ ran without approval under the rule "out"$/),
    expect.stringMatching(/^\d+ names 1 approvers of whose approval of the request one the trail/),
    expect.stringMatching(/^\d+ ran with 0 approvals, and the rule "out" needs 1$/),
  ]);
});

test('break-glass that was on record and then refused has left the rules in force', async () => {
  const { write, close } = await openOtherTrail('glass-refused');
  await write({ acts: ['change-trust'], path: rulePath, status: 201, requestParameters: { name: 'out', acts, needed: 1 } });
  await write({ kind: 'system', code: 'break-glass', requestId: 'late' });
  await write({ acts });
  await write({ kind: 'system', code: 'break-glass-refused', requestId: 'late' });
  await write({ acts });
  await write({ kind: 'system', code: 'break-glass', requestId: 'in time' });
  await write({ acts });
  await write({ kind: 'system', code: 'break-glass-refused', requestId: 'another' });
  await write({ acts });
  expect(await close()).toEqual([expect.stringMatching(/ran without approval/), expect.stringMatching(/ran without approval/)]);
});

test('while a rule is replaced an act needs what it was or what it is', async () => {
  const { write, close } = await openOtherTrail('replaced');
  const change = (method: string, needed: number, paths: string[] = []) => ({
    ...{
      acts: ['change-trust'],
      method,
      approval: `${method} ${needed}`,
      approvers,
      path: method === 'POST' ? rulePath : `${rulePath}/out`,
    },
    requestParameters: { name: 'out', acts, needed, paths },
  });
  const decided = (approval: string) =>
    write({ kind: 'approval', path: `/v1/state/approvals/${approval}/approve`, approval, identity: identity('anna') }, 0);
  for (const id of ['PUT 2', 'PUT 1', 'a', 'b', 'c']) await decided(id);
  const { approval: _, ...made } = change('POST', 1);
  await write(made);
  await write(change('PUT', 2));
  await write({ acts }, 5);
  await write({ acts, approval: 'a', approvers }, 5);
  await write({ acts, approval: 'b', approvers }, 61);
  // One that is replaced by one about another path: what was decided by that is right.
  await write({ ...change('PUT', 1, ['/v1/state/keystore/transit-keys/other']), approvers: [...approvers, ...approvers] });
  await write({ acts }, 5);
  expect(await close()).toEqual([
    expect.stringMatching(/ ran without approval under the rule "out"$/),
    expect.stringMatching(/ ran with 1 approval, and the rule "out" needs 2$/),
    expect.stringMatching(/ ran with 1 approval, and the rule "out" needs 2$/),
  ]);
});

test('metrics count what waits', async () => {
  const id = idOf(await people.ask('asker', 'POST', exporting, {}));
  const metrics = await people.as('asker', 'GET', '/v1/state/system/metrics');
  expect(String(metrics.body ?? '')).toMatch(/keystored_open_approvals\{tenant="system"\} [1-9]/);
  await withdraw('asker', id);
});

test('20, 23: an approval outlives a restart, and not the recovery from what one appliance had', async () => {
  const { appliance } = people;
  const ids = [idOf(await people.ask('asker', 'POST', exporting, {})), idOf(await people.ask('asker', 'POST', exporting, { version: 1 }))];
  for (const id of ids) expect(codeOf(await people.approve('anna', id))).toBe('200');
  const { clock, directory, rootToken } = appliance;
  await appliance.close();
  const next: TestAppliance = await startTestAppliance({ directory, clock, rootToken, tokens: [token] });
  (people as { appliance: TestAppliance }).appliance = next;
  const send = (id: string, body: object): Promise<Answer> =>
    next.request('POST', exporting, body, { token: String(people.tokens['asker']), headers: { approval: id } });
  expect(codeOf(await send(String(ids[0]), {}))).toBe('200');
  await noteRestoration(
    next.store,
    { clock, kinds: tableKinds },
    { at: formatTimestamp(clock.now()), from: 'replica', appliance: 'a', revision: 7 },
    [],
  );
  expect(codeOf(await send(String(ids[1]), { version: 1 }))).toBe('409 approval-void');
});
