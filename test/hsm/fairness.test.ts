// Turns of tenants at the token, of real ones: who has little to do waits for a small part of what another has waiting. Counted in what was
// done meanwhile, which does not depend on how fast the machine is.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Hsm, KeyReference, KeyType, KeyUse } from '../../hsm/api.ts';
import { JobBook } from '../../hsm/client/job-book.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { call } from '../../hsm/protocol/operations.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';

const digest = createHash('sha256').update('message').digest();
const path = temporaryDirectory();
let hsm: Hsm;

beforeAll(async () => {
  hsm = await openHsm(testHsmConfig(await makeSoftToken(path())));
});

afterAll(() => hsm.close());

describe('a tenant has the token soon while another one has a thousand things waiting:', () => {
  test('a large encryption beside RSA signatures', async () => {
    const [rsa, aes] = [await keyOf('greedy', 'rsa-2048'), await keyOf('modest', 'aes-256')];
    const sign = (): Promise<unknown> => hsm.sign(rsa, { scheme: 'rsa-pkcs1v15', hash: 'sha256', digest });
    await expectSoon(1_000, sign, () => hsm.encrypt(aes, Buffer.alloc(102_400)));
  });

  test('a list of signatures beside many lists', async () => {
    const [many, few] = [await keyOf('greedy', 'ed25519'), await keyOf('modest', 'ed25519')];
    const listOf = (key: KeyReference, count: number): Promise<unknown> =>
      hsm.useAll(Array.from({ length: count }, (): KeyUse => ({ use: 'sign', key, scheme: { scheme: 'ed25519', message: digest } })));
    await expectSoon(
      100,
      () => listOf(many, 100),
      () => listOf(few, 10),
    );
  });

  test('a key that is made beside many others', async () => {
    await expectSoon(
      500,
      () => keyOf('greedy', 'ecdsa-p256'),
      () => keyOf('modest', 'ecdsa-p256'),
    );
  });

  // Those that were sent before are in the pipe before it.
  test('a single use beside thousands', async () => {
    const [many, few] = [await keyOf('greedy', 'ed25519'), await keyOf('modest', 'aes-256')];
    await expectSoon(
      5_000,
      () => hsm.sign(many, { scheme: 'ed25519', message: digest }),
      () => hsm.encrypt(few, digest),
      2,
    );
  });
});

test('what each tenant had of the token is known', () => {
  expect(hsm.timeOf('modest')).toBeGreaterThan(0);
  expect(hsm.timeOf('greedy') / hsm.timeOf('modest')).toBeGreaterThan(10);
  expect(hsm.timeOf('another')).toBe(0);
});

test('one tenant cannot fill the room for jobs: another one finds some, and what was answered is given back', () => {
  const jobs = new JobBook();
  const add = (tenant: string): boolean => {
    if (jobs.isFullFor(tenant)) return false;
    jobs.add({ ...call.random(16), owner: tenant }, () => undefined).catch(() => undefined);
    return true;
  };
  const fill = (tenant: string): number => {
    let count = 0;
    while (add(tenant)) count++;
    return count;
  };
  const first = fill('greedy');
  expect(first).toBeGreaterThan(10_000);
  expect(fill('greedy, too')).toBeGreaterThan(1_000);
  expect(fill('modest')).toBeGreaterThan(100);
  expect(add('greedy')).toBe(false);
  jobs.rejectAll(new Error('over') as never);
  expect(fill('modest')).toBe(first);
});

/**
 * `little` is done before a fifth, or another part, of the `count` runs of `much` that were begun before it. In the best of three rounds: where this
 * process waits for a processor before it sends `little`, the host has answered others by then, and none of these answers is read yet.
 */
async function expectSoon(count: number, much: () => Promise<unknown>, little: () => Promise<unknown>, part = 5): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3 && least >= count / part; round++) least = Math.min(least, await doneMeanwhile(count, much, little));
  expect(least).toBeLessThan(count / part);
}

async function doneMeanwhile(count: number, much: () => Promise<unknown>, little: () => Promise<unknown>): Promise<number> {
  let done = 0;
  const all = Array.from({ length: count }, () => much().then(() => (done += 1)));
  // The others have been sent when this one is: calls of one turn of the event loop travel together.
  await new Promise((resolve) => setImmediate(resolve));
  const before = done;
  await little();
  const meanwhile = done - before;
  await Promise.all(all);
  return meanwhile;
}

async function keyOf(tenant: string, type: KeyType): Promise<KeyReference> {
  const binding = { tenant, keyId: crypto.randomUUID(), version: 1, purpose: 'test' };
  return { stored: (await hsm.generate(type, binding)).stored, binding };
}
