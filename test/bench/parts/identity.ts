// What identities cost: each way of logging in beside an approle's, and encryption with a token that is bound to a certificate, and in a tenant with
// approval rules, each beside the same without it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import type { Parts } from '../../../appliance/docs/performance/figures.ts';
import { freePort } from '../../harness/daemon.ts';
import { makeCsr, makeKeys } from '../../plugins/ca/pki.ts';
import { jwks, makeSigner, makeToken } from '../../plugins/jwt/tokens.ts';
import { allWorkers, type Part, payload } from '../measure/bench.ts';
import { formatRatio } from '../measure/formats.ts';
import { processorMicros } from '../measure/processes.ts';
import { formatTable, inRounds, median, medianOf } from '../measure/rounds.ts';
import { type Appliance, startAppliance } from '../neighbours/appliance.ts';

/** One credential logs in 600 times a minute in a worker: all turns of a way stay below that. */
const loginsInTurn = 100;
const usesInTurn = 1_500;
const callers = 8;

type Row = Parts['identity']['rows'][number];
type Way = { readonly operation: Row['operation']; readonly times: number; readonly send: () => Promise<number> };
type Turn = { readonly micros: number; readonly p50Ms: number };

export const identity: Part<'identity'> = {
  measures: 'logins by token and certificate beside those of approles; encryption with bound tokens, and beside approval rules',
  seconds: ({ rounds }) => 20 + Math.min(rounds, 4) * 12,
  async run({ directory, rounds }) {
    mkdirSync(directory, { recursive: true });
    const file = join(directory, 'keystored.yaml');
    writeFileSync(file, 'vault:\n  tenants:\n    system: {}\n');
    const certificatePort = await freePort();
    const args = ['--config', file, '--certificate-listen', `127.0.0.1:${certificatePort}`];
    const appliance = await startAppliance({ directory: join(directory, 'data'), workers: allWorkers, args });
    const rows: Row[] = [];
    try {
      const { logins, uses, close } = await waysOf(appliance, certificatePort);
      try {
        // The warm-up is a turn too.
        for (const ways of [logins, ...uses]) rows.push(...(await compare(appliance, ways, Math.min(rounds, 4))));
      } finally {
        close();
      }
    } finally {
      await appliance.stop();
    }
    return { rows };
  },
  format: ({ rows }) =>
    formatTable(
      ['operation', 'p50 ms', 'µs', 'time of the first to this one'],
      rows.map(({ operation, p50Ms, micros, timeToFirst }) => [operation, p50Ms.toFixed(2), micros.toFixed(1), formatRatio(timeToFirst)]),
    ),
};

/** Every way in turn, in each round in another order. */
async function compare({ processes }: Appliance, ways: readonly Way[], rounds: number): Promise<readonly Row[]> {
  const pids = [...processes.service, ...processes.token];
  const found = await inRounds(rounds, async (round) => {
    const turns = new Map<string, Turn>();
    const shift = round % ways.length;
    for (const way of [...ways.slice(shift), ...ways.slice(0, shift)]) turns.set(way.operation, await turnOf(way, pids));
    return turns;
  });
  const turn = (turns: ReadonlyMap<string, Turn>, { operation }: Way): Turn => turns.get(operation) as Turn;
  const [first] = ways as readonly [Way];
  return ways.map((way) => ({
    operation: way.operation,
    micros: medianOf(found, (turns) => turn(turns, way).micros),
    p50Ms: medianOf(found, (turns) => turn(turns, way).p50Ms),
    timeToFirst: medianOf(found, (turns) => turn(turns, first).micros / turn(turns, way).micros),
  }));
}

async function turnOf({ times, send }: Way, pids: readonly number[]): Promise<Turn> {
  const latencies: number[] = [];
  const before = processorMicros(pids);
  let left = times;
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const begun = performance.now();
      const status = await send();
      if (status !== 200) throw new Error(`a request was answered ${status}`);
      latencies.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { micros: (processorMicros(pids) - before) / times, p50Ms: median(latencies) };
}

type Ways = { readonly logins: readonly Way[]; readonly uses: readonly (readonly Way[])[]; readonly close: () => void };

/** Makes roles and tokens. All requests go over connections that stay, to the listener for certificates where one is shown or compared. */
async function waysOf({ daemon, login: approle }: Appliance, port: number): Promise<Ways> {
  const client = await makeClient(daemon);
  const plain = new Agent({ keepAlive: true, ca: daemon.caPem });
  const shown = new Agent({ keepAlive: true, ca: daemon.caPem, ...client });
  const byCertificate = `https://127.0.0.1:${port}`;
  const post =
    (agent: Agent, url: string, body: string, token?: string): Way['send'] =>
    () =>
      sent(agent, url, body, token);
  const credentials = JSON.parse(approle.body) as Readonly<Record<string, string>>;
  const jwt = await makeJwt(daemon);
  const certificateLogin = JSON.stringify({ tenant: 'system', role: 'bench' });
  const throughVault = JSON.stringify({ role_id: credentials['role-id'], secret_id: credentials['secret-id'] });
  const way = (operation: Row['operation'], times: number, send: Way['send']): Way => ({ operation, times, send });

  const encrypt = '/v1/state/keystore/transit-keys/aes/encrypt';
  const body = JSON.stringify({ plaintext: payload });
  const bound = (await answered(shown, `${byCertificate}/v1/certificate-login`, certificateLogin)) as { readonly token: string };
  const { token: unbound } = (await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['bench'], ttl: '1h' })) as {
    token: string;
  };
  const ruled = await makeTenant(daemon, 'ruled', true);
  const free = await makeTenant(daemon, 'free', false);
  return {
    logins: [
      way('approle-login', loginsInTurn, post(plain, `${daemon.url}/v1/approle-login`, approle.body)),
      way("approle login through Vault's API", loginsInTurn, post(plain, `${daemon.url}/v1/auth/approle/login`, throughVault)),
      way('jwt-login (ES256)', loginsInTurn, post(plain, `${daemon.url}/v1/jwt-login`, jwt)),
      way('certificate-login', loginsInTurn, post(shown, `${byCertificate}/v1/certificate-login`, certificateLogin)),
    ],
    uses: [
      [
        way('encrypt, unbound token', usesInTurn, post(shown, `${byCertificate}${encrypt}`, body, unbound)),
        way('encrypt, bound token', usesInTurn, post(shown, `${byCertificate}${encrypt}`, body, bound.token)),
      ],
      [
        way('encrypt, tenant without approval rules', usesInTurn, post(plain, `${daemon.url}${encrypt}`, body, free)),
        way('encrypt, tenant with approval rules', usesInTurn, post(plain, `${daemon.url}${encrypt}`, body, ruled)),
      ],
    ],
    close: () => [plain, shown].forEach((agent) => agent.destroy()),
  };
}

type Daemon = Appliance['daemon'];

async function makeJwt(daemon: Daemon): Promise<string> {
  const signer = makeSigner();
  const base = '/v1/config/keystore/authentication/jwt';
  await daemon.request('POST', base, { name: 'bench', kind: 'generic', issuer: 'https://issuer.test', 'static-keys': jwks(signer) });
  const bindings = [{ claim: 'sub', value: 'bench' }];
  await daemon.request('POST', `${base}/bench/roles`, {
    name: 'bench',
    audience: 'bench',
    bindings,
    use: 'many',
    'token-policies': ['bench'],
  });
  const now = Math.floor(Temporal.Now.instant().epochMilliseconds / 1_000);
  const claims = { iss: 'https://issuer.test', aud: 'bench', sub: 'bench', iat: now, exp: now + 3_000 };
  return JSON.stringify({ tenant: 'system', role: 'bench', jwt: makeToken(signer, claims) });
}

async function makeClient(daemon: Daemon): Promise<{ readonly key: string; readonly cert: string }> {
  await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: 'bench' });
  const keys = await makeKeys('P-256');
  const csr = (await makeCsr({ keys, subject: 'CN=bench' })).toString('base64');
  const { certificate } = (await daemon.request('POST', '/v1/state/keystore/tls/ca/bench/sign-csr', { csr })) as { certificate: string };
  const role = { name: 'bench', 'trust-ca': 'bench', 'name-from': 'cn', names: ['bench'], 'token-policies': ['bench'] };
  await daemon.request('POST', '/v1/config/keystore/authentication/certificate/roles', role);
  return { key: keys.pem, cert: certificate };
}

/** A tenant with the key of the bench, and with rules of approvals about exports or without; answers a token of it. */
async function makeTenant(daemon: Daemon, name: string, hasRules: boolean): Promise<string> {
  await daemon.request('POST', '/v1/config/tenants', { name });
  const { token } = (await daemon.request('POST', '/v1/state/keystore/token/create-root', { name })) as { token: string };
  await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'aes' }, token);
  if (!hasRules) return token;
  const approles = ['anna', 'bert'];
  for (const approle of approles)
    await daemon.request('POST', '/v1/config/keystore/authentication/approles', { name: approle, 'token-policies': ['root'] }, token);
  await daemon.request(
    'POST',
    '/v1/config/approval/rules',
    { name: 'exports', acts: ['take-keys-out'], needed: 2, approvers: { approles }, force: true },
    token,
  );
  return token;
}

function sent(agent: Agent, url: string, body: string, token?: string): Promise<number> {
  return exchange(agent, url, body, token).then(({ status }) => status);
}

async function answered(agent: Agent, url: string, body: string): Promise<unknown> {
  const { status, text } = await exchange(agent, url, body);
  if (status !== 200) throw new Error(`${url}: ${status} ${text}`);
  return JSON.parse(text);
}

function exchange(agent: Agent, url: string, body: string, token?: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const asked = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asked.once('error', reject).end(body);
  });
}
