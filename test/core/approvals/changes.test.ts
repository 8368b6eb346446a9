// What changes between asking, approving and sending: rights, roles, rules, and what the names in a request stand for.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type People, rule, rulePath, startPeople } from './people.ts';

const at = temporaryDirectory();
let people: People;
const list = '/v1/config/keystore/transit-keys';
const approles = '/v1/config/keystore/authentication/approles';
const policies = '/v1/config/policy/policies';
const cas = '/v1/config/keystore/tls/ca';
const exportOf = (key: string): string => `/v1/state/keystore/transit-keys/${key}/export`;
const codeOf = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${String(body?.code)}`);
const both = ['anna', 'bert'];

beforeAll(async () => {
  people = await startPeople(at());
  for (const name of ['payments', 'orders']) await people.as('root', 'POST', list, { name, exportable: true });
  expect(codeOf(await people.as('root', 'POST', rulePath, rule('out', { acts: ['take-keys-out'] })))).toBe('201');
});
afterAll(() => people.appliance.close());
afterEach(async () => expect(await people.appliance.check()).toEqual([]));

async function approved(path: string, body: object | undefined = {}, method = 'POST', asker = 'asker', by = both): Promise<string> {
  const asked = await people.ask(asker, method, path, body);
  expect(codeOf(asked), JSON.stringify(asked.body)).toBe('202');
  for (const name of by) expect(codeOf(await people.approve(name, String(asked.body.id)))).toBe('200');
  return String(asked.body.id);
}
const send = async (id: string, path: string, body: object | undefined = {}, method = 'POST', by = 'asker'): Promise<string> =>
  codeOf(await people.as(by, method, path, body, { approval: id }));
/** A change of root, approved where it needs that. */
async function change(path: string, body: object | undefined, method = 'POST'): Promise<void> {
  const direct = await people.as('root', method, path, body);
  const isOver = codeOf(direct) !== '403 approval-needed';
  const code = isOver ? codeOf(direct) : await send(await approved(path, body, method, 'root'), path, body, method, 'root');
  expect(code, `${method} ${path} ${JSON.stringify(direct.body)}`).toMatch(/^20/);
}
const stateOf = async (id: string): Promise<unknown> => (await people.as('asker', 'GET', `/v1/state/approvals/${id}`)).body.state;

test('8: a key that was made again under the name is not the one that was approved', async () => {
  const key = { name: 'spare', exportable: true, 'deletion-allowed': true };
  const flag = { 'allow-plaintext-backup': true };
  await change(list, key);
  const exporting = await approved(exportOf('spare'));
  const changing = await approved(`${list}/spare`, flag, 'PATCH');
  await change(`${list}/spare`, undefined, 'DELETE');
  await change(list, key);
  expect(await send(exporting, exportOf('spare'))).toBe('409 approval-void');
  expect(await send(changing, `${list}/spare`, flag, 'PATCH')).toBe('409 approval-void');
});

test('8: a name in the body that stands for something else meanwhile is another request', async () => {
  const createRoot = '/v1/state/keystore/token/create-root';
  const tenant = { name: 'shop', kind: 'application-owner' };
  await change('/v1/config/tenants', tenant);
  const rooting = await approved(createRoot, { name: 'shop' }, 'POST', 'root');
  await change('/v1/config/tenants/shop', undefined, 'DELETE');
  await change('/v1/config/tenants', tenant);
  expect(await send(rooting, createRoot, { name: 'shop' }, 'POST', 'root')).toBe('409 approval-void');
  await change(createRoot, { name: 'shop' });

  // Neither the removal of a CA nor a new one is under the rule.
  const ca = { name: 'corp', subject: 'CN=corp', ttl: '365d', 'deletion-allowed': true };
  await change(cas, ca);
  await change('/v1/config/keystore/kmip-spaces', { name: 'space' });
  const trusting: readonly (readonly [path: string, body: object])[] = [
    [
      '/v1/config/keystore/authentication/certificate/roles',
      { name: 'devices', 'trust-ca': 'corp', names: ['*.example.test'], 'token-policies': ['root'] },
    ],
    [
      '/v1/config/keystore/kmip-clients',
      { ...{ name: 'db', space: 'space', 'trust-ca': 'corp', 'name-from': 'dns' }, 'certificate-name': 'db.example.test' },
    ],
  ];
  const ids: string[] = [];
  for (const [path, body] of trusting) ids.push(await approved(path, body, 'POST', 'root'));
  expect(codeOf(await people.as('root', 'DELETE', `${cas}/corp`))).toBe('204');
  await change(cas, { ...ca, subject: 'CN=another' });
  for (const [index, [path, body]] of trusting.entries())
    expect(await send(String(ids[index]), path, body, 'POST', 'root')).toBe('409 approval-void');

  // An approle that no rule names yet is made and removed by one person.
  const next = { name: 'next', 'token-policies': [] };
  await change(approles, next);
  const naming = rule('more', { needed: 1, approvers: { approles: [...both, 'next'] }, force: true });
  const id = await approved(rulePath, naming, 'POST', 'root');
  expect(codeOf(await people.as('root', 'DELETE', `${approles}/next`))).toBe('204');
  await change(approles, next);
  expect(await send(id, rulePath, naming, 'POST', 'root')).toBe('409 approval-void');
});

test('9: a requester whose rights, policy or approle went does not run what was approved', async () => {
  const own = { path: '/v1/state/approvals/**', operations: { read: 'allow', execute: 'allow' } };
  const exporting = { path: '/v1/state/keystore/transit-keys/*/export', operations: { execute: 'allow' } };
  const policy = { name: 'exporter', 'rest-api': { rules: [own, exporting] } };
  const dan = { name: 'dan', 'token-policies': ['exporter'] };
  await change(policies, policy);
  await change(approles, dan);
  await people.renew('dan', 'root');
  const sent = (id: string): Promise<string> => send(id, exportOf('orders'), {}, 'POST', 'dan');
  const id = await approved(exportOf('orders'), {}, 'POST', 'dan');
  await change(`${policies}/exporter?lists=replace`, { 'rest-api': { rules: [own] } }, 'PATCH');
  expect(await sent(id)).toBe('403 policy-denied');
  await change(`${policies}/exporter`, undefined, 'DELETE');
  expect(await sent(id)).toBe('403 policy-denied');
  await change(policies, policy);
  await change(`${approles}/dan`, undefined, 'DELETE');
  expect(await sent(id)).toBe('401 invalid-token');
  await change(approles, dan);
  await people.renew('dan', 'root');
  expect(await sent(id)).toBe('409 approval-void');
});

test('an approval that does not fit what is sent refuses it, also where no approval is needed', async () => {
  const id = await approved(exportOf('orders'));
  const half = await approved(exportOf('orders'), { version: 1 }, 'POST', 'asker', ['anna']);
  await change(`${rulePath}/out?lists=replace`, { paths: ['/v1/state/keystore/transit-keys/payments'] }, 'PATCH');
  expect(await send(id, exportOf('orders'), { version: 1 })).toBe('409 approval-void');
  expect(await send(id, `${list}/orders`, { labels: { team: 'cards' } }, 'PATCH')).toBe('409 approval-void');
  expect(await send(id, `${list}-batch`, { 'batch-input': [{ name: 'harmless' }] })).toBe('409 approval-void');
  expect(await send(half, exportOf('orders'), { version: 1 })).toBe('409 approval-missing');
  expect(await send(id, exportOf('orders'), {}, 'POST', 'other')).toBe('409 approval-void');
  expect(await send('not-an-id', exportOf('orders'))).toBe('400 invalid-value');
  const headers = { approval: id, 'approval-reason': 'for%20the%20bank' };
  expect(codeOf(await people.as('asker', 'POST', exportOf('orders'), {}, headers))).toBe('400 invalid-value');
  expect(await stateOf(id)).toBe('granted');
  // A dry run uses nothing up, and reads need no approval.
  expect(await send(id, `${list}/orders?validate=true`, { labels: { team: 'cards' } }, 'PATCH')).toBe('204');
  expect(await send(id, `${list}/orders`, undefined, 'GET')).toBe('200');
  expect(await send(id, exportOf('orders'))).toBe('200');
  expect(await stateOf(id)).toBe('used');
  expect(await send(id, exportOf('orders'))).toBe('409 approval-void');
  expect(codeOf(await people.as('asker', 'POST', exportOf('orders'), { version: 1 }))).toBe('200');
  await change(`${rulePath}/out?lists=replace`, { paths: [] }, 'PATCH');
});

test('11: a rule that was removed and made again with less asks for what it asked for', async () => {
  const id = await approved(exportOf('orders'), {}, 'POST', 'asker', ['anna']);
  await change(`${rulePath}/out`, undefined, 'DELETE');
  await change(rulePath, rule('out', { acts: ['take-keys-out'], needed: 1 }));
  expect(await send(id, exportOf('orders'))).toBe('409 approval-missing');
  expect(codeOf(await people.approve('bert', id))).toBe('200');
  expect(await send(id, exportOf('orders'))).toBe('200');
});

test('10: an approval of an approle that was removed, and made again, does not count', async () => {
  const id = await approved(exportOf('orders'), { version: 1 }, 'POST', 'asker', ['cleo']);
  await change(`${approles}/cleo`, undefined, 'DELETE');
  expect(await send(id, exportOf('orders'), { version: 1 })).toBe('409 approval-missing');
  await change(approles, { name: 'cleo', 'token-policies': ['root'] });
  await people.renew('cleo', 'root');
  expect(codeOf(await people.approve('cleo', id))).toBe('404 not-found');
  expect(await send(id, exportOf('orders'), { version: 1 })).toBe('409 approval-missing');
});
