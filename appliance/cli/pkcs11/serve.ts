// One connection of a client: octets in, frames out. Calls are answered as they are done, so that one signature does not wait for another.
import type { Readable, Writable } from 'node:stream';
import { FrameReader, octet, protocolVersion, type RemoteCall } from '../../../hsm/p11-kit/frames.ts';
import { RemoteToken, type ShownObject, type TokenProvider } from '../../../hsm/p11-kit/remote-token.ts';
import type { LastingClient } from '../lasting/client.ts';
import type { Notices } from '../lasting/notices.ts';
import type { Io } from '../terminal/io.ts';
import { type Choice, readObjects } from './key-source.ts';
import type { SigningKey } from './shown-keys.ts';
import { beginSigning, offeredMechanisms, signingBy } from './signatures.ts';

/** Program that serves connections: how the token is called, which keys it has, and who is asked. */
export type Program = {
  readonly label: string;
  readonly choice: Choice;
  readonly client: LastingClient;
  readonly notices: Notices;
  readonly io: Io;
};

/** Longest call: programs that leave the hash to the token send a whole document in one. */
const mostOctets = 4 << 20;
/** Octets of calls and answers that all connections hold: one that goes above ends. */
const mostHeld = 64 << 20;
/** From here on, a connection with a call on its way is not read until it is answered. */
const mostHeldAtEase = mostHeld / 2;
/** Calls of one connection at the same time; further ones wait until some are answered. */
const mostAtOnce = 256;
/** Sessions of all connections. */
const mostSessions = 16_384;

/** The keys of one connection: read at the first search, and the same until the program initialises the module again. */
function providerOf({ label, choice, client, notices, io }: Program): TokenProvider<SigningKey> {
  let objects: Promise<readonly ShownObject<SigningKey>[]> | undefined;
  const sign = signingBy(client, notices);
  return {
    texts: { label, model: 'appliance', library: 'keystorectl', slot: 'keys of a keystored appliance' },
    mechanisms: offeredMechanisms,
    objects() {
      objects ??= readObjects(choice, { client, notices, io }).catch((error: unknown) => {
        objects = undefined;
        throw error;
      });
      return objects;
    },
    fault: (error) => notices.tell(`a call failed unexpectedly (${String(error)}): this is a fault of keystorectl`),
    begin: (key, mechanism) =>
      beginSigning(key, mechanism, async (...asked) => {
        const signature = await sign(...asked);
        notices.clear();
        return signature;
      }),
  };
}

/** Octets that all connections hold, and the sessions that they may still open. */
const shared = { held: 0, room: { left: mostSessions } };

/** Serves a connection until its client ends it, or sends what is not a call. */
export function serveConnection(input: Readable, output: Writable, program: Program): Promise<void> {
  const token = new RemoteToken(providerOf(program), shared.room);
  const reader = new FrameReader(mostOctets);
  return new Promise((ended) => {
    const waiting: RemoteCall[] = [];
    let [atOnce, inCalls, holds, isFull, isEnded] = [0, 0, 0, false, false];
    const end = (): void => {
      if (isEnded) return;
      isEnded = true;
      shared.held -= holds;
      token.close();
      input.destroy();
      output.destroy();
      ended();
    };
    const nextCall = (): RemoteCall | undefined => (isEnded || isFull || atOnce >= mostAtOnce ? undefined : waiting.shift());
    /** Begins the calls that there is room for, weighs what the connection holds, and lets it go on, wait or end. */
    const pace = (): void => {
      for (let call = nextCall(); call !== undefined; call = nextCall()) void answer(call);
      if (isEnded) return;
      const weighs = reader.held + inCalls + output.writableLength;
      shared.held += weighs - holds;
      holds = weighs;
      if (shared.held > mostHeld) end();
      else if (isFull || waiting.length > 0 || (atOnce > 0 && shared.held > mostHeldAtEase)) input.pause();
      else input.resume();
    };
    const write = (frame: Buffer): void => {
      if (isEnded) return;
      isFull = !output.write(frame) || isFull;
    };
    const answer = async (call: RemoteCall): Promise<void> => {
      atOnce++;
      write(await token.answer(call));
      atOnce--;
      inCalls -= call.octets;
      pace();
    };
    output.on('drain', () => {
      isFull = false;
      pace();
    });
    for (const stream of new Set([input, output])) stream.on('error', end).on('close', end);
    input.on('end', end);
    input.on('data', (chunk: Buffer) => {
      try {
        const { begins, calls } = reader.push(chunk);
        if (begins) write(octet(protocolVersion));
        for (const call of calls) inCalls += call.octets;
        waiting.push(...calls);
        pace();
      } catch {
        // Not a frame: nothing after it can be told apart.
        end();
      }
    });
  });
}
