// The other yardstick: the same operations called straight on the token through hsm/, without HTTP, policy or audit.
import type { Hsm, KeyBinding, KeyReference, KeyType, SignScheme } from '../../hsm/api.ts';
import { createHash } from 'node:crypto';

export type RawOperation = { readonly name: string; readonly run: () => Promise<unknown> };

/** One ready-to-run operation per benchmarked action, over 64 octets. */
export async function rawOperations(hsm: Hsm): Promise<readonly RawOperation[]> {
  const data = Buffer.alloc(64, 7);
  const digest = createHash('sha256').update(data).digest();
  const aes = await key(hsm, 'aes-256', 'encrypt');
  const sealed = await hsm.encrypt(aes, data);
  const secret = await key(hsm, 'secret-256', 'hmac');
  const signer = async (type: KeyType, scheme: SignScheme): Promise<() => Promise<unknown>> => {
    const reference = await key(hsm, type, 'sign');
    return () => hsm.sign(reference, scheme);
  };
  return [
    { name: 'encrypt', run: () => hsm.encrypt(aes, data) },
    { name: 'decrypt', run: () => hsm.decrypt(aes, sealed) },
    { name: 'hmac', run: () => hsm.hmac(secret, 'sha256', data) },
    { name: 'sign ecdsa-p256', run: await signer('ecdsa-p256', { scheme: 'ecdsa', digest }) },
    { name: 'sign ed25519', run: await signer('ed25519', { scheme: 'ed25519', message: data }) },
    { name: 'sign rsa-2048', run: await signer('rsa-2048', { scheme: 'rsa-pkcs1v15', hash: 'sha256', digest }) },
    { name: 'sign rsa-4096', run: await signer('rsa-4096', { scheme: 'rsa-pkcs1v15', hash: 'sha256', digest }) },
  ];
}

/** Operations per second with `inFlight` calls outstanding all the time. */
export async function rawRate(operation: RawOperation, options: { seconds: number; inFlight: number }): Promise<number> {
  const started = performance.now();
  const end = started + options.seconds * 1000;
  let done = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < end) {
      await operation.run();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: options.inFlight }, loop));
  return done / ((performance.now() - started) / 1000);
}

async function key(hsm: Hsm, type: KeyType, purpose: string): Promise<KeyReference> {
  const binding: KeyBinding = { tenant: 'bench', keyId: `bench-${type}`, version: 1, purpose };
  const { stored } = await hsm.generate(type, binding);
  return { stored, binding };
}
