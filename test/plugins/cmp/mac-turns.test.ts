// Work that a message asks for before it has proven anything: bounded by address, and for all together.
import { beforeAll, describe, expect, test } from 'vitest';
import { MacTurns, macRounds, usualRounds } from '../../../plugins/cmp/mac-turns.ts';
import { sequence } from '../../../core/der/der.ts';
import { type CmpReply, send } from '../../harness/cmp/device.ts';
import { bodies, byMac, newKeys, type Protect, requestOf } from '../../harness/cmp/messages.ts';
import { type CmpAppliance, cmpSecret, startCmpAppliance } from './cmp-appliance.ts';

let appliance: CmpAppliance;
let url: string;
let other: string;
const keys = newKeys();

beforeAll(async () => {
  appliance = await startCmpAppliance();
  url = appliance.cmpUrl(await appliance.makeCa());
  other = appliance.cmpUrl(await appliance.makeCa());
});

const dear = 100_000;
const ask = (protect: Protect, at = url): Promise<CmpReply> =>
  send(at, { type: bodies.ir, body: sequence(requestOf({ keys })), protect }, cmpSecret);
/** Costs its sender nothing. */
const wrong: Protect = { ...byMac('wrong secret', { iterations: dear }), sign: () => Buffer.alloc(20) };

test('many wrong MACs of many rounds at once are refused unjudged but for the first, and keep no usual one out', async () => {
  const flood = await Promise.all(Array.from({ length: 12 }, () => ask(wrong)));
  const judged = flood.filter(({ http }) => http === 200).length;
  expect(judged).toBe(macRounds.ofAddress / (2 * dear));
  expect(flood.filter(({ http }) => http === 503)).toHaveLength(flood.length - judged);
  // Another CA is no other address.
  expect(await ask(wrong, other)).toMatchObject({ http: 429, retryAfter: expect.any(String) });
  expect(await ask(byMac(cmpSecret, { iterations: dear }))).toMatchObject({ http: 429 });
  expect(await ask(byMac(cmpSecret))).toMatchObject({ status: 0 });
  appliance.clock.advance(61);
  expect(await ask(byMac(cmpSecret, { iterations: dear }))).toMatchObject({ status: 0 });
});

describe('turns', () => {
  /** Work that ends when it is told to, and what has begun of it. */
  function held(proves: boolean) {
    const begun: (() => void)[] = [];
    return { begun, work: () => new Promise<true | undefined>((resolve) => begun.push(() => resolve(proves ? true : undefined))) };
  }
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test('all together have one at a time, and dear ones keep no usual one waiting', async () => {
    const turns = new MacTurns(appliance.clock);
    const dearOnes = held(true);
    const usual = held(true);
    const slow = ['192.0.2.1', '192.0.2.2'].map((address) => turns.judge(address, usualRounds + 1, dearOnes.work));
    const all = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '2001:db8::1'].map((address) => turns.judge(address, usualRounds, usual.work));
    for (const begins of [1, 2, 3, 4]) {
      await settled();
      expect(usual.begun).toHaveLength(begins);
      usual.begun[begins - 1]?.();
    }
    expect(await Promise.all(all)).toEqual([true, true, true, true]);
    for (const begins of [1, 2]) {
      await settled();
      expect(dearOnes.begun).toHaveLength(begins);
      dearOnes.begun[begins - 1]?.();
    }
    expect(await Promise.all(slow)).toEqual([true, true]);
  });

  test('wrong usual MACs, as many as are counted, do not use up the rounds of an address', async () => {
    const turns = new MacTurns(appliance.clock);
    for (let time = 0; time < 100; time++) await turns.judge('192.0.2.1', usualRounds, async () => undefined);
    expect(await turns.judge('192.0.2.1', usualRounds, async () => true)).toBe(true);
  });

  test('what has proven something wastes nothing, and what has not is known before the next turn', async () => {
    const turns = new MacTurns(appliance.clock);
    const half = macRounds.ofAddress / 2;
    for (let time = 0; time < 5; time++) expect(await turns.judge('192.0.2.1', half, async () => true)).toBe(true);
    const wrong = [1, 2].map(() => turns.judge('192.0.2.1', half, async () => undefined));
    expect(await Promise.all(wrong)).toEqual([undefined, undefined]);
    await expect(turns.judge('192.0.2.1', half, async () => true)).rejects.toMatchObject({ code: 'rate-limited' });
    expect(await turns.judge('192.0.2.2', half, async () => true)).toBe(true);
  });

  test('addresses together have a bound', async () => {
    const turns = new MacTurns(appliance.clock);
    const { begun, work } = held(true);
    const addresses = Array.from({ length: macRounds.ofAll / macRounds.ofAddress }, (_, index) => `192.0.2.${index}`);
    const all = addresses.map((address) => turns.judge(address, macRounds.ofAddress, work));
    await expect(turns.judge('198.51.100.1', usualRounds + 1, work)).rejects.toMatchObject({ code: 'busy' });
    expect(await turns.judge('198.51.100.1', usualRounds, async () => true)).toBe(true);
    for (const _ of addresses) {
      await settled();
      begun.shift()?.();
    }
    expect(await Promise.all(all)).toHaveLength(addresses.length);
    expect(await turns.judge('198.51.100.1', usualRounds + 1, async () => true)).toBe(true);
  });
});
