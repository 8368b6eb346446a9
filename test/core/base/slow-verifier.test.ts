// Signatures that JavaScript alone verifies, in a thread: those who ask take turns.
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { ed25519ph } from '@noble/curves/ed25519.js';
import { expect, test } from 'vitest';
import { slowVerifier } from '../../../core/base/public-keys/slow-verifier.ts';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp521r1' });
const message = Buffer.from('a record');
const digest = createHash('sha512').update(message).digest();
const signature = sign('sha512', message, { key: privateKey, dsaEncoding: 'ieee-p1363' });
const check = (origin: string, tenant = 'one'): Promise<boolean> =>
  slowVerifier.verify({ tenant, origin }, { ecdsa: 'compact' }, publicKey, digest, signature);

test('who asks once waits for one or two of those who ask for many', async () => {
  let done = 0;
  const many = Array.from({ length: 30 }, () => check('many').finally(() => (done += 1)));
  expect(await check('one')).toBe(true);
  expect(done).toBeLessThan(3);
  expect(await Promise.all(many)).toEqual(many.map(() => true));
});

test('Ed25519ph with and without a context, and rubbish, leave the octets of the caller as they are', async () => {
  const pair = generateKeyPairSync('ed25519');
  const seed = Buffer.from(pair.privateKey.export({ format: 'jwk' }).d as string, 'base64url');
  const context = Buffer.from('orders');
  const verdicts = [undefined, context].map((one) => {
    const made = ed25519ph.sign(message, seed, one && { context: one });
    return slowVerifier.verify({ tenant: 'a', origin: 'a' }, { ed25519ph: { context } }, pair.publicKey, message, made);
  });
  expect(await Promise.all(verdicts)).toEqual([false, true]);
  expect(await slowVerifier.verify({ tenant: 'a', origin: 'a' }, { ecdsa: 'der' }, publicKey, digest, Buffer.from('rubbish'))).toBe(false);
  expect([message.toString(), digest.equals(createHash('sha512').update(message).digest())]).toEqual(['a record', true]);
});
