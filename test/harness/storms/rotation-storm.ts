// Rotations of the wrapping key under load on the real daemon, cut by kill -9; after each cut every acknowledged key must work.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Daemon, startDaemon } from '../daemon.ts';

/** What a storm came to. `keys` and `uses` were acknowledged; `cutAt`: kills by what the rotation was doing. */
export type RotationReport = {
  kills: number;
  keys: number;
  uses: number;
  rotations: number;
  readonly cutAt: { rewrapping: number; settling: number; finished: number };
};

/** A key, and what it made. */
type Key = { readonly name: string; readonly signs: boolean; readonly value: string };
type WrappingKey = {
  readonly number: number;
  readonly state: string;
  readonly done: number;
  readonly total: number;
  readonly failed: number;
};

const config = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';
const payload = Buffer.from('a value of the storm').toString('base64');
const lanes = 4;
const sorts = [{}, { derived: true }, { cipher: 'ecdsa-p256' }, { cipher: 'ed25519' }, { custody: 'token' }] as const;
const context = Buffer.from('context').toString('base64');
/** After the last key was rewrapped the old wrapping key stays for twice this time. */
const jobTimeoutSeconds = 3;
const run = promisify(execFile);

/** Runs the storm with this many kills in a fresh directory. Throws on the first loss, refusal or broken invariant. */
export async function stormOnRotation(options: { directory: string; kills: number; keysAtFirst: number }): Promise<RotationReport> {
  const { directory, kills, keysAtFirst } = options;
  const report: RotationReport = { kills: 0, keys: 0, uses: 0, rotations: 0, cutAt: { rewrapping: 0, settling: 0, finished: 0 } };
  const keys: Key[] = [];
  writeFileSync(`${directory}.yaml`, `hsm: { job-timeout: ${jobTimeoutSeconds}s }\n`);
  const start = (): Promise<Daemon> => startDaemon({ directory, workers: 1 + (report.kills % 2), args: ['--config', `${directory}.yaml`] });
  let daemon = await start();
  for (let count = 0; count < keysAtFirst; count += lanes) {
    keys.push(...(await Promise.all(Array.from({ length: lanes }, () => makeKey(daemon, report)))));
  }
  while (report.kills < kills) {
    await storm(daemon, keys, report);
    report.kills += 1;
    await requireSound(directory);
    daemon = await start();
    await proveAll(daemon, keys, report);
  }
  await untilInUse(daemon);
  await proveAll(daemon, keys, report);
  if ((await daemon.stop()) !== 0) throw new Error(`the daemon did not stop well:\n${daemon.output()}`);
  await requireSound(directory);
  // Nothing of the old wrapping keys is left in the memory of a token process now.
  daemon = await start();
  await proveAll(daemon, keys, report);
  await daemon.stop();
  return report;
}

/** Begins a rotation if none is under way, has every lane make and use keys, and kills the daemon at a moment of the rotation. */
async function storm(daemon: Daemon, keys: Key[], report: RotationReport): Promise<void> {
  let isKilled = false;
  const lane = async (): Promise<void> => {
    for (;;) {
      if (Math.random() < 0.1) keys.push(await makeKey(daemon, report));
      const key = keys[Math.floor(Math.random() * keys.length)] as Key;
      await prove(daemon, key, report);
    }
  };
  const cut = async (): Promise<void> => {
    const { status } = await daemon.exchange('POST', '/v1/state/system/rotate-wrapping-key');
    // A very busy machine's token is away for a moment (503): then there is one rotation less.
    if (![200, 409, 503].includes(status)) throw new Error(`the rotation was refused with ${status}`);
    if (status === 200) report.rotations += 1;
    // Three kinds of moments: while keys are rewrapped, while the old wrapping key is only kept, while it is being destroyed.
    const kind = report.kills % 3;
    if (kind === 0) await setTimeout(Math.random() * 800);
    else await until(daemon, ({ done, total }) => total > 0 && done >= total);
    if (kind === 1) await setTimeout(Math.random() * jobTimeoutSeconds * 1_000);
    if (kind === 2) await setTimeout(jobTimeoutSeconds * 2_000 + Math.random() * 300);
    const before = await wrappingKeyOf(daemon);
    const isRewrapping = before.done < before.total || before.total === 0;
    report.cutAt[before.state === 'in-use' ? 'finished' : isRewrapping ? 'rewrapping' : 'settling'] += 1;
    isKilled = true;
    await daemon.kill();
  };
  const running = Array.from({ length: lanes }, () =>
    lane().catch((error: unknown) => {
      if (!isKilled) throw error;
    }),
  );
  await Promise.all([cut(), ...running]);
}

async function makeKey(daemon: Daemon, report: RotationReport): Promise<Key> {
  const name = `rotated-${randomBytes(6).toString('hex')}`;
  const sort = sorts[Math.floor(Math.random() * sorts.length)] as (typeof sorts)[number];
  const { status, body } = await daemon.exchange('POST', config, { name, ...sort });
  // A token process that does not answer within the short job timeout is replaced, and a creation is not repeated then: callers do that.
  if (status === 503) {
    await setTimeout(100);
    return makeKey(daemon, report);
  }
  if (status !== 201) throw new Error(`the key was refused with ${status}: ${JSON.stringify(body)}`);
  const signs = 'cipher' in sort;
  const answer = (await daemon.request(
    'POST',
    `${state}/${name}/${signs ? 'sign' : 'encrypt'}`,
    given(signs, 'derived' in sort),
  )) as Record<string, string>;
  report.keys += 1;
  return { name, signs, value: answer[signs ? 'signature' : 'ciphertext'] as string };
}

function given(signs: boolean, derived: boolean): object {
  return signs ? { text: payload } : { plaintext: payload, ...(derived ? { context } : {}) };
}

/** The key opens or verifies what it made, and makes it again. */
async function prove(daemon: Daemon, { name, signs, value }: Key, report: RotationReport): Promise<void> {
  const ask = (action: string, body: object): Promise<Record<string, unknown>> =>
    daemon.request('POST', `${state}/${name}/${action}`, body) as Promise<Record<string, unknown>>;
  if (signs) {
    const { signature } = await ask('sign', { text: payload });
    for (const one of [signature, value]) {
      if ((await ask('verify', { text: payload, signature: one }))['valid'] !== true) throw new Error(`${name} does not verify`);
    }
  } else {
    const { derived } = (await daemon.request('GET', `${state}/${name}`)) as { derived?: boolean };
    const { plaintext } = await ask('decrypt', { ciphertext: value, ...(derived === true ? { context } : {}) });
    if (plaintext !== payload) throw new Error(`${name} does not open its value`);
    await ask('hmac', { plaintext: payload });
  }
  report.uses += 1;
}

async function proveAll(daemon: Daemon, keys: readonly Key[], report: RotationReport): Promise<void> {
  const waiting = [...keys];
  const work = async (): Promise<void> => {
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) await prove(daemon, key, report);
  };
  await Promise.all(Array.from({ length: lanes }, work));
}

async function wrappingKeyOf(daemon: Daemon): Promise<WrappingKey> {
  const { tokens } = (await daemon.request('GET', '/v1/state/system/hsm')) as { tokens: readonly { 'wrapping-key': WrappingKey }[] };
  return (tokens[0] as (typeof tokens)[number])['wrapping-key'];
}

async function until(daemon: Daemon, reached: (now: WrappingKey) => boolean): Promise<void> {
  while (!reached(await wrappingKeyOf(daemon))) await setTimeout(20);
}

async function untilInUse(daemon: Daemon): Promise<void> {
  await until(daemon, (now) => now.state !== 'rewrapping');
  const now = await wrappingKeyOf(daemon);
  if (now.state !== 'in-use' || now.failed > 0 || now.done !== now.total)
    throw new Error(`the rotation did not end well: ${JSON.stringify(now)}`);
}

/** The check of the stopped appliance finds nothing: no key without its wrapping key, no wrapping key without a use. */
async function requireSound(directory: string): Promise<void> {
  const program = resolve(import.meta.dirname, '../../../appliance/check.ts');
  await run(process.execPath, [program, '--data', directory]).catch((error: { stdout?: string; stderr?: string }) => {
    throw new Error(`the invariant check found:\n${error.stdout ?? ''}${error.stderr ?? ''}`);
  });
}
