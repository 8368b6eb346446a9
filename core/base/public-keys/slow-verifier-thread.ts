// The thread of slow-verifier.ts: verifies one signature after another.
import { createPublicKey } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { ecdsaVerifiesDigest, ed25519phVerifies } from './finished-hash.ts';

/** ECDSA over a digest in one of its formats, or Ed25519ph of a message. */
export type SlowScheme = { readonly ecdsa: 'compact' | 'der' } | { readonly ed25519ph: { readonly context: Uint8Array | undefined } };

/** A signature to verify; `publicKey` is SPKI DER. */
export type SlowOrder = {
  readonly scheme: SlowScheme;
  readonly publicKey: Uint8Array;
  readonly input: Uint8Array;
  readonly signature: Uint8Array;
};

parentPort?.on('message', ({ scheme, publicKey, input, signature }: SlowOrder) => {
  const key = createPublicKey({ key: Buffer.from(publicKey), type: 'spki', format: 'der' });
  const valid =
    'ecdsa' in scheme
      ? ecdsaVerifiesDigest(key, input, signature, scheme.ecdsa)
      : ed25519phVerifies(key, scheme.ed25519ph.context, input, signature);
  // It may be confidential.
  input.fill(0);
  parentPort?.postMessage(valid, []);
});
