// A backup that comes back under another name while its key lives: one material, so no copy begins with less than is known of it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, startTransitHarness } from '../harness.ts';

const path = temporaryDirectory();
const hello = Buffer.from('hello').toString('base64');
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(path('living'));
});
afterAll(() => harness.stop());

const usesOf = async (name: string): Promise<number> => (await harness.state(name)).usage['1']?.uses ?? 0;
const exportsOf = (name: string): number => {
  harness.store.refresh();
  const records = harness.store.prefixed('transit').table<{ history?: { exportCount?: number } }>('keys').entries([]);
  return Array.from(records).find(([[, keyName]]) => keyName === name)?.[1].history?.exportCount ?? -1;
};

test.each(['aes256-gcm96', 'ed25519', 'rsa-2048'])(
  '%s: a copy has the count, the flags and the exports of the key that lives',
  async (cipher) => {
    const orders = `orders-${cipher}`;
    const use = async (name: string): Promise<unknown> =>
      cipher === 'aes256-gcm96' ? harness.do(name, 'encrypt', { plaintext: hello }) : harness.do(name, 'sign', { text: hello });
    await harness.create(orders, { cipher, 'allow-plaintext-backup': true });
    const { key } = await harness.do(orders, 'backup');
    for (let made = 0; made < 5; made += 1) await use(orders);
    expect((await harness.patch(orders, { exportable: true })).status).toBe(204);
    await harness.do(orders, 'export', { version: 'latest' });

    await harness.create(`copy-${cipher}`, { cipher });
    await harness.do(`copy-${cipher}`, 'restore', { key });
    expect(await harness.state(`copy-${cipher}`)).toMatchObject({ exportable: true, 'allow-plaintext-backup': true });
    expect(await usesOf(`copy-${cipher}`)).toBeGreaterThanOrEqual(5);
    expect(exportsOf(`copy-${cipher}`)).toBe(2);

    // Of several that have it, the one with the highest count: a copy of which no backup was ever made is one of them.
    const before = await usesOf(`copy-${cipher}`);
    for (let made = 0; made < 3; made += 1) await use(`copy-${cipher}`);
    await harness.create(`third-${cipher}`, { cipher });
    await harness.do(`third-${cipher}`, 'restore', { key });
    expect(await usesOf(`third-${cipher}`)).toBeGreaterThanOrEqual(before + 3);
    await harness.expectSound();
  },
);

test('another key of the same cipher, and one of another material, begin with nothing', async () => {
  await harness.create('used', { 'allow-plaintext-backup': true });
  await harness.do('used', 'backup');
  await harness.do('used', 'encrypt', { plaintext: hello });
  await harness.create('fresh', { 'allow-plaintext-backup': true });
  const { key } = await harness.do('fresh', 'backup');
  await harness.create('of-fresh');
  await harness.do('of-fresh', 'restore', { key });
  expect([await usesOf('of-fresh'), (await harness.state('of-fresh')).exportable]).toEqual([0, false]);
});
