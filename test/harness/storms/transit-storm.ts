// A storm of changes to transit keys on the real daemon, cut by kill -9 at random moments; after each cut the acknowledged is looked for.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { softhsmModule } from '../token/softhsm.ts';
import { keyObjectLabels } from '../token/token-objects.ts';
import { type Daemon, startDaemon } from '../daemon.ts';

/** What a storm came to. `changes` were acknowledged, `cut` were under way at a kill, of those `done` had happened all the same. */
export type StormReport = {
  kills: number;
  readonly changes: Record<string, number>;
  cut: number;
  done: number;
  /** most objects found in the token that no key held yet, just after a start */
  leftByKills: number;
};

/** A key as its acknowledged changes made it. Proofs: a value that a version made, which it must open or verify for ever. */
type Model = { readonly latest: number; readonly floor: number; readonly proofs: ReadonlyMap<number, string> };
type Key = {
  readonly name: string;
  readonly cipher: string;
  readonly custody: string;
  /** undefined: it does not exist */
  model: Model | undefined;
  /** the change that was sent and not answered */
  doubt?: { readonly next: Model | undefined } | undefined;
};

const config = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';
const payload = Buffer.from('a value of the storm').toString('base64');
const lanes = 6;
const keysPerLane = 4;
const sorts = [
  { cipher: 'aes256-gcm96', custody: 'token' },
  { cipher: 'ecdsa-p256', custody: 'token' },
  { cipher: 'aes256-gcm96', custody: 'wrapped' },
  { cipher: 'ed25519', custody: 'wrapped' },
] as const;
const run = promisify(execFile);

/** Runs the storm with this many kills in a fresh directory. Throws on the first loss, broken invariant or orphan. */
export async function stormOnKeys(options: { directory: string; kills: number; checkEvery: number }): Promise<StormReport> {
  const { directory, kills, checkEvery } = options;
  const report: StormReport = { kills: 0, changes: {}, cut: 0, done: 0, leftByKills: 0 };
  const keys: Key[][] = Array.from({ length: lanes }, () => []);
  let daemon = await startDaemon({ directory });
  while (report.kills < kills) {
    await storm(daemon, keys, report);
    report.kills += 1;
    if (report.kills % checkEvery === 0) await requireSound(directory);
    daemon = await startDaemon({ directory, workers: report.kills % 8 === 0 ? 2 : 1 });
    await Promise.all(keys.flat().map((key) => settle(daemon, key, report)));
    for (const lane of keys) lane.splice(0, lane.length, ...lane.filter(({ model }) => model !== undefined));
    await requireNoOrphans(daemon, directory, keys.flat(), report);
  }
  if ((await daemon.stop()) !== 0) throw new Error(`the daemon did not stop well:\n${daemon.output()}`);
  await requireSound(directory);
  return report;
}

/** Changes on every lane until the daemon is killed. */
async function storm(daemon: Daemon, keys: readonly Key[][], report: StormReport): Promise<void> {
  let killed = false;
  const lane = async (mine: Key[]): Promise<void> => {
    for (;;) await changeOne(daemon, mine, report);
  };
  const running = keys.map((mine) =>
    lane(mine).catch((error: unknown) => {
      // A connection that breaks is what a kill looks like; a refusal is a fault of its own.
      if (!killed || error instanceof Refusal) throw error;
    }),
  );
  const all = Promise.all(running);
  await Promise.race([setTimeout(100 + Math.random() * 1_400), all]);
  killed = true;
  await daemon.kill();
  await all;
}

/** One change of a random kind to a key of the lane, and the proof of what it made. */
async function changeOne(daemon: Daemon, mine: Key[], report: StormReport): Promise<void> {
  const present = mine.filter(({ model }) => model !== undefined);
  const key = present[Math.floor(Math.random() * present.length)];
  if (key?.model === undefined || present.length < keysPerLane) {
    await create(daemon, mine, report);
    return;
  }
  const { model } = key;
  const grown = { ...model, latest: model.latest + 1 };
  const action = (verb: string, body: unknown, next: Model): Promise<void> =>
    change(daemon, key, verb, next, 'POST', `${state}/${key.name}/${verb}`, body, report);
  const dice = Math.random();
  if (dice < 0.35) await action('rotate', {}, grown);
  else if (dice < 0.5 && key.cipher.startsWith('aes')) await action('import', { data: randomBytes(32).toString('base64') }, grown);
  else if (dice < 0.7 && model.latest > model.floor) await action('trim', { version: model.latest }, trimmed(model));
  else if (dice < 0.85) {
    const { key: backup } = (await daemon.request('POST', `${state}/${key.name}/backup`)) as { key: string };
    const target = await create(daemon, mine, report, key);
    await change(daemon, target, 'restore', model, 'POST', `${state}/${target.name}/restore`, { key: backup }, report);
    await prove(daemon, target);
  } else if (present.length > keysPerLane)
    await change(daemon, key, 'delete', undefined, 'DELETE', `${config}/${key.name}`, undefined, report);
  await prove(daemon, key);
}

async function create(daemon: Daemon, mine: Key[], report: StormReport, like?: Key): Promise<Key> {
  const { cipher, custody } = like ?? (sorts[Math.floor(Math.random() * sorts.length)] as (typeof sorts)[number]);
  const key: Key = { name: `storm-${randomBytes(6).toString('hex')}`, cipher, custody, model: undefined };
  mine.push(key);
  const body = { name: key.name, cipher, custody, 'deletion-allowed': true, 'allow-plaintext-backup': true };
  await change(daemon, key, 'create', { latest: 1, floor: 1, proofs: new Map() }, 'POST', config, body, report);
  await prove(daemon, key);
  return key;
}

function trimmed({ latest, proofs }: Model): Model {
  return { latest, floor: latest, proofs: new Map([...proofs].filter(([version]) => version === latest)) };
}

/** The daemon answered, and not what it should have. */
class Refusal extends Error {}

/** Sends a change; its outcome counts once it is acknowledged. */
async function change(
  daemon: Daemon,
  key: Key,
  kind: string,
  next: Model | undefined,
  method: string,
  path: string,
  body: unknown,
  report: StormReport,
): Promise<void> {
  key.doubt = { next };
  const { status, body: answer } = await daemon.exchange(method, path, body);
  // The group dies process by process: a worker may live to say that its token host is gone, and need not know what became of the change.
  if (status === 503) throw new Error(`${method} ${path}: 503 ${JSON.stringify(answer)}\n${daemon.output()}`);
  if (status >= 400) throw new Refusal(`${method} ${path}: ${status} ${JSON.stringify(answer)}\n${daemon.output()}`);
  key.model = next;
  key.doubt = undefined;
  report.changes[kind] = (report.changes[kind] ?? 0) + 1;
}

/** Has the newest version make a value, to be opened or verified after every kill. */
async function prove(daemon: Daemon, key: Key): Promise<void> {
  if (key.model === undefined) return;
  const { latest, proofs } = key.model;
  const signs = !key.cipher.startsWith('aes');
  const path = `${state}/${key.name}/${signs ? 'sign' : 'encrypt'}`;
  const answer = (await daemon.request('POST', path, signs ? { text: payload } : { plaintext: payload })) as Record<string, string>;
  key.model = { ...key.model, proofs: new Map(proofs).set(latest, answer[signs ? 'signature' : 'ciphertext'] as string) };
}

/** After a start: the key is as acknowledged, or as the change that was cut would have made it; and all its proofs hold. */
async function settle(daemon: Daemon, key: Key, report: StormReport): Promise<void> {
  const possible = key.doubt === undefined ? [key.model] : [key.model, key.doubt.next];
  const problems: string[] = [];
  for (const [index, model] of possible.entries()) {
    const problem = await contradiction(daemon, key, model);
    if (problem !== undefined) problems.push(problem);
    else {
      report.cut += key.doubt === undefined ? 0 : 1;
      report.done += index;
      key.model = model;
      key.doubt = undefined;
      return;
    }
  }
  throw new Error(`after a kill ${describe(key)}: ${problems.join('; ')}`);
}

/** What speaks against the key being so; undefined when nothing does. */
async function contradiction(daemon: Daemon, key: Key, model: Model | undefined): Promise<string | undefined> {
  const { status, body } = await daemon.exchange('GET', `${state}/${key.name}`);
  const found = body as { 'latest-version': number; 'oldest-version': number };
  if (model === undefined) return status === 404 ? undefined : `exists (${status})`;
  if (status !== 200 || found['latest-version'] !== model.latest || found['oldest-version'] !== model.floor)
    return `is not as acknowledged: ${status} ${JSON.stringify(body)}`;
  const signs = !key.cipher.startsWith('aes');
  for (const [version, value] of model.proofs) {
    const path = `${state}/${key.name}/${signs ? 'verify' : 'decrypt'}`;
    const proof = await daemon.exchange('POST', path, signs ? { text: payload, signature: value } : { ciphertext: value });
    const { valid, plaintext } = proof.body as { valid?: boolean; plaintext?: string };
    if (signs ? valid !== true : plaintext !== payload) return `version ${version} does not open its value: ${JSON.stringify(proof.body)}`;
  }
  return undefined;
}

function describe({ name, cipher, custody, model }: Key): string {
  return `${name} (${cipher}, ${custody}, versions ${model?.floor} to ${model?.latest})`;
}

/** Every key object in the token belongs to a version of a key with token custody, and the other way round. */
async function requireNoOrphans(daemon: Daemon, directory: string, keys: readonly Key[], report: StormReport): Promise<void> {
  const held = keys
    .filter(({ custody }) => custody === 'token')
    .reduce((total, { model }) => total + (model === undefined ? 0 : model.latest - model.floor + 1), 0);
  const token = { module: softhsmModule, label: 'keystored', environment: { SOFTHSM2_CONF: join(directory, 'softhsm.conf') } };
  const pin = readFileSync(join(directory, 'pin'), 'utf8').trim();
  // The first clearing runs about a second after the start.
  for (let tries = 0; ; tries += 1) {
    const labels = (await keyObjectLabels(token, pin)).filter((label) => / (?:encrypt|sign)$/.test(label));
    if (tries === 0) report.leftByKills = Math.max(report.leftByKills, labels.length - held);
    if (labels.length === held) return;
    if (labels.length < held || tries === 20)
      throw new Error(`the token holds ${labels.length} key objects for ${held} versions:
${labels.join('\n')}
${daemon.output()}`);
    await setTimeout(250);
  }
}

/** The check of the stopped appliance finds nothing. */
async function requireSound(directory: string): Promise<void> {
  const program = resolve(import.meta.dirname, '../../../appliance/check.ts');
  await run(process.execPath, [program, '--data', directory]).catch((error: { stdout?: string; stderr?: string }) => {
    throw new Error(`the invariant check found:
${error.stdout ?? ''}${error.stderr ?? ''}`);
  });
}
