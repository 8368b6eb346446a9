// Random bytes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type TransitHarness, ok, startTransitHarness } from '../transit/harness.ts';

const path = '/v1/state/keystore/crypto-functions/random-bytes';
const directory = temporaryDirectory();
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'));
});
afterAll(() => harness.stop());

describe('random-bytes (api 44)', () => {
  test('32 octets in base64 unless the request says otherwise', async () => {
    const { bytes } = await ok(200, harness.request('POST', path, {}));
    expect(Uint8Array.fromBase64(bytes)).toHaveLength(32);
  });

  test('format hex, 1 to 131,072 octets', async () => {
    for (const bytes of [1, 33, 131_072]) {
      const answer = await ok(200, harness.request('POST', path, { bytes, format: 'hex' }));
      expect(answer.bytes).toMatch(new RegExp(`^(?:[0-9a-f]{2}){${bytes}}$`));
    }
  });

  test('two answers differ', async () => {
    const [one, other] = await Promise.all([0, 1].map(() => ok(200, harness.request('POST', path, {}))));
    expect(one.bytes).not.toBe(other.bytes);
  });

  test.each([0, 131_073, 1.5, '32', null])('bytes %j is 400 invalid-value', async (bytes) => {
    const { status, body } = await harness.request('POST', path, { bytes });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid-value' });
  });

  test('another format and an unknown field are 400', async () => {
    expect((await harness.request('POST', path, { format: 'base32' })).body.code).toBe('invalid-value');
    expect((await harness.request('POST', path, { count: 3 })).body.code).toBe('unknown-field');
  });

  test('the octets are neither in the audit trail nor in the log', async () => {
    const { bytes } = await ok(200, harness.request('POST', path, { bytes: 48 }));
    expect(harness.written()).not.toContain(bytes);
    expect(harness.written()).toContain('"request-parameters":{"bytes":48,"format":"base64"}');
  });
});
