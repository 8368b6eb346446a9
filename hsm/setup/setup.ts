// Administration of tokens for first boot, tests and the command line. Each task runs in a child process of its own.
import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { HsmError, type KeyType, type OwnKeyName, type TokenConfig } from '../api.ts';
import type { PinChange } from './change-pin.ts';
import type { WrappedForAll, WrappedKeys, Transport } from './carry.ts';
import type { ModuleDescription } from './describe.ts';
import type { Initialised, NewToken } from './initialise.ts';
import { encodeWithPins } from '../protocol/pins.ts';
import { decodeError } from '../protocol/error-coding.ts';
import { withoutWarning } from '../without-warning.ts';
import type { Tasks } from './setup-task.ts';
import type { TokenSurvey } from './survey.ts';

export type { WrappedForAll, ModuleDescription, NewToken, WrappedKeys, Transport };
export { readPin, readSecret } from '../files/pin.ts';
export { listTokens, softhsmConf } from '../files/softhsm.ts';
export { ownNeeds } from '../pkcs11/capabilities.ts';

/**
 * Makes the token's missing wrapping and binding keys, durably. Safe to call at every start, from several processes, and
 * after a crash. Returns the labels of the keys it made. Rejects with HsmError: `configuration`,
 * `pin-refused`, `unavailable`.
 */
export async function prepareToken(token: TokenConfig): Promise<string[]> {
  return runTask('prepare', token, token.environment);
}

/**
 * Initialises a token on a free slot of its module, with label, SO PIN and user PIN, or completes an interrupted initialisation; the
 * PIN sources must already hold the PINs. Rejects with `configuration` if the label is taken or no slot is free.
 */
export async function initialiseSoftToken(token: NewToken): Promise<Initialised> {
  return runTask('initialise', token, token.environment);
}

/**
 * Changes the PIN of the user or of the SO in the token, and in its file if the source has `next`. The present PIN is tried once. Rejects
 * with `pin-refused`, `refused` (the token does not accept the new PIN), `configuration`. Processes that are logged in stay logged in.
 */
export async function changePin(change: PinChange): Promise<void> {
  await runTask('changePin', change, change.environment);
}

/** The wrapping keys of a token, prepared or not: ascending, with the carrying by which each came. */
export async function listOwnKeys(token: TokenConfig): Promise<readonly OwnKeyName[]> {
  return runTask('presentKeys', token, token.environment);
}

/**
 * Makes a transport key in a token that is to receive own keys (carry.ts). Rejects with `unsupported` when it takes no RSA-OAEP, and as
 * prepareToken.
 */
export async function openTransport(token: TokenConfig): Promise<Transport> {
  return runTask('openTransport', token, token.environment);
}

/** Removes the transport key of an abandoned carrying. Idempotent. */
export async function closeTransport(token: TokenConfig): Promise<void> {
  await runTask('closeTransport', token, token.environment);
}

/** Makes the next own keys in a token and wraps them for these receivers. The caller has authenticated the receivers. */
export async function giveOwnKeys(token: TokenConfig, number: number, to: readonly Transport[]): Promise<WrappedForAll> {
  return runTask('giveOwnKeys', { token, number, to }, token.environment);
}

/** Takes own keys into a token: those wrapped for the place that its transport had among the receivers. Idempotent. */
export async function takeOwnKeys(
  token: TokenConfig,
  transport: Pick<Transport, 'id'>,
  given: WrappedForAll,
  place: number,
): Promise<void> {
  const wrapped = given.parcels[place];
  if (wrapped === undefined) throw new HsmError('refused', `no own keys were wrapped for token ${token.name}`);
  const { number, carrying, marks } = given;
  await runTask('takeOwnKeys', { token, transport, keys: { number, carrying, marks }, wrapped }, token.environment);
}

/** Describes a module: its slots, their tokens, and the mechanisms of each. No PIN is needed. */
export async function describeModule(
  module: string,
  options: { environment?: Readonly<Record<string, string>>; libraryParameters?: string } = {},
): Promise<ModuleDescription> {
  return runTask('describe', { module, libraryParameters: options.libraryParameters }, options.environment);
}

/**
 * Tests every operation on a token with temporary keys: for the capability tables, and to assess a new module.
 *
 * @public
 */
export async function surveyToken(token: TokenConfig): Promise<TokenSurvey> {
  return runTask('survey', token, token.environment);
}

/** Finds the key types that a prepared token cannot wrap and keeps as their seed: with custody `token` they cannot be exported. */
export async function findKeptAsSeeds(token: TokenConfig): Promise<readonly KeyType[]> {
  return runTask('findKeptAsSeeds', token, token.environment);
}

async function runTask<N extends keyof Tasks>(
  task: N,
  input: Parameters<Tasks[N]>[0],
  environment: Readonly<Record<string, string>> = {},
): Promise<ReturnType<Tasks[N]>> {
  const orders = (): Buffer => encodeWithPins({ task, input });
  let { answer, reason } = await runOnce(orders(), environment);
  // Ctrl-C ends a process that is not in its own group yet. One that has read its orders ignores it.
  if (answer === '' && reason === 'SIGINT') ({ answer, reason } = await runOnce(orders(), environment));
  if (answer === '') throw new HsmError('unavailable', `the module's process ended with ${reason}`);
  const { output, error } = JSON.parse(answer) as { output?: ReturnType<Tasks[N]>; error?: string };
  if (error !== undefined) throw decodeError(Buffer.from(error));
  return output as ReturnType<Tasks[N]>;
}

async function runOnce(orders: Buffer, environment: Readonly<Record<string, string>>): Promise<{ answer: string; reason: string }> {
  const file = fileURLToPath(new URL('./setup-task.ts', import.meta.url));
  const child = spawn(process.execPath, [withoutWarning, file], {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 2, 2, 'pipe'],
    // Ctrl-C must not interrupt a task that changes a token: only this process gets the signals of the terminal.
    detached: true,
  });
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`));
  });
  const stdin = child.stdin as Writable;
  // One that has ended before it read them says more by its end; unheard, the error would end this process.
  stdin.on('error', () => undefined);
  stdin.end(orders);
  const [answer, reason] = await Promise.all([text(child.stdio[3] as Readable), ended]);
  return { answer, reason };
}
