// What was taken away is refused on the very next request, on open connections to every worker process.
import { Agent, request } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDaemon, type Daemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const workers = 3;
const probe = '/v1/state/keystore/crypto-functions/random-bytes';
const approles = 'keystore/authentication/approles';

let daemon: Daemon;
/** one open connection to each worker */
let lines: readonly Agent[];

type Answered = { readonly status: number; readonly code: unknown; readonly requestId: string };

beforeAll(async () => {
  daemon = await startDaemon({ directory: path('data'), workers });
  lines = await lineToEach();
});
afterAll(async () => {
  for (const line of lines) line.destroy();
  expect(await daemon.stop()).toBe(0);
});

function ask(agent: Agent, token: string): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': 2 };
    const sent = request(`${daemon.url}${probe}`, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        const { code } = JSON.parse(text) as { code?: unknown };
        resolve({ status: response.statusCode ?? 0, code, requestId: String(response.headers['request-id']) });
      });
    });
    sent.on('error', reject);
    sent.end('{}');
  });
}

/** The kernel spreads connections as it likes; the audit trail tells which worker has one. */
async function lineToEach(): Promise<readonly Agent[]> {
  const found = new Map<string, Agent>();
  while (found.size < workers) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: daemon.caPem });
    const { requestId } = await ask(agent, daemon.rootToken);
    const trail = String(await daemon.request('GET', '/v1/state/topics/system:audit-trail-log?limit=50'));
    const record = trail.split('\n').find((line) => line.includes(requestId)) ?? '{}';
    const { chain } = JSON.parse(record) as { chain?: string };
    if (chain === undefined || found.has(chain)) agent.destroy();
    else found.set(chain, agent);
  }
  return [...found.values()];
}

const post = async (where: string, body: object, token?: string) =>
  (await daemon.request('POST', where, body, token)) as Record<string, string>;

/** Every worker serves the token; then something is taken away; then none does, asked all at once by the first request after. */
async function expectEnds(token: string, takeAway: () => Promise<unknown>, refusal: string): Promise<void> {
  for (const { status } of await Promise.all(lines.map((line) => ask(line, token)))) expect(status).toBe(200);
  await takeAway();
  const answers = await Promise.all(lines.map((line) => ask(line, token)));
  expect(answers.map(({ status, code }) => `${status} ${String(code)}`)).toEqual(lines.map(() => refusal));
}

const create = '/v1/state/keystore/token/create';
const disable = '/v1/state/keystore/token/disable';

test('a disabled token, thirty times over', async () => {
  for (let round = 0; round < 30; round++) {
    const { token = '', accessor } = await post(create, { policies: ['user'] });
    await expectEnds(token, () => post(disable, { accessor }), '401 invalid-token');
  }
});

test('a child with its parent, and a grandchild', async () => {
  const parent = await post(create, { policies: ['root'] });
  const child = await post(create, {}, parent['token']);
  const { token = '' } = await post(create, {}, child['token']);
  await expectEnds(token, () => post(disable, { accessor: parent['accessor'] }), '401 invalid-token');
});

test('the tokens of an approle that is deleted, or that loses a policy', async () => {
  for (const [name, takeAway] of [
    ['deleted', () => daemon.request('DELETE', `/v1/config/${approles}/deleted`)],
    ['reduced', () => daemon.request('PUT', `/v1/config/${approles}/reduced`, { 'token-policies': [] })],
  ] as const) {
    await post(`/v1/config/${approles}`, { name, 'token-policies': ['user'] });
    const { 'role-id': roleId } = (await daemon.request('GET', `/v1/state/${approles}/${name}`)) as Record<string, string>;
    const { 'secret-id': secretId } = await post(`/v1/state/${approles}/${name}/generate-secret-id`, {});
    const { token = '' } = await post('/v1/approle-login', { 'role-id': roleId, 'secret-id': secretId });
    await expectEnds(token, takeAway, '401 invalid-token');
  }
});

test('a policy that is changed, and one that the tenant loses', async () => {
  const rule = (effect: string) => ({ 'rest-api': { rules: [{ path: probe, operations: { execute: effect } }] } });
  await post('/v1/config/policy/policies', { name: 'drawing', ...rule('allow') });
  const { token = '' } = await post(create, { policies: ['drawing'] });
  await expectEnds(token, () => daemon.request('PUT', '/v1/config/policy/policies/drawing', rule('reject')), '403 policy-denied');

  await post('/v1/config/tenants', { name: 'tenant', policies: ['root'] });
  const { token: ofTenant = '' } = await post('/v1/state/keystore/token/create-root', { name: 'tenant' });
  const takeAway = () => daemon.request('PUT', '/v1/config/tenants/tenant', { policies: ['rewrap-only'] });
  await expectEnds(ofTenant, takeAway, '403 policy-denied');
});
