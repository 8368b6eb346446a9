// Keys of ML-KEM (FIPS 203) in tokens that have it: HPKE opens in the token, and a secret comes out of a key alone that was made to give it.
import { createPrivateKey, createPublicKey, decapsulate, encapsulate, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { findModules } from '../../../harness/token/modules.ts';
import { type TransitHarness, base64, codeOf, startTransitHarness } from '../harness.ts';

const ciphers = ['ml-kem-768', 'ml-kem-1024'] as const;
const [, ...modules] = await findModules();
const directory = temporaryDirectory();

const octetsOf = (ciphertext: string): Buffer => Buffer.from(String(ciphertext.split(':').at(-1)), 'base64');
const flipped = (octets: Buffer, at: number): string =>
  base64(Buffer.from(octets.map((octet, index) => (index === at ? octet ^ 1 : octet))));

/** The key of nobody to which Go has sealed: its seed are two hashes. */
function knownKey(cipher: (typeof ciphers)[number]): KeyObject {
  const seed = Buffer.concat(['d', 'z'].map((part) => hash('sha256', `keystored ${cipher} ${part}`, 'buffer')));
  return createPrivateKey({ key: seed, format: 'raw-seed', asymmetricKeyType: cipher });
}

describe.each(modules)('in $name', (module) => {
  let harness: TransitHarness;
  beforeAll(async () => {
    const [own, more] = ['harness', 'token'].map((name) => directory(`${module.name.replaceAll(' ', '-')}-${name}`)) as [string, string];
    mkdirSync(more);
    harness = await startTransitHarness(own, { moreTokens: [await module.make(more)] });
  });
  afterEach(() => harness.expectSound());
  afterAll(() => harness.stop());

  const publicKeyOf = async (name: string, version = '1') => createPublicKey((await harness.state(name)).keys[version]);
  const importKnown = async (name: string, cipher: (typeof ciphers)[number]): Promise<void> => {
    await harness.create(name, { cipher });
    await harness.do(name, 'import', { data: knownKey(cipher).export({ format: 'pem', type: 'pkcs8' }) });
  };

  /** Sealed by crypto/hpke of Go 1.26 to keys of nobody, with `info` and `aad`. */
  const byGo = [
    {
      cipher: 'ml-kem-768',
      kdf: 'hkdf-sha256',
      aead: 'aes-256-gcm',
      ciphertext:
        'DPhxX2e86XSHzbltvdyxDiZvj6Hj2xoNEb/mGVTagcpy7nGn1amvKusbNbsFwTp2bxlkK8IGetTziY5g8qNuOyBOEE5WDsoXY3nILmeE4t83lDk4CA3BFyjA4zVfKZXu0kHCAfs/5v6O4zcT/j4F+sievpnEFbd4e6dCFL6iBbdLpcPsVOEGBBhy7F6/z43p2H98uNvsM+TFBmU4MqWxGjokv1XbCcexCxHGxu8wXYDIp4hwRiVH1quKXLwZtiu0uS1UymaJVw3FhwjeQQU6JxB3wOHR0FKypFm8ZM0+usW3us/mh8STtJoW25AV87mqR64CI01fRRqk69teEYd5f86sJS3tRISJL4ftk183RThXvkESVMjFVlCOZtiDZnew/tYwe90yv/haPVWGNOu8P4fSdPK/R8Mu64LFAtxYJ+9wVsQR+kk8vzSrsndNTTCdpDczF4ry1c3aWZVheadpoV1qe3vOzjXofTeY0ou6iZO07b4fHUYw/BAAwdFfsjAjK71OhgZqvPoUCYboIV+6rDNNdm5SCeDlm+hzHkZRWRf8rX1IDacS4KZ4RRarMuiABQJ2XHoj4GNZuw0VCNTGRaIAqmKFm7G8vKSWwHvYPy1vqvbqC6cJAkjurPKybMPmyszqc0OyxPKluKJclPpXa2DI8peg0zNw2k1/dKNdNwzhlvOazY4iiUBnIUB19hDfkCIasTdNOUComn2G8RFYCYby2VVFatng2vikFo4ob11P0hTs1pZDZs7BfIpW/sqa3/EMohOn1OVf4d9gfEx64W361n15QKHR8l/v/f0amRlnDctl6tlzzAESc1TMpgeM7Cs+HI6u13hSCYFUxlzlD2WUj/TLHSL41pCaYCA2S00H4GmU4pFz595iSDjDbfKXP6p8Ok1V19HUvQN2t8bVQotz3lmiTwM4goO9g6EL3ueo6Nl2Btfh0InjEsUoE2i88wuKtx5jDtpU2OVh9OcaJ81IEWHOZFeG2EmgzG0K/j8v1AcjI8O2DeN+kzTIXMakviBzEw30nzpEGlN3KhQDGVF+gZONhBNTaS1mHQsOp3TEVfglAbwYCbDAt/RbwzFEMvp36wxJFUQ4VK+G0x13ZCa9aXZHDtID5DKNQPgu8pXcwXiXcVD1kOpmP4RngpG/xz2Deci9v4MXdlKnbRjcuC/4BlRfhkAmIETUMTc5NkzIpyTDU6NvESREp1X0LZo08F5qmD1jOsm/Spjd1RDbB2OrDB4TYUlj19lKfrX03oh9L//j48ZUIVMqTF6SoYBL43IkAHkysET/pX6/sML0sAtu9H9sURFiOpMpZGbVy8aBMXn5JtDVGDPOIJoItaeP7CVmaocePu5YNEti6t45l2vlry4dmq28wSDqyGPNNVFmUFMZBuq+lJ9xWme1QGjhiwgLvZYdV5Soj5M3Sdf9JT3pZ3+j8ZsvFzrE1xF3sgZrPOQqIpKHjp2f/4d8StdEUwyhrWa4o25nk+Nc',
    },
    {
      cipher: 'ml-kem-1024',
      kdf: 'hkdf-sha512',
      aead: 'chacha20-poly1305',
      ciphertext:
        'imfaCiHeV8oQhSlT6+DeQbS0e8mExikP0Of7aQbe6KOjYLOcO7d5ht5qBD5CxNmNCN/QnSXVSJFEyqk61PXLba4sR7hU+U619PlBIOSIzIp+KwVJePgckyFfpi2B1Tz11NU8tHEoZiktzzbdVZjIVZTrTpS0C3SpbMOJu5DYDxGRDNN/2GP88Ew7jeJe6HA62eBGn95AuLIZN2HkkuWqcQGNX4ZpNsZTGFoVmofd1RlB7XRQL97Ok6pPzhEhHrHVU2frur04RAyJNpwZdCdDpzVjv3BHEFy2PxBiQ+ZhUGEe1a4WmOjS1773YUA8kNBkHtgWam80FZJTVt+ujraM8KWhBr0u76t8QBaYnm5HnYxqKMG2zB7X+N17F3ddSFV/Dh4E4nTOe5AEhyOJ1h0nGXtIaFYD7uG43oLfbt7MiMbc39Q3rN2t8qsoJrWEdmFqf7CtZ0sqzbF1pHTAfNBg6u22jkaaqQXB2cXe/KZuGWmnfgfL3vpyO2dYgUyfEgaQFESQgQh2921VOLV81D1+T8eu90HqiPlGtEzm4srl60kaTQutjuVFnBC9Ilch/eXJxt32xEyadpXoE1ZCt4uEai4LM0vrBuklFJnsALHb0CY/11t1LfjlEp8Wdh2vTSXY3D6qSgqskwYirZ5omuNWX8uVFfVs7frH+O7+013rVCH96TA5orh8PQ2y16QO2sAAxXh1SjtZA938VtpOq5kEbub7IKZ7TfYkruCpJPjVJZb406wKmklAvXjwmgtiY4BDuIKxO14F6Vp7/iOADvaF0yWOmHbUnkMevJYln29hASt6xS0aC1dW5WEPxfAlwNTb4k7Ztk5h9adrl5BXzARS12h6sAk5RLVUVMGWwjA/07jqsLhLH0DG4PGLQ8WYsZSKGVocMsniS1HJHRAINYybWd+PzefJ+qZ8iG3GCguQoNaSQO5gs0LuNW2yVtthWV4Cd3NVE+Cy6vnKr8APkCIaHpdVLMjwZkr2jYD5X1uls4A3RQcHMAe2M+MD1QKGmoLWrU6dPjWrjPmcNU1sj73UQt8G6QHj7NF5mrkPjKk6l3Gsi8YtMxdy2QAzvzL7af1YbsbLClysBGO8W/YteZq8B/Ymg7QI0+3W584oik7brCzgL9AGUYw4eBz4mAPXQ4hhcpil5e23iN5up3uM4GMpBClBCxqjy15H2+nrahrp24ZtR06Jc9Pniq/7OA0jJpxNH7x+RSq+P9FxYMp47JAJblXhR/83Qx37inUXby0Gzph9RfFFFlMgKR0ac4VBPTuM77w+rw8FS4TGB+q3TR5u2qDGasDdyue1TJ9MZZbN2E/IFa7WT+4PxFxGeAW5Qc041CSGai+rgW9VmCoul2xTypwjl6MOgKIeP5bOmkMHGAMpKzjCj2xa+t/X2BEYpa5vJ3TnsJh4kSbg9/pnJ8WlKaKnT52qz/jR45ixOpqsI6/2AVBWM5a6XrGk7WFz6w53J+lqopuZP9/qtT2kFo0mJd+qwSPqJdkN2a1WeayFHUpRoIcFfYNWesryuEFDuTF0SVlbwUDrnQQ1Jz2TJtCUO8DIov01opwjHgMvwl9p+foIvDyoL0iyifracErv88v5xm1KNV7TNXQESchkPdSdnYmeolGk0R68YX/TTKS7q6HG3hn8rrVp5baP3puxUMCRXNYfUERawvQn4tLsaFB61qQPAeQFo25YXxJX/3tS1W2W2NAVfLrVDd0g8aKecfpoYrmfuRm7EQUzgluNstd4xT5TPF+ovfz2x3wVKvqW4TvVDHYbBWLsiRUSCfJpZYiuNhEdBSJK+8nm4WxmASAK3BDJTw332zSq7AnmYboMZcZkhKWBRP2LCickYRMdckrrytG/xIpG4GX7eVodOFPNu2siZ/bO1bQ9XRrHHyKZeEmqfdiXnu6SDXtcOPQunL4qEBm2qlh5SljR4NsCxSbfasRH96me+N3D6PuDlE1wiJCtZ5+MGJGoasDE9jAhRWWQB0TZW5Wscfd1aYExhEkofXplSllzCRhfIS9znroSE4Y4Ov1DajTmgWqrYygDoWoMu6QYJd0suQex8r9TGNhx/Mc/lwJvfWBmAfYbB+sfqcR7w2d5GfXWHlxKNeyVjLdXHlw+rEUSuW65ANqE',
    },
  ] as const;

  test.each(byGo)('opens what Go has sealed to $cipher by $kdf and $aead, and nothing that differs from it', async (vector) => {
    const { cipher, ciphertext, ...suite } = vector;
    const name = `go-${cipher}`;
    await importKnown(name, cipher);
    const request = { ciphertext, format: 'hpke', ...suite, info: base64('info'), 'associated-data': base64('aad') };
    expect(await harness.do(name, 'decrypt', request)).toEqual({ plaintext: base64('sealed by Go'), 'key-version': 2 });
    const octets = octetsOf(ciphertext);
    const wrong = [
      ...[0, 700, octets.length - 29, octets.length - 1].map((at) => ({ ...request, ciphertext: flipped(octets, at) })),
      { ...request, ciphertext: base64(Buffer.alloc(octets.length)) },
      { ...request, info: base64('another') },
      { ...request, 'associated-data': base64('another') },
      { ...request, aead: 'aes-128-gcm' },
      // Version 1 is another key, which is not tried unless it is named.
      { ...request, 'key-version': 1 },
    ];
    const answers = await Promise.all(wrong.map((one) => harness.refused(400, 'decryption-failed', name, 'decrypt', one)));
    expect(new Set(answers.map(({ detail }) => detail)).size).toBe(1);
    const short = base64(octets.subarray(0, octets.length - 13));
    await harness.refused(400, 'invalid-format', name, 'decrypt', { ...request, ciphertext: short });
    for (const format of ['raw', 'jwe', 'age']) await harness.refused(400, 'invalid-value', name, 'decrypt', { ciphertext, format });
  });

  test.each(ciphers)('%s: encapsulates as everybody can, and decapsulates what anybody has encapsulated', async (cipher) => {
    await harness.create(cipher, { cipher, 'allow-shared-secret': true, exportable: true });
    const state = await harness.state(cipher);
    expect(state).toMatchObject({
      use: 'decapsulate',
      'supports-encryption': false,
      'supports-decryption': true,
      'supports-signing': false,
    });
    expect(state.actions).toEqual(expect.arrayContaining(['decrypt', 'encapsulate', 'decapsulate']));
    const made = await harness.do(cipher, 'encapsulate');
    expect(made).toMatchObject({ ciphertext: expect.stringMatching(/^store:v1:/), 'key-version': 1 });
    const { ciphertext, 'shared-secret': secret } = made;
    const given = { 'shared-secret': secret, 'key-version': 1 };
    expect(await harness.do(cipher, 'decapsulate', { ciphertext })).toEqual(given);
    expect(await harness.do(cipher, 'decapsulate', { ciphertext, 'key-version': 1 })).toEqual(given);
    const exported = createPrivateKey((await harness.do(cipher, 'export', {})).keys['1']);
    expect(base64(decapsulate(exported, octetsOf(ciphertext)))).toBe(secret);

    await harness.do(cipher, 'rotate');
    expect(await harness.do(cipher, 'decapsulate', { ciphertext })).toEqual(given);
    const outside = encapsulate(await publicKeyOf(cipher, '2'));
    const item = { ciphertext: base64(outside.ciphertext) };
    const { 'batch-results': results } = await harness.do(cipher, 'decapsulate', {
      'batch-input': [item, { ...item, 'key-version': 1 }, { ciphertext: base64('short') }],
    });
    expect(results[0]).toEqual({ 'shared-secret': base64(outside.sharedKey), 'key-version': 2 });
    // Implicit rejection: another key has another secret for it, and no error.
    expect(results[1]).toMatchObject({ 'key-version': 1 });
    expect(results[1]['shared-secret']).not.toBe(base64(outside.sharedKey));
    expect(results[2]).toMatchObject({ code: 'invalid-format' });
    const changed = { ciphertext: flipped(outside.ciphertext, 5) };
    const [one, again] = [await harness.do(cipher, 'decapsulate', changed), await harness.do(cipher, 'decapsulate', changed)];
    expect(one).toEqual(again);
    expect(one['shared-secret']).not.toBe(base64(outside.sharedKey));
    expect(harness.written()).not.toContain(secret);
  });

  test('a flood of ciphertexts that nobody has made costs others nothing: each has its answer, and the host of the token stays', async () => {
    await harness.create('flooded', { cipher: 'ml-kem-768', 'allow-shared-secret': true });
    const { ciphertext, 'shared-secret': secret } = await harness.do('flooded', 'encapsulate');
    const lengths = Array.from({ length: 120 }, (_, at) => ({
      ciphertext: base64(Buffer.alloc(at % 2 === 0 ? 1088 : 1087 + (at % 5), at)),
    }));
    const flood = lengths.map((item) => harness.act('flooded', 'decapsulate', item));
    const right = Array.from({ length: 30 }, () => harness.act('flooded', 'decapsulate', { ciphertext }));
    expect(new Set((await Promise.all(right)).map(({ body }) => body['shared-secret']))).toEqual(new Set([secret]));
    expect([...new Set((await Promise.all(flood)).map(({ status, body }) => `${status} ${body.code ?? ''}`))].sort()).toEqual([
      '200 ',
      '400 invalid-format',
    ]);
  });

  test('a key that was not made for it gives no secret, and none begins to', async () => {
    await harness.create('inside', { cipher: 'ml-kem-768' });
    expect((await harness.state('inside')).actions).not.toContain('decapsulate');
    const { ciphertext } = await harness.do('inside', 'encapsulate');
    await harness.refused(400, 'operation-not-supported', 'inside', 'decapsulate', { ciphertext });
    expect(await codeOf(harness.patch('inside', { 'allow-shared-secret': true }))).toEqual({ status: 409, code: 'immutable-field' });
    for (const action of ['encrypt', 'sign', 'rewrap', 'generate-data-key'])
      expect((await harness.act('inside', action, { plaintext: base64('x'), text: base64('x'), ciphertext })).status, action).toBe(400);
    await harness.create('signs', { cipher: 'ed25519' });
    await harness.refused(400, 'operation-not-supported', 'signs', 'encapsulate');
    await harness.refused(400, 'operation-not-supported', 'signs', 'decapsulate', { ciphertext });
  });

  test('a key in token custody decapsulates', async () => {
    await harness.create('object', { cipher: 'ml-kem-768', custody: 'token', 'allow-shared-secret': true });
    const { sharedKey, ciphertext } = encapsulate(await publicKeyOf('object'));
    expect((await harness.do('object', 'decapsulate', { ciphertext: base64(ciphertext) }))['shared-secret']).toBe(base64(sharedKey));
  });

  test('imports a key of the cipher with its seed alone', async () => {
    await harness.create('taken', { cipher: 'ml-kem-768' });
    const pem = (key: KeyObject) => key.export({ format: 'pem', type: 'pkcs8' });
    await harness.refused(400, 'key-type-mismatch', 'taken', 'import', { data: pem(knownKey('ml-kem-1024')) });
    await harness.refused(400, 'key-type-mismatch', 'taken', 'import', { data: pem(generateKeyPairSync('x25519').privateKey) });
    await harness.refused(400, 'invalid-key-data', 'taken', 'import', { data: expandedKey });
  });
});

test('a token without ML-KEM makes no such key, and nobody makes one of a public key', async () => {
  const harness = await startTransitHarness(directory('without'));
  const refused = (fields: object) => codeOf(harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'none', ...fields }));
  const expected = { status: 400, code: 'unsupported-cipher' };
  for (const cipher of ciphers) expect(await refused({ cipher })).toEqual(expected);
  const misfit = { status: 400, code: 'invalid-value' };
  const publicKey = createPublicKey(knownKey('ml-kem-768')).export({ format: 'pem', type: 'spki' });
  expect(await refused({ cipher: 'ml-kem-768', 'public-key': publicKey })).toEqual(misfit);
  expect(await refused({ cipher: 'ed25519', 'allow-shared-secret': true })).toEqual(misfit);
  expect(await refused({ cipher: 'ml-kem-768', use: 'agree' })).toEqual(misfit);
  await harness.stop();
});

/** The same key in its expanded form, without the seed (RFC 9935 section 6), as @noble/post-quantum computes it. */
const expandedKey =
  'MIIJeAIBADALBglghkgBZQMEBAIEgglkBIIJYLRjYgJ5fqYqELyWaMgiQBSKGbF6KWqYlaH7s9o1x6TBE9+4z3vljbDqkxpkSTYG0EulGCRqRv8JEXtzmFxoPyCkSBkXrAFrHWmawi+joBRqDh+2QvrTBIjHVNq8h0vmuISjtH+jJkfgDhkntiwWxBkxmUTwPYPMFO/jHGKrCIKsL7LlxmqyExASZg8GTxTWwFZAcgfcGblQkZ8GA7AkbXcqjV/RH+nygavWoP2ErxsWrRNlfCaAa4QabY/5YeOsvQ7HxXksHHjKU4DQCP6ZZkkzCIp2PXWzgeNhpw8qpwJ0rv9LjADVjNzckx8ArbtLnn8VRw6abHZcyIhWIKWDPVZcRtwjn/xbZp/IrAj7U3qBqLBVPPj4nXcSGHsYLCSHtDgrHuaUNO76LSKFDYX4GSDFf+L5hcNzLIJwNMUsNjMlu0giOOqrW63LR8E2knnLuWGAmNGwva77E6tCZw6pNc+SZAuiDgrJto4JMrP0mZ3Yk2vYP9LAXUq1tkOyTEcKELZBd4OIINlUUIbqCh8XDw+8LYLlEQ94zo/MKG5IsobQrtd5Hxmkbo66nfYqF5BFk8N4Kl70yLujX+FTyGzxlcRzu7N2Jf3seOOkxdjsFFXcLHSmnA0kvyZHEnjLjzkIAFtcjHUGiLcMi5L8COSGPjFlxoqYKV3hIZ0XqVEGw22ULQbSCcnAwR0nbnGDZnSqDWRcsbJRLhscGYSDW15qTy8sgdiXhwt0IOGTCaLhEhiQVVU8B8fZMLWkYqxgvWM8CcckInqwCJujb1PLa0lXqlu6xKDXMYgXDusKHq76p0dph3VoJ5E5qTEgubm4KFEzPF/bdCfRIH1sO+e0xdGaYFyggW16CKvoN9F6E38BYFtnDq9mqJWLrGYkeKIaQCfsqKsMZU2Zi3QAUtOog5D5rFSkHDUGrxBTnf0YUwj7UaRrcxYbHcebOHM7aTT3SdDcwwE1zd4YDYPin6/nCI21QXTBcPgrvucSKkrbdspIaWzboGW0GC30T32QqEsDWmpRt+WjojNcqO1HMyyXtMXDsUn3Dkc4efiFWFDUrhjRBuH5S1zAr6RGlfsIe7gRU49RNM3pt5d4pV85XYAjmiYMEIqVVsTpPjlpNTYaHSyrh/9AgBIZDaPZMmWRb46MPogpDKLlpLYraBSiFep4d112zqObd+IBeanyJ7+WQ0PnczXcSBwLZ+BYRqMIrlUQFDeILOPKpg3WUtZIThkTH9mgy696HlZKzyJZoSn1Rm7IuRMCvbHGLTtKRHRMdFlar9ShdyCKx3rqZYuqz2PDN5AJaoigpHMwSSl1too8pv4HsV8DvWf5G+IKp8k1fnv7E6M1o4c5kheCy5kRajeUtcqkSINwaykyf9MaFYmWGX5VJdKYsn/hjwukrwpalP6ce3tabU0iLcWhDLMEauKZTb+VAHEKhKKav7pjJL4AU0qJlBH1JdAojDq5GD9ZtlS0Zi2SIV9YShYbV7/oz3s7lLRUSS3RmK9Ly5FsWNaspr57PtfclqGCwSmyuPXqxvwpZ+c6CaZKj4/JzYB1a2xpETBYML1jyHJgWYVArc5cr+oWaBgmRUFDoo44Ro/JeEsGIH6pRmxTCQ0aU980nNx6dBchUkgbrbUyit8kT65pVe86vZhJXFD4m1+AgKN5oaZxxRYJSYPhQi4kzoOsBkRmEQD8uCxKISqQXgLaxA0yZlRmSsuaY5CWwjiAv9JZJowcCEw6ZeQho0jgtF8xmA90UHw0ad8MBinjCxCwuWSAb/dCxNUqHuaZw5ucGoeLIMobdAuqZIcJRPkYKcs4VXEYhalWmFlhaAP3kERZHHsqUV4ayc6bclDKiaKhDjbyOWaqb+b5KlplV0ZCzAZBMNNxG7bmH7O7ALzgFizkEt2Bp5VcTlPLQ4Q4WwBcCFBFGx8opatiD3o2Kb9SUKbsY2SLNuETc1goIhIrT6OkKL5pl3GHLDt5aGl2jXzXtEkIebPoLE6Waz/BqQrcF9E8vR8JtJ6RSQcmzzrFfcwjRVLwSDNbYI9otyAzD5VAK+7pRskJFNd3q31iKwIapMrlX9vnaAiUKHziXDLbs3EpKXkbHesUgr1QbnWAQ69RXN8sa3HxQwPhY/fFjmKKnxloxkaMCmK4cCbZtyJJuZYSRysZCjf3J4PZr9m1WszGF9TkTJXCZqeQvqU0AuxgWOewpwzxactgi5u0wN2phBjJY4AJIrGgzFYrIM4CagkIXI1QmaCcsy3EMKRasm3Bn+MhcIt1xVv0nOZ5LmNaEYxRYq00dbwhp0k3E7BCIC/6cMlYax50VfwRoKJifgVbTB8yQDD6EfWXAy2QfwcAAJyjjCrhvkZEM0jrhMlIr0oEji5hB4XqL+8xvC4XkJgjOJqwj5IIf52JNf3qYG42Q+nig/fBpC40flaHtIRnWzT3hqorYhoJffLbdq+aADsYMcfAYhq5q34Zu46YT4qnZpmFmWvQoc0nXcMhJ+CmqLIALPGoiD1cIoU4JliBnq08RzqDmzi8SB9Ce81cfzc4RDMIt6Ubl6LXdpVrsAMBpzm7X5RbZiokCmgwYnwcMmBYfCaQupVwvB0XHHj5m0p8BheUmwM5F/3DAvy2oQjApdt1kQy0bPYmBtLMe3oTP8FgOsikjEg0y6QAs1DbHakhk6twofhIjkf2SWZWweFxdHO4d/tlU92ZPp3hsTxCeS8zZ142R8rVPR2gs6smdmKZpJbUPWg7EX28Talwb85Mo/3QcbBBr6oAjsrxxDulfuM7tpaAXOlFmB+QgI43yuVAtiFVbkxLJAKrUC62oVMWq78DRQJpMy9SM9cnqC4slL8wTs+bopfUy8Dwts93JNBot3CnAdvTn+S0w+y3DhSVYADgyepBGoBJW+ZmXdgTz9R5UNfZIBwhHKbXqnG1juKRK8Wwo5RQi6MFhl0rwarmutgZFXqGjl2FPCIWptLXVCLggoB0njl5Al4Ev8SQDhZFO5B8iOr7uqr1dln0R2YnqPXzZT5DCVGWYisYLiTyPl5zWXBpBtRwoBOHVPY1optMEoaHR71kLeerjtXhOqmcjtiTdWgjQg76iCqDtbNzK/hBhjLvLVt9MiFTqZGhD9B7pyMRttg9DV1R7LDQR+FyOFLfi+QfUdDlIx4NPBUCggpr8cwHHkk/tefJpVXwTfsVOHJZbC5eyPI0JfMSTUipAMdd1BO7iSKgkLDWug==';
