// Ways around rules: by other rules, by paths, by the end of approvers, and by logins that an approver makes.
import { generateKeyPairSync, hash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { jwks, makeSigner, makeToken, platformClaims } from '../../plugins/jwt/tokens.ts';
import { type People, rule, rulePath, startPeople } from './people.ts';

const at = temporaryDirectory();
let people: People;
const list = '/v1/config/keystore/transit-keys';
const approles = 'keystore/authentication/approles';
const codeOf = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${String(body?.code)}`);

beforeAll(async () => {
  people = await startPeople(at());
  await people.as('root', 'POST', list, { name: 'prod', exportable: true });
});
afterAll(() => people.appliance.close());
afterEach(async () => expect(await people.appliance.check()).toEqual([]));

/** Sends a request that these people have approved. */
async function sendApproved(asker: string, by: readonly string[], method: string, path: string, body?: object): Promise<Answer> {
  const asked = await people.ask(asker, method, path, body);
  expect(codeOf(asked), JSON.stringify(asked.body)).toBe('202');
  const id = String(asked.body.id);
  for (const name of by) await people.approve(name, id);
  return people.as(asker, method, path, body, { approval: id });
}

const make = (name: string, fields: object, by: readonly string[] = []): Promise<Answer> =>
  by.length === 0
    ? people.as('root', 'POST', rulePath, rule(name, { ...fields }))
    : sendApproved('root', by, 'POST', rulePath, rule(name, { ...fields }));

test('a rule about the path of a key is about all that is done with the key', async () => {
  expect(codeOf(await make('one-key', { needed: 1, paths: [`${list}/prod`] }))).toBe('201');
  for (const action of ['export', 'backup'])
    expect(codeOf(await people.as('asker', 'POST', `/v1/state/keystore/transit-keys/prod/${action}`, {}))).toBe('403 approval-needed');
  expect(codeOf(await people.as('asker', 'POST', list, { name: 'product', exportable: true }))).toBe('201');
});

test('approvers see in which form material leaves, under which key, and a digest of what comes', async () => {
  const parametersOf = async (action: string, body: object): Promise<object> => {
    const asked = await people.ask('asker', 'POST', `/v1/state/keystore/transit-keys/prod/${action}`, body);
    expect(codeOf(asked), JSON.stringify(asked.body)).toBe('202');
    const id = String(asked.body.id);
    const { body: shown } = await people.as('anna', 'GET', `/v1/state/approvals/${id}`);
    await people.as('asker', 'POST', `/v1/state/approvals/${id}/withdraw`);
    return shown.parameters as object;
  };
  expect(await parametersOf('export', {})).toEqual({ version: 'all', format: 'clear', material: 'in clear' });
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 3_072 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  const sha256 = hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'hex');
  const wrapped = { format: 'wrapped', 'wrapping-key': pem, version: 1 };
  const form = { version: 1, format: 'wrapped', material: 'wrapped' };
  expect(await parametersOf('export', wrapped)).toEqual({ ...form, 'wrapping-key': { pem, sha256 } });
  const data = 'A'.repeat(43) + '=';
  expect(await parametersOf('import', { data })).toEqual({ data: { bytes: 44 }, sha256: hash('sha256', data, 'hex') });
  const broken = await people.ask('asker', 'POST', '/v1/state/keystore/transit-keys/prod/export', { ...wrapped, 'wrapping-key': 'x' });
  expect(codeOf(broken)).toBe('400 invalid-key-data');
});

test('a further rule takes changes of trust from no people: those of every rule approve', async () => {
  const others = { acts: ['stop'], needed: 2, approvers: { approles: ['other', 'asker'] }, force: true };
  expect(codeOf(await make('a-harmless-one', others, ['anna']))).toBe('201');
  const removal = await sendApproved('root', ['other', 'asker'], 'DELETE', `${rulePath}/one-key`);
  expect(codeOf(removal)).toBe('409 approval-missing');
  const policy = await sendApproved('root', ['other', 'asker'], 'POST', '/v1/config/policy/policies', { name: 'mine' });
  expect(codeOf(policy)).toBe('409 approval-missing');
  expect(codeOf(await sendApproved('root', ['other', 'asker', 'bert'], 'DELETE', `${rulePath}/a-harmless-one`))).toBe('204');
});

test('nobody makes the own requester: who made the secret-id of the one who asks does not approve', async () => {
  const exporting = '/v1/state/keystore/transit-keys/prod/export';
  expect(codeOf(await make('out', { needed: 1, acts: ['take-keys-out'], paths: [] }, ['anna']))).toBe('201');
  const ghost = async (maker: string, name: string): Promise<void> => {
    expect(codeOf(await people.as(maker, 'POST', `/v1/config/${approles}`, { name, 'token-policies': ['root'] }))).toBe('201');
    await people.renew(name, maker);
  };
  await ghost('anna', 'ghost');
  expect(codeOf(await sendApproved('ghost', ['anna'], 'POST', exporting, {}))).toBe('409 approval-missing');
  await ghost('ghost', 'ghost-of-ghost');
  const asked = await people.ask('ghost-of-ghost', 'POST', exporting, {});
  expect(codeOf(await people.approve('anna', String(asked.body.id)))).toBe('403 approval-refused');
  expect(codeOf(await sendApproved('ghost', ['bert'], 'POST', exporting, {}))).toBe('200');
  // Asked for with a secret-id of another maker, and sent with one of the approver.
  await people.renew('ghost', 'root');
  const again = await people.ask('ghost', 'POST', exporting, { version: 1 });
  expect(codeOf(await people.approve('anna', String(again.body.id)))).toBe('200');
  await people.renew('ghost', 'anna');
  const sent = await people.as('ghost', 'POST', exporting, { version: 1 }, { approval: String(again.body.id) });
  expect(codeOf(sent)).toBe('409 approval-missing');
  expect(codeOf(await sendApproved('root', ['anna'], 'DELETE', `${rulePath}/out`))).toBe('204');
});

test('two approvers of whom one made the secret-id of the other are one', async () => {
  await people.renew('cleo', 'bert', ['anna']);
  await people.as('root', 'POST', list, { name: 'second', exportable: true });
  expect(codeOf(await make('two', { needed: 2, acts: ['take-keys-out'] }, ['anna']))).toBe('201');
  const exporting = '/v1/state/keystore/transit-keys/second/export';
  expect(codeOf(await sendApproved('asker', ['bert', 'cleo'], 'POST', exporting, {}))).toBe('409 approval-missing');
  expect(codeOf(await sendApproved('bert', ['anna', 'cleo'], 'POST', exporting, {}))).toBe('409 approval-missing');
  expect(codeOf(await sendApproved('asker', ['cleo', 'anna'], 'POST', exporting, { version: 1 }))).toBe('200');
  expect(codeOf(await sendApproved('root', ['anna', 'bert'], 'DELETE', `${rulePath}/two`))).toBe('204');
});

test('a workload of another issuer with the same iss does not use what was approved for the first', async () => {
  const iss = 'https://kubernetes.default.svc.cluster.local';
  const sub = 'system:serviceaccount:payments:app';
  const issuers = '/v1/config/keystore/authentication/jwt';
  const exporting = '/v1/state/keystore/transit-keys/prod/export';
  const approvers = ['anna', 'bert'];
  const tokens: string[] = [];
  const { appliance } = people;
  const change = async (path: string, body: object): Promise<void> => {
    const { body: asked } = await people.ask('root', 'POST', path, body);
    for (const name of approvers) await people.approve(name, String(asked.id));
    expect(codeOf(await people.as('root', 'POST', path, body, asked.id === undefined ? {} : { approval: String(asked.id) }))).toBe('201');
  };
  for (const name of ['first', 'second']) {
    const signer = makeSigner();
    await change(issuers, { name, kind: 'kubernetes', issuer: iss, 'static-keys': jwks(signer) });
    const bindings = [{ claim: 'sub', value: sub }];
    await change(`${issuers}/${name}/roles`, { name: 'app', audience: 'keystore', bindings, 'token-policies': ['root'] });
    const now = Math.floor(appliance.clock.now().epochMilliseconds / 1_000);
    const jwt = makeToken(signer, { ...platformClaims.kubernetes(now), iss, sub });
    const body = { tenant: 'system', role: 'app', issuer: name, jwt };
    tokens.push(String((await appliance.request('POST', '/v1/jwt-login', body, { token: undefined })).body.token));
  }
  const [first, second] = tokens;
  const send = (token: string | undefined, headers: Record<string, string>) => appliance.request('POST', exporting, {}, { token, headers });
  const { body: asked } = await send(first, { 'approval-reason': 'new-partner-bank' });
  for (const name of approvers) await people.approve(name, String(asked.id));
  const approval = { approval: String(asked.id) };
  expect(codeOf(await send(second, approval))).toBe('409 approval-void');
  expect(codeOf(await send(first, approval))).toBe('200');
});

test('approvers do not go one after the other until too few are left', async () => {
  const gone = (name: string): Promise<Answer> => sendApproved('root', ['bert', 'cleo'], 'DELETE', `/v1/config/${approles}/${name}`);
  expect(codeOf(await gone('anna'))).toBe('204');
  expect(codeOf(await gone('bert'))).toBe('204');
  await people.logIn('cleo');
  expect(codeOf(await gone('cleo'))).toBe('409 last-approver');
});
