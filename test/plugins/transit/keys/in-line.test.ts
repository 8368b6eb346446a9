// Concurrent changes of one key: each is made, one after another, and no caller is told to try again.
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { fail } from '../../../../core/base/errors.ts';
import { WrappingRotation } from '../../../../appliance/wrapping-keys/rotation.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type Answer, base64, startTransitHarness, type TransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await harness.expectSound();
});
afterAll(() => harness.stop());

/** Number of answers by outcome. */
async function outcomes(answers: readonly Promise<Answer>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status, body } of await Promise.all(answers)) {
    const outcome = `${status} ${String(body?.code ?? 'done')}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));

test.each(['wrapped', 'token'])('fifty rotations and ten imports: sixty versions (custody %s)', async (custody) => {
  await harness.create(custody, { custody });
  const material = () => base64(Buffer.alloc(32, 7).toString('latin1'));
  const all = [
    ...times(50, () => harness.act(custody, 'rotate')),
    ...times(10, () => harness.act(custody, 'import', { data: material() })),
  ];
  expect(await outcomes(all)).toEqual({ '204 done': 60 });
  expect(await harness.state(custody)).toMatchObject({ 'latest-version': 61 });
});

test('two hundred merges without If-Match all arrive', async () => {
  await harness.create('merged', {});
  for (let version = 1; version <= 3; version++) await harness.do('merged', 'rotate');
  const all = times(200, (index) => harness.patch('merged', { 'min-encryption-version': 1 + (index % 4) }));
  expect(await outcomes(all)).toEqual({ '204 done': 200 });
});

test('trims and merges during rotations', async () => {
  await harness.create('trimmed');
  await harness.do('trimmed', 'rotate');
  const all = [
    ...times(10, () => harness.act('trimmed', 'rotate')),
    ...times(10, () => harness.act('trimmed', 'trim', { version: 2 })),
    ...times(10, () => harness.patch('trimmed', { 'min-decryption-version': 2 })),
  ];
  expect(await outcomes(all)).toEqual({ '204 done': 30 });
  expect(await harness.state('trimmed')).toMatchObject({ 'latest-version': 12 });
});

test('restores over one another: the last one stays', async () => {
  await harness.create('source', { 'allow-plaintext-backup': true, 'deletion-allowed': true });
  const { key } = await harness.do('source', 'backup');
  await harness.create('target');
  expect(await outcomes(times(10, () => harness.act('target', 'restore', { key })))).toEqual({ '204 done': 10 });
});

test('a key that is made while the wrapping key of its token is rotated is made again, whatever it is made for', async () => {
  await harness.create('kept', { 'allow-plaintext-backup': true });
  const { key } = await harness.do('kept', 'backup');
  const making: Readonly<Record<string, () => Promise<Answer>>> = {
    creation: () => harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'made' }),
    rotation: () => harness.act('kept', 'rotate'),
    restore: () => harness.act('made', 'restore', { key }),
    'the wrapping key of imports': () => harness.request('GET', '/v1/state/keystore/wrapping-key'),
  };
  for (const [what, make] of Object.entries(making)) {
    const admit = vi.spyOn(WrappingRotation.prototype, 'admit').mockImplementationOnce(() => {
      throw fail('conflict', { overtaken: true });
    });
    expect((await make()).status, what).toBeLessThan(300);
    expect(admit.mock.calls.length, what).toBeGreaterThan(1);
    admit.mockRestore();
  }
});
