// Records that count, list or copy what is elsewhere begin again where one does not open: nothing waits for a person who restores it.
import { mkdirSync } from 'node:fs';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { voidApprovals } from '../../../core/approvals/ending.ts';
import { decodeKey } from '../../../core/store/keys.ts';
import { recordFinding } from '../../../appliance/findings/findings.ts';
import { formatPem } from '../../../core/base/texts/pem.ts';
import { rule, rulePath, startPeople, type People } from '../../core/approvals/people.ts';
import { damageRecords, damageTable } from '../../harness/damage.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeCsr, makeKeys } from '../../plugins/ca/pki.ts';

const at = temporaryDirectory();
let people: People;

beforeAll(async () => {
  mkdirSync(at('share'));
  people = await startPeople(at('appliance'), {
    backup: {
      recipients: [await identityToRecipient(await generateX25519Identity())],
      schedule: { everySeconds: 3_600 },
      to: [{ kind: 'directory', directory: at('share'), keep: 0, keepMonthly: 0 }],
    },
  });
});
afterAll(() => people.appliance.close());

async function must(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await people.as('root', method, path, body);
  expect([path, answer.status, answer.status < 300 ? '' : answer.text]).toEqual([path, expect.toSatisfy((one: number) => one < 300), '']);
  return answer.body;
}

const runJob = (name: string) => people.appliance.jobs.find((job) => job.name === name)?.run(new AbortController().signal);

test('people log in by a role whose list of late logins does not open', async () => {
  await damageTable(people.appliance, 'recent-logins');
  await people.logIn('anna');
  expect((await people.as('anna', 'GET', '/v1/state/notices')).status).toBe(200);
});

test('the history of backups and the one that runs', async () => {
  const { store, clock } = people.appliance;
  await runJob('backups');
  await damageTable(people.appliance, 'backup-history');
  expect(await must('GET', '/v1/state/system/backup-status')).toMatchObject({ failures: 0, targets: 1 });
  await runJob('backups');
  clock.advance(3_601);
  await store.write((transaction) => transaction.put(store.table('backup-running'), ['running'], { id: 'x' }));
  await damageTable(people.appliance, 'backup-running');
  await runJob('backups');
  expect(await must('GET', '/v1/state/system/backup-status')).toMatchObject({
    'failures-in-a-row': 0,
    'last-success-at': expect.any(String),
  });
});

test('a CA revokes, and lists what it has revoked, under a later number', async () => {
  const [config, state] = ['/v1/config/keystore/tls/ca', '/v1/state/keystore/tls/ca/issuing'];
  await must('POST', config, { name: 'issuing' });
  const serials: string[] = [];
  for (const name of ['a', 'b']) {
    const csr = formatPem('CERTIFICATE REQUEST', await makeCsr({ keys: await makeKeys('P-256'), subject: `CN=${name}` }));
    const { serial } = await must('POST', `${state}/sign-csr`, { csr });
    serials.push(String(serial));
  }
  await must('POST', `${state}/revoke`, { serial: serials[0] });
  await runJob('est-housekeeping');
  await damageTable(people.appliance, 'est/crls');
  await runJob('est-housekeeping');
  await damageTable(people.appliance, 'est/crls');
  await must('POST', `${state}/revoke`, { serial: serials[1] });
  const { 'crl-url': url } = await must('GET', state);
  const { octets } = await people.appliance.request('GET', new URL(String(url)).pathname, undefined, { token: undefined });
  for (const serial of serials) expect(octets.toString('hex')).toContain(serial.toLowerCase());
});

test('a finding whose record does not open is one, is answered, and does not hide a later one', async () => {
  const { store, clock } = people.appliance;
  const found = '/v1/state/system/findings/audit-trail';
  const message = 'a line is missing';
  await recordFinding(store, clock, { name: 'audit-trail', message, isEvent: true });
  await damageTable(people.appliance, 'findings');
  expect(await must('GET', '/v1/state/system/health')).toMatchObject({ 'audit-trail': { state: 'unanswered' } });
  expect(await must('GET', found)).toMatchObject({ message: expect.stringContaining('does not open'), state: 'unanswered' });
  await recordFinding(store, clock, { name: 'audit-trail', message, isEvent: true });
  expect(await must('GET', found)).toMatchObject({ message: expect.stringMatching(/^a line is missing; .*does not open/) });
  await damageTable(people.appliance, 'findings');
  expect(await must('POST', `${found}/answer`, {})).toMatchObject({ state: 'answered' });
});

test('the book of requests for approval: a disabled token takes its approval with it, and others ask', async () => {
  await must('POST', '/v1/config/keystore/transit-keys', { name: 'payments', exportable: true });
  await must('POST', rulePath, rule('material'));
  const exporting = '/v1/state/keystore/transit-keys/payments/export';
  const first = await people.ask('asker', 'POST', exporting, {});
  const id = String(first.body.id);
  for (const name of ['anna', 'bert']) await people.approve(name, id);
  await damageTable(people.appliance, 'approval-books');
  expect((await people.as('cleo', 'GET', '/v1/state/notices')).status).toBe(200);
  const { body: token } = await people.as('bert', 'POST', '/v1/state/keystore/token/info', {});
  await must('POST', '/v1/state/keystore/token/disable', { accessor: token.accessor });
  const send = await people.as('asker', 'POST', exporting, {}, { approval: id });
  expect(send.body.code).toBe('approval-missing');
  await damageTable(people.appliance, 'approval-books');
  const again = await people.ask('asker', 'POST', exporting, {});
  expect([again.status, again.body.id]).toEqual([202, id]);
});

test('a request for approval: the ends of a person, a second request and a restore go past it, and nobody uses it', async () => {
  const exporting = '/v1/state/keystore/transit-keys/payments/export';
  const damage = (id: string) =>
    damageRecords(people.appliance, (texts) =>
      texts.filter((text) => decodeKey(text).table === 'approvals' && decodeKey(text).key.at(-1) === id),
    );
  const ask = async (version: number) => String((await people.ask('asker', 'POST', exporting, { version })).body.id);
  const use = async (version: number, id: string) =>
    (await people.as('asker', 'POST', exporting, { version }, { approval: id })).body.code as unknown;
  await must('POST', '/v1/state/keystore/transit-keys/payments/rotate');
  for (const name of ['anna', 'bert']) await people.logIn(name);
  const [broken, whole] = [await ask(1), await ask(2)];
  for (const id of [broken, whole]) for (const name of ['anna', 'bert']) expect((await people.approve(name, id)).status).toBe(200);
  await damage(broken);
  expect(await use(1, broken)).toBe('record-unreadable');
  const { body: token } = await people.as('bert', 'POST', '/v1/state/keystore/token/info', {});
  await must('POST', '/v1/state/keystore/token/disable', { accessor: token.accessor });
  expect((await people.as('bert', 'GET', '/v1/state/notices')).status).toBe(401);
  expect([await use(1, broken), await use(2, whole)]).toEqual(['approval-void', 'approval-missing']);
  const second = await ask(1);
  await damage(second);
  const third = await ask(1);
  expect([broken, second]).not.toContain(third);
  await damage(third);
  await voidApprovals(people.appliance.store, people.appliance.clock.now());
  expect([await use(1, third), await use(2, whole)]).toEqual(['approval-void', 'approval-void']);
});
