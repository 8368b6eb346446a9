// Many change one key at the same time: each change is made, one after another, and nobody is told to try again.
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { fail } from '../../../../core/base/errors.ts';
import { WrappingRotation } from '../../../../appliance/wrapping-keys/rotation.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type Answer, base64, startTransitHouse, type TransitHouse } from '../harness.ts';

const directory = temporaryDirectory();
let house: TransitHouse;

beforeAll(async () => {
  house = await startTransitHouse(directory('house'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await house.expectSound();
});
afterAll(() => house.stop());

/** How often each outcome came. */
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
  await house.create(custody, { custody });
  const material = () => base64(Buffer.alloc(32, 7).toString('latin1'));
  const all = [...times(50, () => house.act(custody, 'rotate')), ...times(10, () => house.act(custody, 'import', { data: material() }))];
  expect(await outcomes(all)).toEqual({ '204 done': 60 });
  expect(await house.state(custody)).toMatchObject({ 'latest-version': 61 });
});

test('two hundred merges without If-Match all arrive', async () => {
  await house.create('merged', {});
  for (let version = 1; version <= 3; version++) await house.do('merged', 'rotate');
  const all = times(200, (index) => house.patch('merged', { 'min-encryption-version': 1 + (index % 4) }));
  expect(await outcomes(all)).toEqual({ '204 done': 200 });
});

test('trims and merges during rotations', async () => {
  await house.create('trimmed');
  await house.do('trimmed', 'rotate');
  const all = [
    ...times(10, () => house.act('trimmed', 'rotate')),
    ...times(10, () => house.act('trimmed', 'trim', { version: 2 })),
    ...times(10, () => house.patch('trimmed', { 'min-decryption-version': 2 })),
  ];
  expect(await outcomes(all)).toEqual({ '204 done': 30 });
  expect(await house.state('trimmed')).toMatchObject({ 'latest-version': 12 });
});

test('restores over one another: the last one stays', async () => {
  await house.create('source', { 'allow-plaintext-backup': true, 'deletion-allowed': true });
  const { key } = await house.do('source', 'backup');
  await house.create('target');
  expect(await outcomes(times(10, () => house.act('target', 'restore', { key })))).toEqual({ '204 done': 10 });
});

test('a key that is made while the wrapping key of its token is rotated is made again, for whatever it is made', async () => {
  await house.create('kept', { 'allow-plaintext-backup': true });
  const { key } = await house.do('kept', 'backup');
  const making: Readonly<Record<string, () => Promise<Answer>>> = {
    creation: () => house.request('POST', '/v1/config/keystore/transit-keys', { name: 'made' }),
    rotation: () => house.act('kept', 'rotate'),
    restore: () => house.act('made', 'restore', { key }),
    'the wrapping key of imports': () => house.request('GET', '/v1/state/keystore/wrapping-key'),
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
