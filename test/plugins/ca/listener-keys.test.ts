// The TLS identity whose key is in the token: made, renewed, lost and given up, on a real token.
import { createHash, createPublicKey, verify, X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ListenerIdentity } from '../../../core/plugin/services/certificate-authority.ts';
import type { KeyReference } from '../../../hsm/api.ts';
import { ensureListenerIdentity } from '../../../plugins/ca/own/listener-identity.ts';
import { openTestContext } from '../est/harness.ts';

const tenant = '11111111-1111-4111-8111-111111111111';
const hosts = ['keystore.example'];
const day = 86_400;
const context = await openTestContext();
const identity = (place: 'store' | 'token' = 'token'): Promise<ListenerIdentity> => ensureListenerIdentity(context, tenant, hosts, place);

function referenceOf({ key }: ListenerIdentity): KeyReference {
  if ('pem' in key) throw new Error('the key is in the store');
  return { stored: key.stored, binding: key.binding };
}

const tlsObjects = async (): Promise<readonly string[]> =>
  (await context.hsm.ownObjects('main', 100)).map(({ label }) => label).filter((label) => / v1 tls/.test(label));

test('the key of the certificate signs in the token, cannot leave it, and is another than that of a sealed appliance', async () => {
  const made = await identity();
  const leaf = new X509Certificate(made.chainPem);
  const digest = createHash('sha256').update('handshake').digest();
  const signature = await context.hsm.sign(referenceOf(made), { scheme: 'ecdsa', digest });
  expect(verify('sha256', Buffer.from('handshake'), { key: leaf.publicKey, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
  expect(await context.hsm.evidence(referenceOf(made))).toMatchObject({
    object: { local: true, alwaysSensitive: true, neverExtractable: true, uses: ['sign'] },
  });
  expect(createPublicKey(made.whileSealed.keyPem).equals(leaf.publicKey)).toBe(false);
  expect(new X509Certificate(made.whileSealed.chainPem).publicKey.equals(createPublicKey(made.whileSealed.keyPem))).toBe(true);
  expect(await identity()).toEqual(made);
});

test('processes that race end with one key, and leave no other in the token', async () => {
  const [left, right] = await Promise.all([
    ensureListenerIdentity(context, tenant, ['race.example'], 'token'),
    ensureListenerIdentity(context, tenant, ['race.example'], 'token'),
  ]);
  expect(left).toEqual(right);
  // The one before it is still used by processes that have not looked.
  expect(await tlsObjects()).toHaveLength(2);
});

test('a renewal keeps the key before it, which other processes still use, and destroys the one before that', async () => {
  const before = await identity();
  context.clock.advance(61 * day);
  const renewed = await identity();
  expect(referenceOf(renewed)).not.toEqual(referenceOf(before));
  await context.hsm.evidence(referenceOf(before));
  context.clock.advance(61 * day);
  await identity();
  await expect(context.hsm.evidence(referenceOf(before))).rejects.toMatchObject({ kind: 'key-missing' });
  expect(await tlsObjects()).toHaveLength(2);
});

test('a key that the token has lost is replaced, as after a restore with another token', async () => {
  const lost = await identity();
  await context.hsm.destroy(referenceOf(lost));
  const next = await identity();
  expect(next.serial).not.toBe(lost.serial);
  await context.hsm.evidence(referenceOf(next));
});

test('with the key in the store again, none is left in the token', async () => {
  const inToken = await identity();
  const inStore = await identity('store');
  expect(inStore.key).toEqual({ pem: inToken.whileSealed.keyPem });
  expect(await tlsObjects()).toEqual([]);
});
