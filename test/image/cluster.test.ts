// npm test -- image cluster: three systems of the image become one cluster, with a token in each: one founds it, one joins with its settings
// medium, one that serves already joins by a request. A machine that is gone, a revocation, the shared address, removals down to one. In containers,
// because three emulated machines are too slow for what a cluster waits for: a quarter of an hour.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Spaces } from '../cluster/storm/network/spaces.ts';
import { findUnverified } from '../harness/kills/whole-check.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { provideImage } from './build.ts';
import { Container } from './container.ts';

const path = temporaryDirectory();
const names = ['a', 'b', 'c'] as const;
type Name = (typeof names)[number];
const plant = (name: Name): string => `plant-${name}`;
const addressOf = (name: Name): string => spaces.address(names.indexOf(name));

const [keys, state, tokens] = ['/v1/config/keystore/transit-keys', '/v1/state/system/cluster', '/v1/state/keystore/token'];
const of = (key: string, action: string): string => `/v1/state/keystore/transit-keys/${key}/${action}`;
const plaintext = 'aGVsbG8=';
const repository = resolve(import.meta.dirname, '../..');
/** What a very busy machine is given for one step. */
const patienceMs = 900_000;
const startedMs = performance.now();

let image = '';
let spaces: Spaces;
let shared = '';
let rootToken = '';
const machines = {} as Record<Name, Container>;
/** by the key that encrypted it */
const ciphertexts = new Map<string, string>();

beforeAll(() => {
  image = provideImage(path('image'));
  spaces = new Spaces(names.length);
  shared = spaces.address(0).replace(/\d+$/, '100');
});

afterAll(async () => {
  await Container.endAll();
  spaces.remove();
});

test('the first machine, which has a key already, founds a cluster with the etcd of the image', async () => {
  start('a');
  await untilServing('a');
  const session = await asked('a', 'POST', '/v1/approle-login', credentialOf('a'), '');
  const root = await asked('a', 'POST', `${tokens}/create-root`, { name: 'system' }, String(session['token']));
  rootToken = String(root['token']);
  await makeAndUse('key-a', 'a');
  expect(await asked('a', 'POST', `${state}/init`)).toEqual({ name: 'plant-a' });
  await untilIn('a', ['a']);
  await opensAll('a');
  told('plant-a serves as the first member');
});

test('the second joins with the invitation on its settings medium, and each decrypts what the other has encrypted', async () => {
  start('b', await invitation('b'));
  await untilServing('b');
  await untilIn('b', ['a', 'b']);
  await makeAndUse('key-b', 'b');
  expect([...ciphertexts.keys()]).toEqual(['key-a', 'key-b']);
  await opensAll('a', 'b');
  told('plant-b has joined with its medium');
});

test('the third, new and unclaimed, joins by a request with the credential of its screen', async () => {
  start('c');
  await untilServing('c');
  const { token } = await asked('c', 'POST', '/v1/approle-login', credentialOf('c'), '');
  const line = (await asked('a', 'POST', `${state}/invite`))['invitation'];
  const joined = await until('plant-c is let in', async () => {
    const answer = await machines.c.exchange('POST', `${state}/join`, { invitation: line }, String(token));
    // 409: the keys are still being wrapped again for its token. 503: etcd did not answer in time.
    if (answer.status === 503 || answer.body.code === 'conflict') return undefined;
    return answer;
  });
  expect(joined).toMatchObject({ status: 200, body: { name: 'plant-c', 'invited-by': `https://${addressOf('a')}:4646` } });
  await untilIn('c', ['a', 'b', 'c']);
  await makeAndUse('key-c', 'c');
  await opensAll('a', 'b', 'c');
  await until('every token says that it has the key', () => isEverywhere('key-c'));
  told('plant-c has joined by a request');
});

test('a token that one has revoked the others refuse as soon as the first has answered', async () => {
  const { token, accessor } = await asked('a', 'POST', `${tokens}/create`, { policies: ['default'], ttl: '1d' });
  expect(await Promise.all(names.map((name) => infoOf(name, token)))).toEqual([200, 200, 200]);
  await asked('a', 'POST', `${tokens}/disable`, { accessor });
  expect(await Promise.all(names.map((name) => infoOf(name, token)))).toEqual([401, 401, 401]);
});

test('one of them has the shared address; when its machine is gone, the others go on, and one of them has it', async () => {
  const holder = await until('one has the shared address', onlyHolder);
  const [first, second] = names.filter((name) => name !== holder) as [Name, Name];
  const goneMs = performance.now();
  const since = (): string => `${Math.round(performance.now() - goneMs)} ms after that`;
  await machines[holder].kill();
  told(`${plant(holder)} had the shared address, and is gone`);
  await makeAndUse('key-away', first);
  told(`a key was made ${since()}`);
  const next = await until('another one has the shared address', onlyHolder);
  expect(next).not.toBe(holder);
  told(`${plant(next)} has the shared address ${since()}`);
  await opensAll(second);

  const { token, accessor } = await asked(first, 'POST', `${tokens}/create`, { policies: ['default'], ttl: '1d' });
  await asked(second, 'POST', `${tokens}/disable`, { accessor });
  start(holder);
  await untilServing(holder);
  await untilIn(holder, names);
  await opensAll(holder);
  expect(await infoOf(holder, token)).toBe(401);
  told(`${plant(holder)} is back with everything that happened meanwhile`);
});

test('one that is removed for ever says why it refuses; the wrapping key that its token has is rotated, and the others go on', async () => {
  await remove('b', ['a', 'c']);
  await until('plant-b refuses', async () => (await machines.b.exchange('GET', keys, undefined, rootToken)).status === 503 || undefined);
  await machines.b.powerOff();
  start('b');
  await until(
    'plant-b says why',
    async () => machines.b.inMemory('keystored/refusal').includes('permanently removed from its cluster') || undefined,
  );
  expect(unitsFailedIn('b')).toBe('');
  await machines.b.powerOff();
});

test('the last but one is removed as well, and the first goes on alone', async () => {
  expect(unitsFailedIn('c')).toBe('');
  await remove('c', ['a']);
  await machines.c.powerOff();
  await makeAndUse('key-alone', 'a');
  await opensAll('a');
  expect(unitsFailedIn('a')).toBe('');
  await machines.a.powerOff();
});

test('systemd has ended no daemon for want of a heartbeat', () => {
  for (const name of names) {
    const journal = machines[name].journal();
    expect(journal).toContain('Started keystored.service');
    expect(journal.split('\n').filter((line) => /Watchdog timeout|dumped core/.test(line))).toEqual([]);
  }
});

test('the audit trails of all verify together, and the first, recovered to stand alone, holds every invariant', async () => {
  const copy = (name: Name): string => path(`copy-${name}`);
  for (const name of names) cpSync(machines[name].data, copy(name), { recursive: true, preserveTimestamps: true });
  expect(await findUnverified(names.map((name) => join(copy(name), 'audit')))).toEqual([]);
  const configuration = path('recovered.yaml');
  const cluster = { name: plant('a'), member: { address: addressOf('a') } };
  writeFileSync(configuration, JSON.stringify({ data: copy('a'), cluster }));
  const recovery = node('appliance/keystored.ts', 'recover-cluster', '--config', configuration, '--yes');
  expect(recovery).toMatchObject({ status: 0, text: expect.stringContaining('It stands alone now') });
  expect(node('appliance/check.ts', '--data', copy('a')).text.trim()).toBe('every invariant holds');
});

/** Switches a machine on: the first time with a settings medium, which is taken out afterwards. */
function start(name: Name, invitationFile?: string): void {
  const directory = path(name);
  const cluster = {
    ...{ name: plant(name), address: addressOf(name) },
    'shared-address': { address: `${shared}/24`, peers: names.map(addressOf) },
    ...(invitationFile === undefined ? {} : { invitation: basename(invitationFile) }),
  };
  const settings = {
    hostname: plant(name),
    interfaces: [{ name: 'eth0', addresses: [`${addressOf(name)}/24`] }],
    hosts: [addressOf(name), shared],
    allow: { cluster: [`${shared.replace(/\d+$/, '0')}/24`] },
    cluster,
  };
  const files = invitationFile === undefined ? [] : [invitationFile];
  const isFirst = machines[name] === undefined;
  mkdirSync(directory, { recursive: true });
  machines[name] = Container.start({ directory, image, spaces, place: names.indexOf(name), ...(isFirst ? { settings, files } : {}) });
}

/** The file of an invitation by the first machine. */
async function invitation(name: Name): Promise<string> {
  const file = path(`invitation-${name}`);
  writeFileSync(file, `${String((await asked('a', 'POST', `${state}/invite`))['invitation'])}\n`);
  return file;
}

/** What its screen shows for one login, as it is sent. */
function credentialOf(name: Name): object {
  const { expires: _, ...credential } = JSON.parse(machines[name].inMemory('keystored/bootstrap')) as { readonly expires: string };
  return credential;
}

async function untilServing(name: Name): Promise<void> {
  const health = '/v1/state/system/health';
  await until(`${plant(name)} serves`, async () => (await machines[name].exchange('GET', health)).status === 200 || undefined);
}

/** What has to succeed; comes again while its processes are replaced or etcd elects. Only for what may be asked twice. */
function asked(name: Name, method: string, where: string, body?: unknown, token = rootToken): Promise<Readonly<Record<string, unknown>>> {
  return until(`${plant(name)} answers ${method} ${where}`, async () => {
    const answer = await machines[name].exchange(method, where, body, token);
    if (answer.status === 503) return undefined;
    if (answer.status >= 400) throw new Refused(`${plant(name)}: ${method} ${where}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as Record<string, unknown>;
  });
}

class Refused extends Error {}

/** A broken connection is no answer. */
async function until<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
  for (const deadlineMs = performance.now() + patienceMs; performance.now() < deadlineMs; await setTimeout(1_000)) {
    const found = await find().catch((error: unknown) => {
      if (error instanceof Refused) throw error;
    });
    if (found !== undefined) return found;
  }
  throw new Error(`waited in vain until ${what}`);
}

type Seen = { readonly shape: string; readonly members: readonly { readonly name: string; readonly state: string }[] };

/** Until it serves as a member, and sees exactly these in the cluster. */
async function untilIn(name: Name, present: readonly Name[]): Promise<void> {
  const wanted = present.map((one) => `${plant(one)} in`).join();
  await until(`${plant(name)} sees ${wanted}`, async () => {
    const { status, body } = await machines[name].exchange('GET', state, undefined, rootToken);
    if (status !== 200) return undefined;
    const { shape, members } = body as Seen;
    return (shape === 'cluster' && members.map((one) => `${one.name} ${one.state}`).join() === wanted) || undefined;
  });
}

async function makeAndUse(key: string, at: Name): Promise<void> {
  await until(`${plant(at)} makes ${key}`, async () => {
    const { status, body } = await machines[at].exchange('POST', keys, { name: key }, rootToken);
    // 409: it was made by the request before, whose answer was lost.
    if (status === 201 || status === 409) return true;
    if (status !== 503) throw new Refused(`${key}: ${status} ${JSON.stringify(body)}`);
    return undefined;
  });
  const { ciphertext } = await asked(at, 'POST', of(key, 'encrypt'), { plaintext });
  ciphertexts.set(key, String(ciphertext));
}

/** Everything that any of them has encrypted, at each of these. */
async function opensAll(...at: readonly Name[]): Promise<void> {
  for (const name of at)
    for (const [key, ciphertext] of ciphertexts)
      expect(await asked(name, 'POST', of(key, 'decrypt'), { ciphertext }), `${key} at ${name}`).toMatchObject({ plaintext });
}

async function isEverywhere(key: string): Promise<true | undefined> {
  return (await asked('a', 'GET', of(key, 'distribution')))['complete'] === true || undefined;
}

/** How a token is answered that is valid, or not: 503 is neither. */
async function infoOf(name: Name, token: unknown): Promise<number> {
  return until(`${plant(name)} says whether a token is valid`, async () => {
    const { status } = await machines[name].exchange('POST', `${tokens}/info`, {}, String(token));
    return status === 503 ? undefined : status;
  });
}

/** The only one that has the shared address; undefined while none has it, or two. */
async function onlyHolder(): Promise<Name | undefined> {
  const [holder, ...more] = names.filter((name) => machines[name].has(shared));
  return more.length === 0 ? holder : undefined;
}

function unitsFailedIn(name: Name): string {
  return machines[name].inside('systemctl', 'list-units', '--failed', '--plain', '--no-legend').trim();
}

type Wrapping = { readonly number: number; readonly state: string };

async function wrappingKey(at: Name): Promise<Wrapping> {
  const { tokens: shown } = (await asked(at, 'GET', '/v1/state/system/hsm')) as { tokens: { 'wrapping-key': Wrapping }[] };
  return shown[0]?.['wrapping-key'] as Wrapping;
}

/** Removes one that is alive, by the first, and waits until the others have the next wrapping key alone. */
async function remove(name: Name, others: readonly Name[]): Promise<void> {
  const { number } = await wrappingKey('a');
  const removal = { member: plant(name), 'even-if-alive': true };
  const answer = await asked('a', 'POST', `${state}/remove-member`, removal);
  expect(answer).toMatchObject({ name: plant(name) });
  await until('every member has confirmed', async () => {
    const { unconfirmed } = await asked('a', 'POST', `${state}/remove-member`, removal);
    return (unconfirmed as string[]).length === 0 || undefined;
  });
  for (const one of others) await untilIn(one, others);
  for (const one of others)
    await until(`the token of ${plant(one)} has the next wrapping key`, async () => {
      const seen = await wrappingKey(one);
      return (seen.number > number && seen.state === 'in-use') || undefined;
    });
  await makeAndUse(`key-without-${name}`, others.at(-1) ?? 'a');
  await opensAll(...others);
  told(`${plant(name)} is removed, first answer: ${JSON.stringify(answer)}`);
}

function node(...words: readonly string[]): { readonly status: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: repository, encoding: 'utf8' });
  return { status, text: `${stdout}${stderr}` };
}

function told(what: string): void {
  console.log(`${Math.round((performance.now() - startedMs) / 1_000)} s: ${what}`);
}
