// Mutations of OpenPGP blocks, signatures and data: what a hostile or broken client sends. Seeded, so that a finding can be repeated.
import { expect } from 'vitest';
import type { OpenpgpHarness } from '../plugins/openpgp/harness.ts';

/** What the answers were, and how long the slowest took. */
export type MutationReport = {
  readonly statuses: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  readonly stillValid: number;
};

type Seeds = { readonly key: string; readonly text: string; readonly signature: string; readonly blocks: readonly string[] };

/** Sends `cases` mutated requests to openpgp-verify and import-openpgp; fails on any 5xx and on an answer that takes five seconds. */
export async function sendMutations(harness: OpenpgpHarness, seeds: Seeds, cases: number, seed: number): Promise<MutationReport> {
  const random = mulberry32(seed);
  const statuses: Record<string, number> = {};
  let [slowestMs, stillValid] = [0, 0];
  for (let number = 0; number < cases; number += 1) {
    const isImport = number % 2 === 0;
    const original = isImport ? (seeds.blocks[Math.floor(random() * seeds.blocks.length)] as string) : seeds.signature;
    const mutated = random() < 0.5 ? mutateText(original, random) : mutateArmored(original, random);
    const startedMs = performance.now();
    const { status, body } = isImport
      ? await harness.request('POST', '/v1/state/keystore/import-openpgp', { name: `mutated-${seed}-${number}`, openpgp: mutated })
      : await harness.act(seeds.key, 'openpgp-verify', { text: seeds.text, signature: mutated });
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
    const answer = `${isImport ? 'import' : 'verify'} ${status}`;
    statuses[answer] = (statuses[answer] ?? 0) + 1;
    if (!isImport && body?.valid === true) stillValid += 1;
    expect({ number, seed, status, body }).toEqual({ number, seed, status: expect.toSatisfy((code: number) => code < 500), body });
  }
  expect(slowestMs).toBeLessThan(5000);
  return { statuses, slowestMs, stillValid };
}

/** Changes, drops, doubles or inserts characters anywhere in the text. */
function mutateText(text: string, random: () => number): string {
  let mutated = text;
  for (let count = 1 + Math.floor(random() * 4); count > 0; count -= 1) {
    const at = Math.floor(random() * mutated.length);
    const length = Math.floor(random() * 20);
    const replacement = [
      String.fromCharCode(Math.floor(random() * 256)),
      '',
      mutated.slice(at, at + length),
      '\n',
      '-----BEGIN PGP SIGNATURE-----\n',
      '\u0000',
      '=',
    ][Math.floor(random() * 7)];
    mutated = mutated.slice(0, at) + (replacement ?? '') + mutated.slice(at + (random() < 0.5 ? 0 : length));
  }
  return mutated;
}

/** Changes octets of the packets and armors them again, without checksum. */
function mutateArmored(armored: string, random: () => number): string {
  const [, head = '', body = ''] = /^(-----BEGIN [^\n]*-----)\n(?:[^\n]+\n)*\n([\s\S]*?)\n(?:=[\w+/]{4}\n)?-----END/.exec(armored) ?? [];
  const packets = Buffer.from(body, 'base64');
  for (let count = 1 + Math.floor(random() * 6); count > 0; count -= 1) {
    const at = Math.floor(random() * Math.min(packets.length, random() < 0.5 ? 40 : packets.length));
    packets[at] = random() < 0.5 ? Math.floor(random() * 256) : (packets[at] ?? 0) ^ (1 << Math.floor(random() * 8));
  }
  const cut = random() < 0.1 ? packets.subarray(0, Math.floor(random() * packets.length)) : packets;
  const lines = cut.toString('base64').replace(/.{64}/g, '$&\n');
  return `${head}\n\n${lines}\n${head.replace('BEGIN', 'END')}\n`;
}

/** A small seeded generator of numbers from 0 to 1. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
