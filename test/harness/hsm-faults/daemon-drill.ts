// Faults of the module under the whole daemon: no request is an internal error, no worker ends, and what was acknowledged stays.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Dice } from '../../fuzz/cases.ts';
import { type Daemon, startDaemon } from '../daemon.ts';
import { processesBelow } from '../processes.ts';
import { type Fault, type FaultTable, makeFaultyToken } from '../token/faulty-module.ts';
import { describeFault, drawFault, isWrongAnswer } from './faults.ts';

/** What it came to: faults that struck, answers by status, and keys that were made meanwhile. */
export type DaemonReport = { readonly seed: number; faults: number; readonly answers: Record<string, number>; keys: number };

const config = '/v1/config/keystore';
const state = '/v1/state/keystore';
const payload = Buffer.from('a value of the drill').toString('base64');
const recoverWithinMs = 60_000;
/** What requests call; the PIN and the start are the matter of the other drill. */
const functions = [
  ...['C_EncryptInit', 'C_Encrypt', 'C_DecryptInit', 'C_Decrypt', 'C_SignInit', 'C_Sign', 'C_UnwrapKey', 'C_WrapKey', 'C_GenerateKey'],
  ...['C_GenerateKeyPair', 'C_GenerateRandom', 'C_CreateObject', 'C_DestroyObject', 'C_GetAttributeValue', 'C_FindObjectsInit'],
  ...['C_FindObjects', 'C_FindObjectsFinal', 'C_OpenSession', 'C_CloseSession'],
];

type Key = { readonly name: string; readonly fields: object; made?: string };

const sorts = [
  {},
  { derived: true },
  { cipher: 'ecdsa-p256' },
  { cipher: 'ed25519' },
  { cipher: 'rsa-2048' },
  { custody: 'token' },
] as const;

/** Runs the drill on a daemon with two workers. Throws at the first answer or loss that is not acceptable. */
export async function drillDaemon(options: { directory: string; faults: number; seed: number }): Promise<DaemonReport> {
  const { directory, faults, seed } = options;
  const dice = new Dice(seed);
  const report: DaemonReport = { seed, faults: 0, answers: {}, keys: 0 };
  const { token, table } = await makeFaultyToken(directory);
  const file = join(directory, 'keystored.yaml');
  // JSON is YAML.
  const hsm = { tokens: [token], 'job-timeout': '3s', 'check-answers': true, 'cache-keys': 20 };
  writeFileSync(file, JSON.stringify({ hsm }));
  const daemon = await startDaemon({ directory: join(directory, 'data'), workers: 2, args: ['--config', file] });
  const workers = processesBelow(daemon.pid, 'worker.').join();
  const keys: Key[] = [];
  for (const fields of sorts) keys.push(await makeKey(daemon, fields, keys.length));
  while (report.faults < faults) {
    const drawn = drawFault(dice, functions);
    // What is wrong each time can be as wrong when it is asked for again: the other drill tells what could be known.
    const fault = isWrongAnswer(drawn.kind) ? { ...drawn, times: 1 } : drawn;
    await strike({ daemon, table, dice, keys, report }, fault);
    const after = processesBelow(daemon.pid, 'worker.').join();
    if (after !== workers) throw new Error(`seed ${seed}, ${describeFault(fault)}: the workers were ${workers} and are ${after}`);
  }
  if ((await daemon.stop()) !== 0) throw new Error(`the daemon did not stop well:\n${daemon.output()}`);
  const second = await startDaemon({ directory: join(directory, 'data'), args: ['--config', file], firstStart: true });
  for (const key of keys) await prove(second, key);
  await second.stop();
  return report;
}

type Parts = {
  readonly daemon: Daemon;
  readonly table: FaultTable;
  readonly dice: Dice;
  readonly keys: Key[];
  readonly report: DaemonReport;
};

/** Four requests at once while the fault is there; then the service answers again, and each of its answers was right. */
async function strike(parts: Parts, fault: Fault): Promise<void> {
  const { daemon, table, dice, keys, report } = parts;
  table.arm(fault);
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => requestOne(parts, dice.pick(keys))));
  const hasStruck = table.struck > 0;
  table.disarm();
  const wrong = (what: string): never => {
    throw new Error(`seed ${report.seed}, fault ${report.faults}, ${describeFault(fault)}: ${what}`);
  };
  for (const { what, status, code, created } of outcomes) {
    if (status >= 400 && !isFitting(code, fault)) wrong(`${what} was answered ${status} ${code}`);
    report.answers[`${status} ${code}`] = (report.answers[`${status} ${code}`] ?? 0) + 1;
    if (created !== undefined) keys.push(created);
  }
  await untilServing(daemon, wrong);
  for (const { made, created = made } of outcomes)
    if (created !== undefined) await provePatiently(daemon, created).catch((error: unknown) => wrong(String(error)));
  if (hasStruck) report.faults += 1;
  report.keys = keys.length;
  // What is kept is few enough to be proven after the restart.
  keys.splice(40);
}

/** A refusal that says that the HSM is at fault; that a key is lost, only when the token goes on saying so. */
function isFitting(code: string, { times = 1 }: Fault): boolean {
  if (code === 'key-object-missing') return times > 1;
  return ['hsm-unavailable', 'audit-unavailable', 'storage-unavailable', 'operation-not-supported', 'conflict'].includes(code);
}

type Outcome = { readonly what: string; readonly status: number; readonly code: string; readonly made?: Key; readonly created?: Key };

async function requestOne({ daemon, dice }: Parts, key: Key): Promise<Outcome> {
  const drawn = dice.next();
  if (drawn < 0.1) {
    const asked = await ask(daemon, `${state}/crypto-functions/random-bytes`, { bytes: 32 });
    return { what: 'random-bytes', ...asked };
  }
  if (drawn < 0.3) {
    const created: Key = { name: `drill-${randomBytes(6).toString('hex')}`, fields: dice.pick(sorts) };
    const asked = await ask(daemon, `${config}/transit-keys`, { name: created.name, ...created.fields });
    return { what: `creation of ${JSON.stringify(created.fields)}`, ...asked, ...(asked.status === 201 ? { created } : {}) };
  }
  if (drawn < 0.35) {
    const asked = await ask(daemon, `${config}/tls/ca`, { name: `ca-${randomBytes(6).toString('hex')}` });
    return { what: 'creation of a CA', ...asked };
  }
  if (drawn < 0.4) return { what: 'rotation', ...(await ask(daemon, `${state}/transit-keys/${key.name}/rotate`, {})) };
  const { value, ...asked } = await use(daemon, key);
  const made = value === undefined ? {} : { made: { ...key, made: value } };
  return { what: `${actionOf(key)} with ${JSON.stringify(key.fields)}`, ...asked, ...made };
}

async function ask(daemon: Daemon, path: string, body: object): Promise<{ status: number; code: string; value?: string }> {
  const answer = await daemon.exchange('POST', path, body);
  const { code = 'done', ciphertext, signature } = (answer.body ?? {}) as Record<string, string | undefined>;
  const value = ciphertext ?? signature;
  return { status: answer.status, code, ...(value === undefined ? {} : { value }) };
}

/** Signs or encrypts the payload. */
function use(daemon: Daemon, key: Key): ReturnType<typeof ask> {
  return ask(daemon, `${state}/transit-keys/${key.name}/${actionOf(key)}`, bodyOf(key));
}

function actionOf(key: Key): 'sign' | 'encrypt' {
  return signs(key) ? 'sign' : 'encrypt';
}

function signs({ fields }: Key): boolean {
  return 'cipher' in fields;
}

function bodyOf(key: Key): object {
  if (signs(key)) return { text: payload };
  return { plaintext: payload, ...contextOf(key) };
}

function contextOf({ fields }: Key): object {
  return 'derived' in fields ? { context: payload } : {};
}

async function makeKey(daemon: Daemon, fields: object, number: number): Promise<Key> {
  const name = `kept-${number}`;
  await daemon.request('POST', `${config}/transit-keys`, { name, ...fields });
  const { value } = await use(daemon, { name, fields });
  return { name, fields, ...(value === undefined ? {} : { made: value }) };
}

/** What the key made opens or verifies, and it can be used. */
async function prove(daemon: Daemon, key: Key): Promise<void> {
  const path = `${state}/transit-keys/${key.name}`;
  const asked = key.made === undefined ? await use(daemon, key) : undefined;
  const made = key.made ?? asked?.value;
  if (made === undefined) throw new Error(`${key.name} cannot be used: ${JSON.stringify(asked)}`);
  const isProven = signs(key)
    ? ((await daemon.request('POST', `${path}/verify`, { text: payload, signature: made })) as { valid: boolean }).valid
    : ((await daemon.request('POST', `${path}/decrypt`, { ciphertext: made, ...contextOf(key) })) as { plaintext: string }).plaintext ===
      payload;
  if (!isProven) throw new Error(`${key.name} is not what it was: ${JSON.stringify(key.fields)}`);
}

/** The worker that answers may be the one whose token process is still being replaced: what is lost is so after that time, too. */
async function provePatiently(daemon: Daemon, key: Key): Promise<void> {
  const until = performance.now() + recoverWithinMs;
  for (;;) {
    try {
      return await prove(daemon, key);
    } catch (error) {
      if (performance.now() > until || !String(error).includes('hsm-unavailable')) throw error;
      await sleep(50);
    }
  }
}

/** Both workers answer again, as far as chance has it. Each request has a connection of its own, so several reach both. */
async function untilServing(daemon: Daemon, wrong: (what: string) => never): Promise<void> {
  const until = performance.now() + recoverWithinMs;
  for (let answered = 0; answered < 6;) {
    const { status, code } = await ask(daemon, `${state}/transit-keys/kept-0/encrypt`, { plaintext: payload });
    answered = status === 200 ? answered + 1 : 0;
    if (performance.now() > until) wrong(`the service does not recover: ${status} ${code}`);
    if (status !== 200) await sleep(50);
  }
}
