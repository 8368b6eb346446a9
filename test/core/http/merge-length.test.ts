// A merge of long lists looks at each element as often as it must, and a list that no field takes is refused before that.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { mergeDocument, withoutRepeats } from '../../../core/http/resource/merge.ts';
import { shapeOf } from '../../../core/wire/schema.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
});
afterAll(() => appliance.close());

let looks = 0;
const counted = (from: number, count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({
    get number() {
      looks += 1;
      return from + index;
    },
  }));
const shape = shapeOf(z.object({ list: z.array(z.object({ number: z.number() })) }));

test.each([
  ['united', () => mergeDocument(shape, { list: counted(0, 1_000) }, { list: counted(500, 1_000) })],
  ['freed of repeats', () => withoutRepeats(shape, { list: [...counted(0, 1_000), ...counted(500, 1_000)] })],
])('lists are %s by looking at each element a few times', (_, merge) => {
  looks = 0;
  expect((merge() as { list: object[] }).list).toHaveLength(1_500);
  expect(looks).toBeLessThanOrEqual(3 * 2_000 + 1_500);
});

test('elements are the same in whatever order they have their members, and only then', () => {
  const base = { list: [{ a: 1, b: { c: [1, 2], d: null } }, '1', null] };
  const more = { list: [{ b: { d: null, c: [1, 2] }, a: 1 }, { a: 1, b: { c: [2, 1], d: null } }, 1, '1', null] };
  expect(mergeDocument(undefined, base, more)).toEqual({ list: [...base.list, more.list[1], 1] });
});

test.each(['', '?validate=true'])('a list that is too long is refused as such, not for each element%s', async (query) => {
  const keys = '/v1/config/keystore/transit-keys';
  await appliance.request('PUT', `${keys}/app`, { cipher: 'ecdsa-p256' });
  const answer = await appliance.request('PATCH', `${keys}/app${query}`, {
    'openpgp-key-usage': Array.from({ length: 3_000 }, (_, index) => [index]),
  });
  const detail = '"openpgp-key-usage" must be at most 8 elements long.';
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-value', detail } });
  expect(answer.body.items ?? []).toHaveLength(0);
});
