// A host process whose memory has grown: another one takes its place while it works, and nothing that was asked is refused or lost.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { TokenConfig } from '../../hsm/api.ts';
import { Growth } from '../../hsm/client/growth.ts';
import { openHsm } from '../../hsm/client/open.ts';
import type { HsmEvent } from '../../hsm/client/options.ts';
import { makeKey } from '../harness/keys.ts';
import { isAlive } from '../harness/processes.ts';
import { makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';

const directory = mkdtempSync(join(tmpdir(), 'keystored-growth-'));
const patience = { timeout: 120_000, interval: 100 };
const mib = 2 ** 20;
const growNow = join(directory, 'grow-now');
let token: TokenConfig;

beforeAll(async () => {
  const plain = await makeSoftToken(directory);
  // In the first process only: the next one finds the file and stays as it is.
  const forgetful = join(directory, 'forgetful.cjs');
  const mark = JSON.stringify(join(directory, 'has-grown'));
  writeFileSync(
    forgetful,
    `const { existsSync, writeFileSync } = require('node:fs');
    try {
      writeFileSync(${mark}, '', { flag: 'wx' });
      setInterval(() => { if (existsSync(${JSON.stringify(growNow)})) globalThis.kept ??= Buffer.alloc(${400 * mib}, 1); }, 100).unref();
    } catch {}`,
  );
  token = { ...plain, environment: { ...plain.environment, NODE_OPTIONS: `--require ${forgetful}` } };
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('a host process that has grown is replaced: what it was sent it answers, the next one answers the rest', async () => {
  const events: HsmEvent[] = [];
  const hsm = await openHsm(testHsmConfig(token), { onEvent: (event) => events.push(event) });
  const { key } = await makeKey(hsm, 'aes-256', 'growth');
  // Its memory has been measured once it has said how many keys it has.
  await vi.waitUntil(() => (hsm.status()[0]?.loadedKeys ?? 0) > 0, patience);
  writeFileSync(growNow, '');
  const pids = (): number[] => events.filter(({ kind }) => kind === 'token-up').map(({ pid }) => pid as number);
  const [failures, sealed]: [unknown[], Uint8Array[]] = [[], []];
  const making: Promise<unknown>[] = [];
  const done = new AbortController();
  // Uses without a pause, and always a key that is being made when the process is replaced.
  const using = (async () => {
    for (let count = 0; !done.signal.aborted; count++) {
      if (count % 50 === 0) making.push(makeKey(hsm, 'rsa-3072', `made-${count}`).catch((error: unknown) => failures.push(error)));
      await hsm.encrypt(key, Buffer.from(String(count))).then(
        (one) => sealed.push(one),
        (error: unknown) => failures.push(error),
      );
      if (count % 50 === 49) await Promise.race(making.slice(-1));
    }
  })();
  await vi.waitUntil(() => pids().length === 2, patience);
  const [grown] = pids() as [number, number];
  await vi.waitUntil(() => !isAlive(grown), patience);
  done.abort();
  await using;
  await Promise.all(making);
  expect(failures).toEqual([]);
  expect(events.map(({ kind }) => kind)).toEqual(['token-up', 'token-up']);
  expect(events[1]?.message).toMatch(/^the host process of token \S+ had grown to \d+ MiB and was replaced$/);
  for (const [count, one] of sealed.entries()) expect(Buffer.from(await hsm.decrypt(key, one)).toString()).toBe(String(count));
  await hsm.close();
  expect(pids().some(isAlive)).toBe(false);
});

test('loaded keys may take their memory, a moment is no growth, and what each process needs is let to it', () => {
  const growth = new Growth();
  growth.begin(0);
  expect(growth.isTooMuch(100 * mib, 0, 1_000)).toBe(false);
  expect(growth.isTooMuch(1_000 * mib, 100_000, 20_000)).toBe(false);
  expect(growth.isTooMuch(1_000 * mib, 0, 30_000)).toBe(false);
  expect(growth.isTooMuch(150 * mib, 0, 50_000)).toBe(false);
  expect(growth.isTooMuch(200 * mib, 0, 60_000)).toBe(false);
  expect(growth.isTooMuch(200 * mib, 0, 70_001)).toBe(true);
  // The next one is as large at once.
  growth.begin(80_000);
  expect(growth.isTooMuch(100 * mib, 0, 80_001)).toBe(false);
  expect(growth.isTooMuch(200 * mib, 0, 90_000)).toBe(false);
  expect(growth.isTooMuch(200 * mib, 0, 700_000)).toBe(false);
});

test('what a process was let to because it grew soon, the next ones have to need again', () => {
  const growth = new Growth();
  let now = 0;
  /** Whether a process that takes so much more than at first, from the beginning, is too large after a while. */
  const isTooLarge = (grown: number, afterMs: number): boolean => {
    growth.begin((now += 1_000));
    const outcomes = [0, grown, grown].map((octets) => growth.isTooMuch(octets * mib, 0, (now += afterMs / 2)));
    return outcomes.at(-1) ?? false;
  };
  expect(isTooLarge(100, 30_000)).toBe(true);
  expect(isTooLarge(100, 30_000)).toBe(false);
  expect(isTooLarge(200, 3_600_000)).toBe(true);
  // It has lasted: the next one is let to as little as the first, and not to less.
  expect(isTooLarge(60, 3_600_000)).toBe(false);
  expect(isTooLarge(70, 3_600_000)).toBe(true);
  expect(isTooLarge(60, 3_600_000)).toBe(false);
});
