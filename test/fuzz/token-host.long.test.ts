// Malformed answers of a token's host process: it is replaced, and the service neither ends nor leaves a caller waiting.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { HsmError, TokenConfig } from '../../hsm/api.ts';
import { decodeError } from '../../hsm/protocol/error-coding.ts';
import { readCounts, readDescription } from '../../hsm/protocol/host-answers.ts';
import { openHsm } from '../../hsm/client/open.ts';
import type { HsmEvent } from '../../hsm/client/options.ts';
import { encodeMessages, json, MessageReader, resultError, resultOk, type Message } from '../../hsm/protocol/wire.ts';
import { makeKey } from '../harness/keys.ts';
import { makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';
import { Dice } from './cases.ts';

const patience = { timeout: 60_000, interval: 50 };
const directory = mkdtempSync(join(tmpdir(), 'keystored-host-'));
const lie = join(directory, 'lie.bin');
let token: TokenConfig;

beforeAll(async () => {
  // At a signal the host sends the octets of a file, and from then on it answers no job.
  const liar = join(directory, 'liar.mjs');
  writeFileSync(
    liar,
    `import { readFileSync, writeSync } from 'node:fs';
     process.on('SIGUSR2', () => { writeSync(3, readFileSync(${JSON.stringify(lie)})); process.kill(process.pid, 'SIGSTOP'); });`,
  );
  const plain = await makeSoftToken(directory);
  token = { ...plain, environment: { ...plain.environment, NODE_OPTIONS: `--import=${pathToFileURL(liar).href}` } };
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const message = (code: number, parts: Message['parts'], id = 1): Message => ({ id, code, flags: 0, micros: 0, parts });

describe('a host that sends a malformed message is replaced, and the next one answers', () => {
  test.each<[string, Buffer]>([
    ['a message shorter than its header', Buffer.from([3, 0, 0, 0, 1, 2, 3])],
    ['a message without an end', Buffer.alloc(64, 0xff)],
    ['counts that are none', encodeMessages([message(resultOk, [json(null)], 0)])],
    ['counts of another shape', encodeMessages([message(resultOk, [json({ loadedKeys: 'many', sessions: {} })], 0)])],
    ['counts without a part', encodeMessages([message(resultOk, [], 0)])],
    ['a part beyond the end', tooLong(encodeMessages([message(resultOk, [json({})], 0)]))],
  ])('%s', async (_, octets) => {
    const events: HsmEvent[] = [];
    const hsm = await openHsm({ ...testHsmConfig(token), jobTimeoutSeconds: 600 }, { onEvent: (event) => events.push(event) });
    const pidUp = (): number => events.findLast(({ kind }) => kind === 'token-up')?.pid ?? 0;
    const first = pidUp();
    writeFileSync(lie, octets);
    process.kill(first, 'SIGUSR2');
    await vi.waitFor(() => expect(pidUp()).not.toBe(first), patience);
    expect(events.find(({ kind }) => kind === 'token-down')?.message).toContain('sent an unreadable message');
    await hsm.selfTest();
    await hsm.close();
  });

  test.each<[string, number, Message['parts']]>([
    ['an answer without the result', resultOk, []],
    ['an invalid error', resultError, [json(null)]],
    ['an error without a message', resultError, [json({ kind: 7 })]],
  ])('%s: its caller gets an error', async (_, code, parts) => {
    const events: HsmEvent[] = [];
    const hsm = await openHsm({ ...testHsmConfig(token), jobTimeoutSeconds: 600 }, { onEvent: (event) => events.push(event) });
    const pid = events.findLast(({ kind }) => kind === 'token-up')?.pid ?? 0;
    const { key } = await makeKey(hsm, 'aes-256', 'waits');
    writeFileSync(lie, encodeMessages(Array.from({ length: 100 }, (_, id) => message(code, parts, id + 1))));
    process.kill(pid, 'SIGSTOP');
    const waiting = hsm.encrypt(key, Buffer.from('x')).catch((error: HsmError) => error.kind);
    process.kill(pid, 'SIGUSR2');
    process.kill(pid, 'SIGCONT');
    const outcome = await waiting;
    // Whether the host did the job before the malformed message depends on timing; no caller waits forever either way.
    expect(outcome).toSatisfy((one: string | Uint8Array) => typeof one !== 'string' || one === 'unavailable');
    await hsm.close();
  });
});

test('20,000 mutated messages: read completely, or refused by an error that the link catches', () => {
  const dice = new Dice(Number(process.env['FUZZ_SEED'] ?? 11));
  const right = encodeMessages([
    message(resultOk, [json({ loadedKeys: 1, sessions: { size: 1, busy: 0, waiting: 0 } }), undefined, Buffer.alloc(40, 7)], 0),
    message(resultError, [json({ kind: 'refused', message: 'no' })], 2),
  ]);
  for (let count = 0; count < 20_000; count += 1) {
    const octets = Buffer.from(right);
    for (let changes = 1 + dice.below(5); changes > 0; changes -= 1) octets[dice.below(octets.length)] = dice.below(256);
    try {
      for (const received of new MessageReader().push(octets)) {
        for (let index = 0; index < Math.min(received.count, 4); index += 1)
          expect(received.find(index)?.length ?? 0).toBeLessThan(octets.length);
        for (const read of [readCounts, readDescription, () => decodeError(received.part(0))]) read(received);
      }
    } catch (error) {
      const isCaught = error instanceof RangeError || error instanceof SyntaxError || error instanceof TypeError;
      if (!isCaught) throw error;
    }
  }
});

/** The last part claims more octets than there are. */
function tooLong(octets: Buffer): Buffer {
  octets.writeUInt32LE(0x7fff, 16);
  return octets;
}
