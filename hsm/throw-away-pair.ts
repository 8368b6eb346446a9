// Key pairs of one agreement, outside the token: what a key that agrees is tried with.
import { diffieHellman, generateKeyPairSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type KeyType, keyUses } from './key-uses.ts';

/** Makes a key pair on the curve of a type that agrees, with the raw point of its public key. Throws TypeError for another type. */
export function throwAwayPair(type: KeyType): { readonly privateKey: KeyObject; readonly point: Uint8Array } {
  const usage = keyUses[type];
  if (usage.use !== 'agree') throw new TypeError(`keys of type ${type} agree on nothing`);
  const { privateKey, publicKey } =
    usage.curve === 'X25519' ? generateKeyPairSync('x25519') : generateKeyPairSync('ec', { namedCurve: usage.curve });
  return { privateKey, point: publicKey.export({ format: 'raw-public' }) };
}

/** A try of a key that agrees: the point to agree with in the token, and the judge of the secret that comes of it, which is overwritten. */
export type AgreementTry = { readonly point: Uint8Array; readonly isRight: (secret: Uint8Array) => boolean };

/** Makes a try that the private key of a public one passes alone. */
export function tryAgreement(type: KeyType, publicKey: KeyObject): AgreementTry {
  const { privateKey, point } = throwAwayPair(type);
  const outside = diffieHellman({ privateKey, publicKey });
  return {
    point,
    isRight: (secret) => {
      const isSame = outside.length === secret.length && timingSafeEqual(outside, secret);
      outside.fill(0);
      secret.fill(0);
      return isSame;
    },
  };
}
