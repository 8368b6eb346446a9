// Runs jobs on an engine: unpacks their parts, runs the operations, packs results and errors.
import type { KeyBinding, KeyType } from '../api.ts';
import { agree } from '../engine/operations/agreement.ts';
import { decrypt, encrypt } from '../engine/operations/cipher.ts';
import { decapsulate } from '../engine/operations/decapsulation.ts';
import { derivedKey } from '../engine/operations/derivation.ts';
import { LoginNeeded, ModuleBroken, type Engine, type LoadedKey } from '../engine/engine.ts';
import { gatherEvidence } from '../engine/operations/key-evidence.ts';
import { findForbiddenUses } from './forbidden-uses.ts';
import { encodeError } from '../protocol/error-coding.ts';
import { exportKey } from '../engine/operations/exporting.ts';
import { generateKey, importKey, reserveKey, type Made } from '../engine/operations/making.ts';
import { sharedParts } from '../protocol/call-lists.ts';
import {
  flagDerived,
  flagList,
  operationNamed,
  operations,
  unpackHash,
  unpackOaepHashes,
  unpackScheme,
  type EngineOperation,
  type Making,
} from '../protocol/operations.ts';
import { decryptOaep } from '../engine/operations/oaep.ts';
import { decryptPkcs1 } from '../engine/operations/pkcs1.ts';
import { destroyWrappingKey, listWrappingKeys, makeWrappingKey, rewrapKey } from '../engine/rotation.ts';
import { hmac, sign } from '../engine/operations/signing.ts';
import { describeObjects, findWiderObjects } from '../engine/usages.ts';
import {
  json,
  resultError,
  resultLoginNeeded,
  resultModuleBroken,
  resultOk,
  type Message,
  type ReceivedMessage,
} from '../protocol/wire.ts';

/** Work done in pieces, so that other jobs need not wait for all of it. */
export type PiecedRun = {
  /** Works until the time `until` (performance.now), at least one step. Returns the results when all is done; never throws. */
  advance(until: number): readonly Message[] | undefined;
};

/** Runs jobs, one after another, and returns their results; never throws. As JobsRun, in one piece. */
export function performAll(engine: Engine, jobs: readonly ReceivedMessage[]): readonly Message[] {
  return new JobsRun(engine, jobs).advance(Infinity) ?? [];
}

/** Tells whether a job is a list of calls, which ListRun runs in pieces. */
export function isList({ flags }: ReceivedMessage): boolean {
  return (flags & flagList) !== 0;
}

/** Tells whether a job makes a key, which takes ten times as long as a use of one. */
export function makesKey(job: ReceivedMessage | undefined): boolean {
  return job?.code === operations.generate.code || job?.code === operations.import.code;
}

/**
 * Jobs, one after another. `micros` of a result is the time that the job took. Key material in the jobs is zeroed. Keys that were made
 * count only if the token still has its own keys afterwards: checked once for all of them, because it takes as long as making one.
 */
export class JobsRun implements PiecedRun {
  readonly #engine: Engine;
  readonly #jobs: readonly ReceivedMessage[];
  readonly #results: Message[] = [];

  constructor(engine: Engine, jobs: readonly ReceivedMessage[]) {
    this.#engine = engine;
    this.#jobs = jobs;
  }

  advance(until: number): readonly Message[] | undefined {
    for (let at = this.#results.length; at < this.#jobs.length; at++) {
      this.#results.push(performOne(this.#engine, this.#jobs[at] as ReceivedMessage));
      if (performance.now() >= until) break;
    }
    return this.#results.length < this.#jobs.length ? undefined : this.#checked();
  }

  #checked(): readonly Message[] {
    const hasMade = (result: Message, at: number): boolean => result.code === resultOk && makesKey(this.#jobs[at]);
    if (!this.#results.some(hasMade)) return this.#results;
    const check = resultOf(0, () => {
      this.#engine.run(() => this.#engine.requireMadeWell());
      return [];
    });
    if (check.code === resultOk) return this.#results;
    return this.#results.map((result, at) => (hasMade(result, at) ? { ...result, code: check.code, parts: check.parts } : result));
  }
}

/** Runs one job; never throws. The caller checks whether a key that it makes counts, see JobsRun. */
export function performOne(engine: Engine, job: ReceivedMessage): Message {
  if (isList(job)) return new ListRun(engine, job).advance(Infinity)?.[0] as Message;
  const result = resultOf(job.id, () => {
    const name = operationNamed(job.code) as EngineOperation;
    return engine.run(() => handlers[name](engine, job));
  });
  if (job.code === operations.import.code) job.find(1)?.fill(0);
  return result;
}

function resultOf(id: number, work: () => Message['parts']): Message {
  const start = performance.now();
  let code = resultOk;
  let parts: Message['parts'];
  try {
    parts = work();
  } catch (error) {
    code = error instanceof LoginNeeded ? resultLoginNeeded : error instanceof ModuleBroken ? resultModuleBroken : resultError;
    parts = code === resultError ? [encodeError(error)] : [json({ message: (error as Error).message })];
  }
  return { id, code, flags: 0, micros: (performance.now() - start) * 1_000, parts };
}

/** Runs the calls of a list, some at a time. Each is repeated after a remedy and fails by itself; only a broken module ends the list. */
export class ListRun implements PiecedRun {
  readonly #engine: Engine;
  readonly #job: ReceivedMessage;
  readonly #outcomes: Uint8Array[] = [];
  #codes = Buffer.alloc(0);
  #run: ((at: number) => Uint8Array) | undefined;
  #micros = 0;

  constructor(engine: Engine, job: ReceivedMessage) {
    this.#engine = engine;
    this.#job = job;
  }

  advance(until: number): readonly Message[] | undefined {
    let isDone = true;
    const result = resultOf(this.#job.id, () => {
      this.#run ??= this.#prepare();
      isDone = this.#advance(this.#run, until);
      return isDone ? [this.#codes, ...this.#outcomes] : [];
    });
    this.#micros += result.micros;
    return isDone || result.code !== resultOk ? [{ ...result, micros: this.#micros }] : undefined;
  }

  #prepare(): (at: number) => Uint8Array {
    const name = operationNamed(this.#job.code) as EngineOperation;
    const row = listHandlers[name];
    if (row === undefined) throw new RangeError(`${name} has no lists`);
    const run = row.prepare(this.#engine, this.#job);
    const parts = this.#job.parts();
    this.#codes = Buffer.alloc((parts.length - sharedParts) / row.width);
    return (at) => {
      const first = sharedParts + at * row.width;
      return run(required(parts[first]), parts[first + 1], parts[first + 2]);
    };
  }

  #advance(run: (at: number) => Uint8Array, until: number): boolean {
    for (let at = this.#outcomes.length; at < this.#codes.length; at++) {
      try {
        this.#outcomes.push(this.#engine.run(() => run(at)));
      } catch (error) {
        if (error instanceof LoginNeeded || error instanceof ModuleBroken) throw error;
        this.#codes[at] = resultError;
        this.#outcomes.push(encodeError(error));
      }
      if (performance.now() >= until) break;
    }
    return this.#outcomes.length === this.#codes.length;
  }
}

type ListedCall = (payload: Buffer, second: Buffer | undefined, third: Buffer | undefined) => Buffer;

/** For each operation of lists: the number of parts of each call, and the function that runs its calls after the shared parts are unpacked. */
const listHandlers: Partial<
  Readonly<Record<EngineOperation, { readonly width: number; prepare(engine: Engine, job: ReceivedMessage): ListedCall }>>
> = {
  encrypt: {
    width: 3,
    prepare: (engine, job) => {
      const key = aeadKeyFinder(engine, job);
      return (plaintext, associatedData, nonce) => encrypt(engine, key(), plaintext, associatedData, nonce);
    },
  },
  decrypt: {
    width: 3,
    prepare: (engine, job) => {
      const key = aeadKeyFinder(engine, job);
      return (sealed, associatedData) => decrypt(engine, key(), sealed, associatedData);
    },
  },
  sign: {
    width: 1,
    prepare: (engine, job) => {
      const identity = job.identity(0);
      const scheme = unpackScheme(job.part(1));
      return (data) => sign(engine, identity, scheme, data);
    },
  },
  hmac: {
    width: 1,
    prepare: (engine, job) => {
      const identity = job.identity(0);
      const hash = unpackHash(job.part(1));
      return (data) => hmac(engine, identity, hash, data);
    },
  },
};

function required(part: Buffer | undefined): Buffer {
  if (part === undefined) throw new RangeError('a call of the list has no payload');
  return part;
}

/** Handler of each operation: unpacks its job and packs its result. */
const handlers: Readonly<Record<EngineOperation, (engine: Engine, job: ReceivedMessage) => Message['parts']>> = {
  encrypt: (engine, job) => [encrypt(engine, aeadKey(engine, job), job.part(2), job.find(3), job.find(4))],
  decrypt: (engine, job) => [decrypt(engine, aeadKey(engine, job), job.part(2), job.find(3))],
  sign: (engine, job) => [sign(engine, job.identity(0), unpackScheme(job.part(1)), job.part(2))],
  hmac: (engine, job) => [hmac(engine, job.identity(0), unpackHash(job.part(1)), job.part(2))],
  decryptOaep: (engine, job) => {
    const { hash, mgf1Hash } = unpackOaepHashes(job.part(1));
    return [decryptOaep(engine, job.identity(0), hash, job.part(2), { mgf1Hash, label: job.find(3) })];
  },
  decryptPkcs1: (engine, job) => [decryptPkcs1(engine, job.identity(0), job.part(1).readUInt16BE(), job.part(2))],
  agree: (engine, job) => [agree(engine, job.identity(0), job.part(2))],
  decapsulate: (engine, job) => [decapsulate(engine, job.identity(0), job.part(2))],
  random: (engine, job) => [engine.random.octets(job.json<{ bytes: number }>(0).bytes)],
  selfTest: (engine) => {
    engine.random.octets(16);
    if (!engine.canaryWorks()) throw new ModuleBroken('the canary key does not encrypt and decrypt');
    return [];
  },
  inspect: (engine) => {
    engine.requireKept();
    return [];
  },
  generate: (engine, job) => {
    const { type, ...making } = job.json<{ type: KeyType } & Making>(0);
    return madeParts(generateKey(engine, type, making));
  },
  import: (engine, job) => {
    const { type, ...making } = job.json<{ type: KeyType } & Making>(0);
    return madeParts(importKey(engine, type, making, job.part(1)));
  },
  export: (engine, job) => [exportKey(engine, job.identity(0))],
  destroy: (engine, job) => {
    engine.destroyKey(job.identity(0));
    return [];
  },
  // Every thread drops the key before this runs.
  forget: () => [],
  reserve: (engine, job) => {
    const { type, binding } = job.json<{ type: KeyType; binding: KeyBinding }>(0);
    const { blob, mac } = reserveKey(engine, type, binding);
    return [blob, mac];
  },
  rewrap: (engine, job) => {
    const { blob, mac } = rewrapKey(engine, job.identity(0), job.json<{ under: number }>(1).under);
    return [blob, mac];
  },
  widerObjects: (engine) => [json(engine.changeToken(() => findWiderObjects(engine.sessions)))],
  forbiddenUses: (engine) => [json(findForbiddenUses(engine))],
  ownObjects: (engine, job) => {
    const { most } = job.json<{ most: number }>(0);
    return [json(engine.changeToken(() => describeObjects(engine.sessions, most)))];
  },
  evidence: (engine, job) => [json(gatherEvidence(engine, job.identity(0)))],
  wrappingKeys: (engine) => [json(listWrappingKeys(engine))],
  makeWrappingKey: (engine, job) => [json(makeWrappingKey(engine, job.json<{ after: number }>(0).after))],
  destroyWrappingKey: (engine, job) => {
    destroyWrappingKey(engine, job.json<{ number: number }>(0).number);
    return [];
  },
};

function aeadKey(engine: Engine, job: ReceivedMessage): LoadedKey {
  return aeadKeyFinder(engine, job)();
}

/** Returns a function that finds the key of a job, loading it if necessary: at each call, because a remedy may have dropped it. */
function aeadKeyFinder(engine: Engine, job: ReceivedMessage): () => LoadedKey {
  const identity = job.identity(0);
  if ((job.flags & flagDerived) === 0) return () => engine.key(identity);
  const parameters = job.part(1);
  return () => derivedKey(engine, identity, parameters);
}

function madeParts({ blob, mac, publicKey }: Made): Message['parts'] {
  return [blob, mac, publicKey];
}
