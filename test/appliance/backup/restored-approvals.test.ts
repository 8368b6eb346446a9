// Rules of approvals over a restore: a rule is what it was when the backup was made, nothing that was granted before counts, and the end of
// all credentials leaves approvers whose secret-ids were made for the time after it.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../../harness/client.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const [approles, state] = ['/v1/config/keystore/authentication/approles', '/v1/state/keystore/authentication/approles'];
const exporting = '/v1/state/keystore/transit-keys/k/export';
const rules = '/v1/config/approval/rules';
const passphrase = 'a passphrase of some length';
const daemons: Daemon[] = [];
const credentials: Record<string, object> = {};
const tokens: Record<string, string> = {};

type Said = Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
const latest = (): Daemon => daemons.at(-1) as Daemon;
const as = (who: string, method: string, at: string, body?: object, headers?: Record<string, string>): Said =>
  latest().exchange(method, at, body, who === 'root' ? latest().rootToken : tokens[who], headers);
const logIn = async (name: string): Promise<number> => {
  const { status, body } = await latest().exchange('POST', '/v1/approle-login', credentials[name], '');
  tokens[name] = String((body as { token?: unknown }).token);
  return status;
};
/** Asks for a request as somebody, and has it approved; answers the id. */
async function granted(who: string, method: string, at: string, body: object, by = 'anna'): Promise<string> {
  const asked = await as(who, method, at, body, { 'approval-reason': 'after%20the%20restore' });
  expect(asked.status, JSON.stringify(asked.body)).toBe(202);
  const one = `/v1/state/approvals/${String(asked.body['id'])}`;
  const { digest } = (await as(by, 'GET', one)).body;
  const { status, body: said } = await as(by, 'POST', `${one}/approve`, { digest });
  expect(status, JSON.stringify(said)).toBe(200);
  return String(asked.body['id']);
}
const run = async (who: string, at: string, body: object): Said =>
  as(who, 'POST', at, body, { approval: await granted(who, 'POST', at, body) });
const backUp = async (headers: Record<string, string> = {}): Promise<Buffer> => {
  const { url, caPem, rootToken: token } = latest();
  const { octets, status } = await ask(url, '/v1/state/system/backup', { method: 'POST', ca: caPem, token, body: { passphrase }, headers });
  expect(status).toBe(200);
  return octets;
};
async function restore(name: string, backup: Buffer): Promise<void> {
  writeFileSync(path(`${name}.age`), backup);
  const args = ['--restore', path(`${name}.age`), '--restore-passphrase-file', path('passphrase')];
  const { rootToken } = latest();
  await latest().stop();
  daemons.push(await startDaemon({ directory: path(name), args, rootToken }));
}

/** from before the rule, and from after it */
let [early, late]: (Buffer | undefined)[] = [];
let ids: { readonly open: string; readonly granted: string };

beforeAll(async () => {
  writeFileSync(path('passphrase'), `${passphrase}\n`);
  daemons.push(await startDaemon({ directory: path('before') }));
  for (const name of ['anna', 'bert']) {
    await as('root', 'POST', approles, { name, 'token-policies': ['root'] });
    const { body: made } = await as('root', 'POST', `${state}/${name}/generate-secret-id`, {});
    const { body: shown } = await as('root', 'GET', `${state}/${name}`);
    credentials[name] = { 'role-id': shown['role-id'], 'secret-id': made['secret-id'] };
    expect(await logIn(name)).toBe(200);
  }
  await as('root', 'POST', '/v1/config/keystore/transit-keys', { name: 'k', exportable: true });
  early = await backUp();
  const rule = { name: 'keys', acts: ['take-keys-out'], needed: 1, approvers: { approles: ['anna', 'bert'] } };
  expect(await as('root', 'POST', rules, rule)).toMatchObject({ status: 201 });
  const asked = await as('root', 'POST', exporting, { version: 1 }, { 'approval-reason': 'before%20the%20backup' });
  ids = { open: String(asked.body['id']), granted: await granted('root', 'POST', exporting, {}) };
  const approval = await granted('root', 'POST', '/v1/state/system/backup', { passphrase });
  late = await backUp({ approval });
  await restore('late', late);
}, 120_000);
afterAll(async () => {
  await latest().stop();
});

test('the rule of the time of the backup counts, and nothing that was asked for or granted before it', async () => {
  expect((await as('root', 'POST', exporting, {})).body['code']).toBe('approval-needed');
  for (const [id, body] of [
    [ids.granted, {}],
    [ids.open, { version: 1 }],
  ] as const) {
    expect((await as('root', 'GET', `/v1/state/approvals/${id}`)).body['state']).toBe('restored');
    expect(await as('root', 'POST', exporting, body, { approval: id })).toMatchObject({ status: 409, body: { code: 'approval-void' } });
  }
});

test('the end of all credentials needs approval, and ends the secret-ids of approvers but those that the token which asks has made', async () => {
  expect((await as('root', 'POST', '/v1/state/system/end-credentials', {})).body['code']).toBe('approval-needed');
  const { status, body } = await run('root', `${state}/anna/generate-secret-id`, {});
  expect(status).toBe(200);
  credentials['anna'] = { ...credentials['anna'], 'secret-id': body['secret-id'] };
  expect((await run('root', '/v1/state/system/end-credentials', {})).status).toBeLessThan(300);
  expect([await logIn('bert'), await logIn('anna')]).toEqual([401, 200]);
  expect((await run('root', `${state}/bert/generate-secret-id`, {})).status).toBe(200);
});

test('a backup from before the rule brings none, and the new trail says of when it is', async () => {
  await restore('early', early as Buffer);
  expect((await as('root', 'GET', rules)).body).toEqual([]);
  expect((await as('root', 'POST', exporting, {})).status).toBe(200);
  expect((await as('root', 'GET', '/v1/state/system/health')).body['restored']).toMatchObject({ state: 'unanswered' });
});
