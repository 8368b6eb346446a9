// The key set of a provider: weak and malformed keys are dropped, and leave no error in OpenSSL's queue.
import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { withSoundKeys } from '../../../core/identity/provider-keys.ts';
import { takeOpensslErrors } from '../../harness/openssl-queue.ts';

const sound = { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }), kid: 'sound' };
const octets = (count: number): string => Buffer.alloc(count, 3).toString('base64url');

test('weak and malformed keys are dropped, others and unknown types stay', async () => {
  const keys = [
    { kty: 'RSA', n: octets(4_000), e: 'AQAB', kid: 'huge' },
    { kty: 'RSA', n: octets(128), e: 'AQAB', kid: 'small' },
    { kty: 'EC', crv: 'P-256', x: octets(32), y: octets(32), kid: 'off the curve' },
    { kty: 'OKP', crv: 'Ed25519', x: Buffer.alloc(32).toString('base64url'), kid: 'small order' },
    { kty: 'oct', k: 'AAAA' },
    sound,
    'no key',
  ];
  const judged = (await (await withSoundKeys(Response.json({ keys, other: 1 }))).json()) as object;
  expect(judged).toEqual({ keys: [{ kty: 'oct', k: 'AAAA' }, sound, 'no key'], other: 1 });
  expect(takeOpensslErrors()).toEqual([]);
});

test('members of a key that are null or empty are absent; an empty key id is one', async () => {
  const { kid: _, ...key } = sound;
  const nothing = { use: null, alg: '', key_ops: null, x5c: null, d: null, ext: null };
  const keys = [
    { ...key, ...nothing, kid: null },
    { ...key, ...nothing, kid: '' },
    { ...nothing, kty: 'EC' },
  ];
  expect(await (await withSoundKeys(Response.json({ keys }))).json()).toEqual({ keys: [key, { ...key, kid: '' }] });
});

test('an answer that is not a key set is returned unchanged', async () => {
  for (const body of ['', 'no JSON', '[]', '{"keys":1}', 'null']) expect(await (await withSoundKeys(new Response(body))).text()).toBe(body);
  expect((await withSoundKeys(new Response('{"keys":[]}', { status: 500 }))).status).toBe(500);
});

test('more keys than a provider has are refused before any is judged', async () => {
  const keys = Array.from({ length: 257 }, () => sound);
  await expect(withSoundKeys(Response.json({ keys }))).rejects.toMatchObject({
    kind: 'too-large',
    message: 'the key set has more than 256 keys',
  });
  expect(((await (await withSoundKeys(Response.json({ keys: keys.slice(1) }))).json()) as { keys: unknown[] }).keys).toHaveLength(256);
});

test('others have their turn between two keys', async () => {
  let turns = 0;
  const counting = setInterval(() => turns++, 0);
  await withSoundKeys(Response.json({ keys: Array.from({ length: 64 }, () => sound) }));
  clearInterval(counting);
  expect(turns).toBeGreaterThan(0);
});
