// Random bytes (spec "Other management actions", api 44).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type TransitHouse, ok, startTransitHouse } from '../transit/harness.ts';

const path = '/v1/state/keystore/crypto-functions/random-bytes';
const directory = temporaryDirectory();
let house: TransitHouse;

beforeAll(async () => {
  house = await startTransitHouse(directory('house'));
});
afterAll(() => house.stop());

describe('random-bytes (api 44)', () => {
  test('32 octets in base64 unless the request says otherwise', async () => {
    const { bytes } = await ok(200, house.request('POST', path, {}));
    expect(Uint8Array.fromBase64(bytes)).toHaveLength(32);
  });

  test('format hex, 1 to 131,072 octets', async () => {
    for (const bytes of [1, 33, 131_072]) {
      const answer = await ok(200, house.request('POST', path, { bytes, format: 'hex' }));
      expect(answer.bytes).toMatch(new RegExp(`^(?:[0-9a-f]{2}){${bytes}}$`));
    }
  });

  test('two answers differ', async () => {
    const [one, other] = await Promise.all([0, 1].map(() => ok(200, house.request('POST', path, {}))));
    expect(one.bytes).not.toBe(other.bytes);
  });

  test.each([0, 131_073, 1.5, '32', null])('bytes %j is 400 invalid-value', async (bytes) => {
    const { status, body } = await house.request('POST', path, { bytes });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid-value' });
  });

  test('another format and an unknown field are 400', async () => {
    expect((await house.request('POST', path, { format: 'base32' })).body.code).toBe('invalid-value');
    expect((await house.request('POST', path, { count: 3 })).body.code).toBe('unknown-field');
  });

  test('the octets stand neither in the audit trail nor in the log', async () => {
    const { bytes } = await ok(200, house.request('POST', path, { bytes: 48 }));
    expect(house.written()).not.toContain(bytes);
    expect(house.written()).toContain('"request-parameters":{"bytes":48,"format":"base64"}');
  });
});
