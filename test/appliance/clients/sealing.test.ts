// Sealed data in the TypeScript client: the fixed vectors, what is found of changes, the bounds of cached data keys, and rewrapped headers.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { DataKeyCache, type DataKeySource } from '../../../appliance/clients/typescript/src/sealing/data-keys.ts';
import { headerBytes, pieceBytes, SealedDataError } from '../../../appliance/clients/typescript/src/sealing/format.ts';
import { open, rewrapHeader, seal, sealWith } from '../../../appliance/clients/typescript/src/sealing/sealing.ts';
import { plaintextOf, type Vector } from '../../vectors/sealed/make.ts';

const vectors = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../vectors/sealed/sealed.json'), 'utf8')) as Vector[];
const sealedPiece = pieceBytes + 16;

/** A key whose data keys are wrapped by nothing but a name. */
function keysOf(owner: object = {}): DataKeySource & { readonly asked: string[]; readonly given: Uint8Array[] } {
  const known = new Map<string, Buffer>();
  const [asked, given]: [string[], Uint8Array[]] = [[], []];
  const give = (key: Uint8Array): Uint8Array => {
    const copy = new Uint8Array(key);
    given.push(copy);
    return copy;
  };
  return {
    ...{ id: 'orders', owner, asked, given },
    async make() {
      const [ciphertext, key] = [`store:v1:${known.size}`, randomBytes(32)];
      known.set(ciphertext, key);
      asked.push('make');
      return { ciphertext, plaintext: give(key) };
    },
    async open(ciphertext) {
      asked.push(`open ${ciphertext}`);
      const key = known.get(ciphertext);
      if (key === undefined) throw new Error('decryption-failed');
      return give(key);
    },
  };
}

async function whole(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(source));
}

function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'hex'));
}

describe('the format', () => {
  test.each(vectors)('vector of $length octets', async (vector) => {
    const plaintext = plaintextOf(vector.length);
    const parts = { plaintext: hex(vector['data-key']), ciphertext: vector['wrapped-key'] };
    const sealed = await whole(sealWith([plaintext], { ...parts, salt: hex(vector.salt), noncePrefix: hex(vector['nonce-prefix']) }));
    expect(sealed.subarray(0, vector.header.length / 2).toString('hex')).toBe(vector.header);
    expect(sealed.subarray(headerBytes).toString('hex', 0, (vector.pieces ?? '').length / 2)).toBe(vector.pieces ?? '');
    expect(createHash('sha256').update(sealed).digest('hex')).toBe(vector['sha-256']);
    const keys = { ...keysOf(), open: async () => hex(vector['data-key']) };
    expect((await whole(open([sealed], keys))).equals(plaintext)).toBe(true);
  });

  test.each([1, 17, 1_024, 65_536, 65_552, 70_000])('parts of %d octets come out as the whole', async (size) => {
    const [plaintext, keys] = [plaintextOf(150_000), keysOf()];
    const parts = (octets: Uint8Array): Uint8Array[] =>
      Array.from({ length: Math.ceil(octets.length / size) }, (_, index) => octets.subarray(index * size, (index + 1) * size));
    const sealed = await whole(seal(parts(plaintext), keys));
    expect((await whole(open(parts(sealed), keys))).equals(plaintext)).toBe(true);
  });

  test('a text and octets are sources, what is neither is a TypeError', async () => {
    const keys = keysOf();
    expect((await whole(open(seal('grün', keys), keys))).toString()).toBe('grün');
    expect((await whole(open(await whole(seal(Buffer.from('x'), keys)), keys))).toString()).toBe('x');
    await expect(whole(seal([5] as never, keys))).rejects.toThrow(new TypeError('a source gives octets (Uint8Array), not number'));
  });
});

describe('what is not as it was sealed is found', async () => {
  const keys = keysOf();
  const three = await whole(seal(plaintextOf(3 * pieceBytes), keys));
  const other = await whole(seal(plaintextOf(3 * pieceBytes), keys));
  const cache = new DataKeyCache({ maxUses: 10, maxAgeMs: 60_000 });
  const [one, sameKey] = [await whole(seal('one', keys, cache)), await whole(seal('two', keys, cache))];
  const pieces = [0, 1, 2].map((index) => three.subarray(headerBytes + index * sealedPiece, headerBytes + (index + 1) * sealedPiece));
  const [first = three, second = three, third = three] = pieces;
  const header = three.subarray(0, headerBytes);
  const flipped = (at: number): Buffer => {
    const copy = Buffer.from(three);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  };

  const cases: readonly (readonly [name: string, sealed: Buffer, released: number])[] = [
    ['nothing at all', Buffer.alloc(0), 0],
    ['half of a header', header.subarray(0, 500), 0],
    ['a header without pieces', header, 0],
    ['the last piece missing', Buffer.concat([header, first, second]), 1],
    ['an octet missing at the end', three.subarray(0, -1), 2],
    ['a piece missing in the middle', Buffer.concat([header, first, third]), 1],
    ['the first piece missing', Buffer.concat([header, second, third]), 0],
    ['two pieces in another order', Buffer.concat([header, second, first, third]), 0],
    ['a piece twice', Buffer.concat([header, first, first, second, third]), 1],
    ['an octet more', Buffer.concat([three, Buffer.alloc(1)]), 2],
    ['a piece more', Buffer.concat([three, third]), 2],
    ['an empty piece more', Buffer.concat([three, Buffer.alloc(16)]), 2],
    ['a piece of another stream', Buffer.concat([header, first, other.subarray(headerBytes + sealedPiece)]), 1],
    ['the header of another stream', Buffer.concat([other.subarray(0, headerBytes), first, second, third]), 0],
    [
      'the header of another stream under the same data key',
      Buffer.concat([sameKey.subarray(0, headerBytes), one.subarray(headerBytes)]),
      0,
    ],
    ['the wrapped key of another stream', Buffer.concat([three.subarray(0, 79), other.subarray(79, headerBytes), first, second, third]), 0],
    ['another magic', flipped(0), 0],
    ['another format', flipped(7), 0],
    ['another salt', flipped(8), 0],
    ['another nonce prefix', flipped(40), 0],
    ['another commitment', flipped(47), 0],
    ['another length of the wrapped key', flipped(80), 0],
    ['an octet behind the wrapped key', flipped(headerBytes - 1), 0],
    ['an octet of a piece', flipped(headerBytes + sealedPiece + 5), 1],
    ['an octet of a tag', flipped(three.length - 1), 2],
  ];

  test.each(cases)('%s', async (_, sealed, released) => {
    const got: Uint8Array[] = [];
    const reading = (async () => {
      for await (const octets of open([sealed], keys)) got.push(octets);
    })();
    await expect(reading).rejects.toBeInstanceOf(SealedDataError);
    expect(Buffer.concat(got).equals(plaintextOf(released * pieceBytes))).toBe(true);
  });

  test('a source that is left early is ended', async () => {
    const ended = vi.fn<() => void>();
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        yield header;
        yield first;
        yield second;
      } finally {
        ended();
      }
    }
    for await (const _ of open(source(), keys)) break;
    expect(ended).toHaveBeenCalledTimes(1);
    await expect(whole(open(source(), { ...keys, open: async () => randomBytes(32) }))).rejects.toThrow('is not the one that sealed this');
    expect(ended).toHaveBeenCalledTimes(2);
  });
});

test('a rewrapped header is as long, opens what is behind it, and nothing else', async () => {
  const keys = keysOf();
  const sealed = await whole(seal('4711', keys));
  const header = await rewrapHeader(sealed.subarray(0, headerBytes), async (wrapped) => `${wrapped}-under-version-12`);
  expect(header).toHaveLength(headerBytes);
  const again = { ...keys, open: (wrapped: string) => keys.open(wrapped.replace('-under-version-12', '')) };
  expect((await whole(open([header, sealed.subarray(headerBytes)], again))).toString()).toBe('4711');
  await expect(rewrapHeader(sealed.subarray(0, 1_000), async (wrapped) => wrapped)).rejects.toThrow('it is cut off');
  await expect(rewrapHeader(sealed.subarray(0, headerBytes), async () => 'x'.repeat(944))).rejects.toThrow('1 to 943 ASCII characters');
});

describe('cached data keys', () => {
  test('are used as often as they may be, to seal and to open', async () => {
    const [keys, cache] = [keysOf(), new DataKeyCache({ maxUses: 3, maxAgeMs: 60_000 })];
    const sealed: Buffer[] = [];
    for (const text of ['1', '2', '3', '4']) sealed.push(await whole(seal(text, keys, cache)));
    expect(keys.asked).toEqual(['make', 'make']);
    for (const one of [...sealed, ...sealed.slice(0, 1)]) await whole(open([one], keys, cache));
    expect(keys.asked.slice(2)).toEqual(['open store:v1:0', 'open store:v1:1', 'open store:v1:0']);
  });

  test('are used as long as they may be', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const [keys, cache] = [keysOf(), new DataKeyCache({ maxUses: 100, maxAgeMs: 1_000 })];
      await whole(seal('1', keys, cache));
      vi.advanceTimersByTime(999);
      await whole(seal('2', keys, cache));
      expect(keys.asked).toEqual(['make']);
      vi.advanceTimersByTime(1);
      expect(cache.size).toBe(0);
      await whole(seal('3', keys, cache));
      expect(keys.asked).toEqual(['make', 'make']);
    } finally {
      vi.useRealTimers();
    }
  });

  test('are overwritten with every copy of them', async () => {
    const [keys, cache] = [keysOf(), new DataKeyCache({ maxUses: 2, maxAgeMs: 60_000 })];
    const copies: Uint8Array[] = [];
    const slice = vi.spyOn(Uint8Array.prototype, 'slice').mockImplementation(function (this: Uint8Array, ...bounds) {
      const copy = this.subarray(...bounds).map((octet) => octet);
      if (this.length === 32 && bounds.length === 0) copies.push(copy);
      return copy;
    });
    try {
      const sealed = await whole(seal('1', keys, cache));
      await whole(seal('2', keys, cache));
      await whole(open([sealed], keys, cache));
      expect(cache.size).toBe(1);
      cache.clear();
    } finally {
      slice.mockRestore();
    }
    expect(copies).toHaveLength(3);
    expect([...keys.given, ...copies].every((copy) => copy.every((octet) => octet === 0))).toBe(true);
  });

  test('are no more than were asked for, and of one client', async () => {
    const [keys, cache] = [keysOf(), new DataKeyCache({ maxUses: 9, maxAgeMs: 60_000, maxKeys: 2 })];
    for (const id of ['a', 'b', 'c']) await whole(seal('x', { ...keys, id }, cache));
    expect(cache.size).toBe(2);
    await whole(seal('x', { ...keys, id: 'a' }, cache));
    expect(keys.asked).toHaveLength(4);
    await expect(whole(seal('x', keysOf(), cache))).rejects.toThrow('a cache of data keys serves one client');
  });

  test.each([
    [{ maxUses: 0, maxAgeMs: 1 }, 'maxUses: a whole number from 1'],
    [{ maxUses: 1, maxAgeMs: 0 }, 'maxAgeMs: milliseconds, more than 0'],
    [{ maxUses: 1, maxAgeMs: 1, maxKeys: 0.5 }, 'maxKeys: a whole number from 1'],
  ])('need bounds: %j', (bounds, message) => {
    expect(() => new DataKeyCache(bounds)).toThrow(new TypeError(message));
  });
});
