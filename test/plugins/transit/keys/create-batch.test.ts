// Creation of many keys in one request: each as if it were created alone, each answered on its own, all named in the audit trail.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, ok, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
const list = '/v1/config/keystore/transit-keys';
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'));
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

const send = (items: unknown, query = '') => harness.request('POST', `${list}-batch${query}`, { 'batch-input': items });
const codesOf = (results: readonly { code?: string; reference?: string }[]) => results.map(({ code, reference }) => [code, reference]);
const lastRecord = () => harness.records().findLast(({ path }) => path === `${list}-batch`);

const createdIn = (record: ReturnType<typeof lastRecord>): readonly string[] => (record?.['created'] ?? []) as string[];

describe('a batch of creations', () => {
  test('makes keys that are what single creations make', async () => {
    const fields = [
      {},
      { cipher: 'ecdsa-p256', exportable: true },
      { derived: true, 'convergent-encryption': true },
      { 'auto-rotate': { 'rotate-after': '90d' } },
    ];
    const { status, body } = await send(fields.map((one, n) => ({ name: `many-${n}`, ...one, reference: `row ${n}` })));
    expect([status, body.failed]).toEqual([200, 0]);
    for (const [n, one] of fields.entries()) {
      const { name: _, ...single } = await harness.create(`single-${n}`, one);
      expect(body['batch-results'][n]).toEqual({ name: `many-${n}`, ...single, reference: `row ${n}` });
      expect(await harness.config(`many-${n}`)).toEqual({ name: `many-${n}`, ...single });
    }
    const { ciphertext } = await harness.do('many-0', 'encrypt', { plaintext: base64('hello') });
    expect((await harness.do('many-0', 'decrypt', { ciphertext })).plaintext).toBe(base64('hello'));
    await harness.do('many-1', 'sign', { text: base64('hello') });
  });

  test('answers what is wrong with an entry in its place, and creates the others', async () => {
    await harness.create('taken');
    const { status, body } = await send([
      { name: 'good-1', reference: 'first' },
      { name: 'taken', reference: 'there' },
      { name: 'Bad Name' },
      { cipher: 'ed25519' },
      { name: 'no-such-cipher', cipher: 'rot13', reference: 'cipher' },
      { name: 'unknown-field', colour: 'red' },
      { name: 'long-reference', reference: 'x'.repeat(257) },
      { name: 'twice' },
      { name: 'twice', cipher: 'ed25519' },
      { name: 'good-2', reference: 'last' },
    ]);
    expect([status, body.failed]).toEqual([200, 7]);
    expect(codesOf(body['batch-results'])).toEqual([
      [undefined, 'first'],
      ['already-exists', 'there'],
      ['invalid-value', undefined],
      ['missing-field', undefined],
      [expect.stringMatching(/unsupported-cipher|invalid-value/), 'cipher'],
      ['unknown-field', undefined],
      ['invalid-value', 'x'.repeat(257)],
      [undefined, undefined],
      ['already-exists', undefined],
      [undefined, 'last'],
    ]);
    expect(await ok(200, harness.request('GET', `${list}/long-reference`)).catch(() => 'absent')).toBe('absent');
    expect((await harness.config('twice')).cipher).toBe('aes256-gcm96');
    expect(lastRecord()).toMatchObject({ status: 200, 'request-parameters': { items: 10, failed: 7 } });
    expect(new Set(createdIn(lastRecord()))).toEqual(new Set(['good-1', 'twice', 'good-2']));
  });

  test('of a thousand with the longest names has every name in its audit record', async () => {
    const names = Array.from({ length: 1_000 }, (_, n) => `${'n'.repeat(123)}-${String(n).padStart(4, '0')}`);
    const publicKey = (await harness.state('many-1')).keys['1'];
    // Keys that only verify need no work in the token.
    const { body } = await send(names.map((name) => ({ name, cipher: 'ecdsa-p256', 'public-key': publicKey })));
    expect(body.failed).toBe(0);
    expect([...createdIn(lastRecord())].toSorted()).toEqual(names);
  });

  test('with validate=true checks every entry and creates none', async () => {
    const { status, body } = await send([{ name: 'dry' }, { name: 'Wrong' }], '?validate=true');
    expect([status, body.failed]).toEqual([200, 1]);
    expect((await harness.request('GET', `${list}/dry`)).status).toBe(404);
    expect(lastRecord()).not.toHaveProperty('created');
  });

  test('sent by two callers at once creates each key once', async () => {
    const items = Array.from({ length: 40 }, (_, n) => ({ name: `raced-${n}` }));
    const answers = await Promise.all([send(items), send(items)]);
    expect(answers.map(({ body }) => body.failed).reduce((sum, failed) => sum + failed, 0)).toBe(40);
  });

  test.each([
    ['nothing', {}],
    ['no entries', { 'batch-input': [] }],
    ['1,001 entries', { 'batch-input': Array.from({ length: 1_001 }, (_, n) => ({ name: `over-${n}` })) }],
    ['entries that are no objects', { 'batch-input': [1, null, 'x'] }],
    ['a field beside them', { 'batch-input': [{ name: 'beside' }], name: 'x' }],
  ])('with %s is refused whole', async (_, body) => {
    expect((await harness.request('POST', `${list}-batch`, body)).status).toBe(400);
  });
});
