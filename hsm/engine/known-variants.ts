// Ways of signing that a token offers because they were proven at its start. SoftHSM2 takes the parameters of Ed25519ph and of contexts, and makes a
// signature without them: that a call succeeds says nothing.
import { createPrivateKey, sign, verify } from 'node:crypto';
import type { KeyType, SchemeOptions, SignatureVariant } from '../api.ts';
import { parseMaterial } from '../pkcs11/key-material.ts';
import { hasPointers } from '../pkcs11/pointers.ts';
import { TokenError } from '../pkcs11/return-values.ts';
import { keyAttributes } from './custody.ts';
import type { Engine } from './engine.ts';
import { withNewPair, withObject } from './known-answers.ts';
import { rawSignature } from './operations/signing.ts';

/** The ways of signing, of the types that the token offers, that gave no wrong answer. */
export function provenVariants(engine: Engine, types: readonly KeyType[]): readonly SignatureVariant[] {
  if (!hasPointers()) return [];
  return (Object.entries(proofs) as [SignatureVariant, Proof][]).flatMap(([variant, { type, holds }]) =>
    types.includes(type) && isProven(engine, () => holds(engine, type)) ? [variant] : [],
  );
}

/** Asked twice, so that one wrong answer takes nothing away. A refusal of whatever kind does: without a proof it is not offered. */
function isProven(engine: Engine, holds: () => boolean): boolean {
  const attempt = (): boolean => {
    try {
      return holds();
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      engine.sessions.renewWork();
      return false;
    }
  };
  return attempt() || attempt();
}

/** `type`: one that stands for all that sign so. */
type Proof = { readonly type: KeyType; readonly holds: (engine: Engine, type: KeyType) => boolean };

const message = Buffer.from('616263', 'hex');
const contexts = [Buffer.from('foo'), Buffer.from('bar')] as const;

const proofs: Readonly<Record<SignatureVariant, Proof>> = {
  ed25519ctx: { type: 'ed25519', holds: (engine, type) => signsAs(engine, type, (context) => ({ context }), outside) },
  ed25519ph: { type: 'ed25519', holds: (engine, type) => signsAs(engine, type, (context) => ({ context, prehash: true }), prehashed) },
  'ml-dsa-context': { type: 'ml-dsa-65', holds: signsUnderContexts },
  'ml-dsa-deterministic': { type: 'ml-dsa-65', holds: signsTheSame },
};

/** Ed25519 signatures have one value: those of a known key under two contexts. */
function signsAs(
  engine: Engine,
  type: KeyType,
  optionsFor: (context: Buffer) => SchemeOptions,
  expected: (context: Buffer, pkcs8: Buffer) => Buffer,
): boolean {
  const pkcs8 = Buffer.from(knownSeed, 'hex');
  const material = parseMaterial(type, pkcs8);
  try {
    return withObject(engine, { ...keyAttributes(type, 'use'), ...material.values }, (key) =>
      contexts.every((context) =>
        rawSignature(engine, type, key, { scheme: 'ed25519', options: optionsFor(context) }, message).equals(expected(context, pkcs8)),
      ),
    );
  } finally {
    material.wipe();
  }
}

/** Ed25519ctx, which node:crypto has. */
function outside(context: Buffer, pkcs8: Buffer): Buffer {
  return sign(null, message, { key: createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }), context });
}

/** Ed25519ph, which node:crypto has not. */
function prehashed(context: Buffer): Buffer {
  return Buffer.from(context === contexts[0] ? ofFoo : ofBar, 'hex');
}

/** Signatures under two contexts: each fits its own alone, and not none. */
function signsUnderContexts(engine: Engine, type: KeyType): boolean {
  return withNewPair(engine, type, (key, publicKey) =>
    contexts.every((context, at) => {
      const signature = rawSignature(engine, type, key, { scheme: 'ml-dsa', options: { context } }, message);
      const fits = (other?: Buffer): boolean => verify(null, message, { key: publicKey, ...(other && { context: other }) }, signature);
      return fits(context) && !fits(contexts[1 - at]) && !fits();
    }),
  );
}

/** Two signatures of one message are the same, and fit; those that are hedged differ. */
function signsTheSame(engine: Engine, type: KeyType): boolean {
  return withNewPair(engine, type, (key, publicKey) => {
    const [one, again, hedged] = [{ deterministic: true }, { deterministic: true }, {}].map((options) =>
      rawSignature(engine, type, key, { scheme: 'ml-dsa', options }, message),
    ) as [Buffer, Buffer, Buffer];
    return one.equals(again) && !one.equals(hedged) && verify(null, message, publicKey, one);
  });
}

/** The private key of RFC 8032 section 7.3 (PKCS#8), in public since it is there, and its Ed25519ph signatures of "abc" under the two contexts. */
const knownSeed = '302e020100300506032b657004220420833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42';
const ofFoo =
  'e039702b4c2595a6a541ac8509236e2990474795330c9b34a75f58a660129e08fd736943fb1943a55720b9e0957b1ed6734816619f1388f43f73e6e3baa81c0e';
const ofBar =
  '8f2618b0f68766eb6befeb5011d025f66962eaf900d66263bba9aa1b0cace93d2914bcf7a6aecfb12434c31851390ff56786be82d625cdfaf413d03faa235b09';
