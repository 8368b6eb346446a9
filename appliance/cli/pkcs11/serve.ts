// One connection of a client: octets in, frames out. Calls are answered as they are done, so that one signature does not wait for another.
import type { Readable, Writable } from 'node:stream';
import { FrameReader, octet, protocolVersion } from '../../../hsm/p11-kit/frames.ts';
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
/** Octets of unfinished calls of all connections. */
const mostHeld = 64 << 20;
/** Calls of one connection at the same time; further ones are read when some are answered. */
const mostAtOnce = 256;

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

/** Octets that all connections hold. */
let held = 0;

/** Serves a connection until its client ends it, or sends what is not a call. */
export function serveConnection(input: Readable, output: Writable, program: Program): Promise<void> {
  const token = new RemoteToken(providerOf(program));
  const reader = new FrameReader(mostOctets);
  return new Promise((ended) => {
    let [atOnce, holds, isFull, isEnded] = [0, 0, false, false];
    const end = (): void => {
      if (isEnded) return;
      isEnded = true;
      held -= holds;
      input.destroy();
      output.destroy();
      ended();
    };
    const pace = (): void => {
      if (isFull || atOnce >= mostAtOnce) input.pause();
      else input.resume();
    };
    const write = (frame: Buffer): void => {
      if (isEnded) return;
      isFull = !output.write(frame) || isFull;
    };
    const answer = async (call: Parameters<typeof token.answer>[0]): Promise<void> => {
      atOnce++;
      write(await token.answer(call));
      atOnce--;
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
        held += reader.held - holds;
        holds = reader.held;
        if (held > mostHeld) return end();
        if (begins) write(octet(protocolVersion));
        for (const call of calls) void answer(call);
        pace();
      } catch {
        // Not a frame: nothing after it can be told apart.
        end();
      }
    });
  });
}
