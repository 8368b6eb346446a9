// npm run soak: whether the time an answer takes tells what its words do not. Refusals of each kind in random turns, compared by Welch's
// t-test as dudect does; TIMING_ROUNDS chooses how many of each.
import { Agent, request } from 'node:https';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startVictim, type Victim } from '../attacks/victim.ts';
import { keepResult } from '../harness/drill-result.ts';

const rounds = Number(process.env['TIMING_ROUNDS'] ?? 3_000);
vi.setConfig({ testTimeout: 7_200_000 });

/** Beyond it dudect speaks of a leak; chance alone gets here once in 150,000 comparisons. */
const leak = 4.5;

type Kind = { readonly method: string; readonly path: string; readonly body?: object; readonly token: string | undefined };

let victim: Victim;
let agent: Agent;
let tenant: string;
let fenced: string;
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
const unknown = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  // With the limit on records of unauthenticated requests: whether one is written or counted must not show either.
  victim = await startVictim({ unauthenticatedLimit: {} });
  agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  tenant = await victim.makeTenant('neighbour', ['root']);
  fenced = await victim.makeToken(['rewrap-only']);
  await victim.request('POST', keys, { name: 'there' });
});
afterAll(() => agent.destroy());

/** As long as the right one and as like it as can be. */
const almost = (text: string): string => text.slice(0, -1) + (text.endsWith('0') ? '1' : '0');

function timeOf({ method, path, body, token }: Kind): Promise<{ readonly text: string; readonly milliseconds: number }> {
  const octets = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(octets === undefined ? {} : { 'content-type': 'application/json', 'content-length': octets.length }),
  };
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const sent = request(`${victim.url}${path}`, { method, headers, agent }, (response) => {
      const milliseconds = performance.now() - began;
      let text = `${String(response.statusCode)} `;
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ text: text.replace(/"request-id":"[^"]*"/, ''), milliseconds }));
    });
    sent.on('error', reject);
    sent.end(octets);
  });
}

/** Every kind as often, in a new random order each round; all answers must be one. Answers t of each against the first. */
async function compare(kinds: Readonly<Record<string, Kind>>): Promise<Readonly<Record<string, number>>> {
  const times = new Map<string, number[]>(Object.keys(kinds).map((name) => [name, []]));
  const answers = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    for (const name of shuffled(Object.keys(kinds))) {
      const { text, milliseconds } = await timeOf(kinds[name] as Kind);
      answers.add(text);
      // The first ones still compile.
      if (round >= rounds / 20) times.get(name)?.push(milliseconds);
    }
    victim.clock.advance(61);
  }
  expect([...answers]).toHaveLength(1);
  // What the machine did meanwhile is in the slowest tenth.
  const all = [...times.values()].flat().toSorted((a, b) => a - b);
  const longest = all[Math.floor(all.length * 0.9)] ?? Infinity;
  const [first = [], ...others] = [...times.values()].map((each) => each.filter((time) => time <= longest));
  const found = Object.fromEntries(others.map((each, index) => [Object.keys(kinds)[index + 1] ?? '', welch(first, each)]));
  console.log(`${rounds} rounds, mean ${mean(first).toFixed(3)} ms: ${JSON.stringify(found)}`);
  return found;
}

type Question = 'login' | 'token' | 'policy' | 'tenant';

/** Compares each set of kinds; keeps the largest t of all. */
async function expectNoLeak(question: Question, ...sets: readonly Readonly<Record<string, Kind>>[]): Promise<void> {
  const command = `TIMING_ROUNDS=${rounds} npm run soak -- soak/timing`;
  await keepResult({ name: `timing/${question}`, command }, async (figures) => {
    for (const kinds of sets) {
      const found = await compare(kinds);
      const largest = Math.max(figures['largest t'] ?? 0, ...Object.values(found).map(Math.abs));
      Object.assign(figures, { rounds, 'largest t': largest });
      expect(Object.entries(found).filter(([, t]) => Math.abs(t) > leak)).toEqual([]);
    }
  });
}

function shuffled(names: readonly string[]): readonly string[] {
  return names.map((name) => [Math.random(), name] as const).toSorted(([a], [b]) => a - b).map(([, name]) => name); // prettier-ignore
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function welch(one: readonly number[], other: readonly number[]): number {
  const [first, second] = [one, other].map((values) => ({ mean: mean(values), error: squaredError(values) })) as [Sample, Sample];
  return Number(((first.mean - second.mean) / Math.sqrt(first.error + second.error)).toFixed(2));
}

type Sample = { readonly mean: number; readonly error: number };

/** Variance of the mean. */
function squaredError(values: readonly number[]): number {
  const middle = mean(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1) / values.length;
}

test('a refused login: whether the role-id exists, whose the secret-id is, and how much of either is right', async () => {
  const approles = 'keystore/authentication/approles';
  await victim.request('POST', `/v1/config/${approles}`, { name: 'known', 'token-policies': ['user'] });
  const { 'role-id': roleId } = (await victim.request('GET', `/v1/state/${approles}/known`)).body as { 'role-id': string };
  const made = await victim.request('POST', `/v1/state/${approles}/known/generate-secret-id`, {});
  const secretId = String(made.body['secret-id']);
  const login = (role: string, secret: string): Kind => ({ method: 'POST', path: '/v1/approle-login', body: { 'role-id': role, 'secret-id': secret }, token: undefined }); // prettier-ignore
  await expectNoLeak('login', {
    'nothing right': login(unknown, unknown),
    'nothing right either': login(almost(unknown), unknown),
    'known role-id': login(roleId, unknown),
    'almost the secret-id': login(roleId, almost(secretId)),
    'almost the role-id': login(almost(roleId), secretId),
    'secret-id of another': login(unknown, secretId),
  });
});

test('a refused token: how much of it is right', async () => {
  const read = (token: string): Kind => ({ method: 'GET', path: '/v1/config/tenants', token });
  await expectNoLeak('token', {
    unknown: read(unknown),
    'unknown too': read(almost(unknown)),
    'almost right': read(almost(victim.rootToken)),
  });
});

test('refused by policy: whether the thing exists', async () => {
  const sets = [keys, actions].map((place) => {
    const read = (name: string): Kind => ({ method: 'GET', path: `${place}/${name}`, token: fenced });
    return { absent: read('these'), 'absent too': read('those'), there: read('there') };
  });
  await expectNoLeak('policy', ...sets);
});

test('another tenant: whether it has such a thing', async () => {
  const read = (name: string): Kind => ({ method: 'GET', path: `${keys}/${name}`, token: tenant });
  await expectNoLeak('tenant', { nowhere: read('these'), 'nowhere too': read('those'), elsewhere: read('there') });
});
