// The side of a program in p11-kit's protocol: sends calls over a pair of streams, for tests of what answers them.
import type { Readable, Writable } from 'node:stream';
import {
  answerFrame,
  type ArgumentReader,
  FrameReader,
  number32,
  octet,
  octets,
  type RemoteCall,
  ulong,
} from '../../hsm/p11-kit/frames.ts';

/** Numbers of calls. */
export const call = {
  ...{ initialize: 1, info: 3, slotList: 4, slotInfo: 5, tokenInfo: 6, mechanismList: 7, mechanismInfo: 8, openSession: 10 },
  ...{ closeSession: 11, sessionInfo: 13, login: 18, createObject: 20, copyObject: 21, attributes: 24, findInit: 26, find: 27 },
  ...{ findFinal: 28, decryptInit: 33, signInit: 42, sign: 43, signUpdate: 44, signFinal: 45, seedRandom: 63, random: 64 },
} as const;

/** Forms of a mechanism: of p11-kit to 0.25.5, and of later ones. */
export type Form = 'old' | 'new';

/** A call that was answered with a CK_RV. */
class Failed extends Error {
  readonly rv: number;
  constructor(rv: number) {
    super(`CK_RV 0x${rv.toString(16)}`);
    this.rv = rv;
  }
}

export class P11KitClient {
  readonly #input: Writable;
  readonly #form: Form;
  readonly #reader = new FrameReader(1 << 24);
  readonly #waiting = new Map<number, PromiseWithResolvers<RemoteCall>>();
  #exchange = 0;
  /** resolves when the other side has ended the connection */
  readonly ended: Promise<void>;

  /** Writes calls to `input` and reads answers from `output`. */
  constructor(input: Writable, output: Readable, { form = 'old', version = 0 }: { form?: Form; version?: number } = {}) {
    this.#input = input;
    this.#form = form;
    output.on('data', (chunk: Buffer) => {
      for (const one of this.#reader.push(chunk).calls) this.#waiting.get(one.exchange)?.resolve(one);
    });
    input.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        for (const one of this.#waiting.values()) one.reject(new Error('the connection has ended'));
        resolve();
      };
      output.once('close', end).once('end', end);
    });
    input.write(octet(version));
  }

  /** Octets as they are. */
  write(chunk: Uint8Array): void {
    this.#input.write(chunk);
  }

  /** The arguments of the answer. Rejects with Failed. */
  async ask(number: number, ...values: readonly Buffer[]): Promise<ArgumentReader> {
    const exchange = ++this.#exchange;
    const answer = Promise.withResolvers<RemoteCall>();
    this.#waiting.set(exchange, answer);
    this.#input.write(answerFrame(exchange, number, '', values));
    const { call: answered, arguments: given } = await answer.promise.finally(() => this.#waiting.delete(exchange));
    if (answered === 0) throw new Failed(given.ulong());
    return given;
  }

  async openSession(): Promise<number> {
    return (await this.ask(call.openSession, ulong(1), ulong(4))).ulong();
  }

  /** Handles of the objects that have these attributes. */
  async find(session: number, ...template: readonly Buffer[]): Promise<readonly number[]> {
    await this.ask(call.findInit, ulong(session), number32(template.length), ...template);
    const given = await this.ask(call.find, ulong(session), number32(1_000));
    await this.ask(call.findFinal, ulong(session));
    given.octet();
    return Array.from({ length: given.number32() }, () => given.ulong());
  }

  /** The value of an attribute that is octets; undefined if the object has it not. */
  async attribute(session: number, handle: number, type: number): Promise<Buffer | undefined> {
    const given = await this.ask(call.attributes, ulong(session), ulong(handle), number32(1), number32(type), number32(0));
    given.take(8);
    if (given.octet() === 0) return undefined;
    given.number32();
    return given.octets();
  }

  async begin(session: number, handle: number, mechanism: number, parameters?: Buffer): Promise<void> {
    const written = {
      old: parameters ?? number32(0xffff_ffff),
      new: parameters === undefined ? Buffer.alloc(0) : Buffer.concat([octet(1), parameters]),
    }[this.#form];
    await this.ask(call.signInit, ulong(session), number32(mechanism), written, ulong(handle));
  }

  /** The signature, or its length where there is no room for it. */
  async sign(session: number, data: Uint8Array, room = 1_024): Promise<Buffer | number> {
    return signatureIn(await this.ask(call.sign, ulong(session), octet(1), octets(data), number32(room)));
  }

  async signParts(session: number, ...parts: readonly Uint8Array[]): Promise<Buffer | number> {
    for (const part of parts) await this.ask(call.signUpdate, ulong(session), octet(1), octets(part));
    return signatureIn(await this.ask(call.signFinal, ulong(session), number32(1_024)));
  }

  end(): void {
    this.#input.end();
  }
}

function signatureIn(given: ArgumentReader): Buffer | number {
  return given.octet() === 0 ? given.number32() : given.octets();
}

/** Attributes of a search. */
export const wanted = {
  class: (value: number): Buffer => Buffer.concat([number32(0), octet(1), number32(8), ulong(value)]),
  label: (value: string): Buffer => octetsAttribute(0x3, Buffer.from(value)),
  flag: (type: number, value: boolean): Buffer => Buffer.concat([number32(type), octet(1), number32(1), octet(value ? 1 : 0)]),
  octets: octetsAttribute,
};

function octetsAttribute(type: number, value: Uint8Array): Buffer {
  return Buffer.concat([number32(type), octet(1), number32(value.length), octets(value)]);
}

/** Parameters of RSA-PSS. */
export function pss(hash: number, mask: number, salt: number): Buffer {
  return Buffer.concat([hash, mask, salt].map(ulong));
}
