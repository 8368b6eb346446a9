// Trials of keys that give secrets: with a key pair of one agreement, outside the token, or with a secret that is encapsulated for the key.
import { diffieHellman, encapsulate, generateKeyPairSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type KeyType, keyUses } from './key-uses.ts';

/** Makes a key pair on the curve of a type that agrees, with the raw point of its public key. Throws TypeError for another type. */
export function throwAwayPair(type: KeyType): { readonly privateKey: KeyObject; readonly point: Uint8Array } {
  const usage = keyUses[type];
  if (usage.use !== 'agree') throw new TypeError(`keys of type ${type} agree on nothing`);
  const { privateKey, publicKey } =
    usage.curve === 'X25519' ? generateKeyPairSync('x25519') : generateKeyPairSync('ec', { namedCurve: usage.curve });
  return { privateKey, point: publicKey.export({ format: 'raw-public' }) };
}

/** Uses of a key that give a secret. */
export type SecretUse = 'agree' | 'decapsulate';

/** Tells whether a use is one that gives a secret. */
export function givesSecrets(use: string): use is SecretUse {
  return use === 'agree' || use === 'decapsulate';
}

/**
 * A try of a key that gives secrets: its use in the token, the point or ciphertext for that, and the judge of the secret that comes of it, which is
 * overwritten.
 */
export type SecretTry = { readonly use: SecretUse; readonly octets: Uint8Array; readonly isRight: (secret: Uint8Array) => boolean };

/** Makes a try that the private key of a public one passes alone. */
export function trySecret(type: KeyType, publicKey: KeyObject): SecretTry {
  if (keyUses[type].use === 'decapsulate') {
    const { sharedKey, ciphertext } = encapsulate(publicKey);
    return { use: 'decapsulate', octets: new Uint8Array(ciphertext), isRight: judgeBy(sharedKey) };
  }
  const { privateKey, point } = throwAwayPair(type);
  return { use: 'agree', octets: point, isRight: judgeBy(diffieHellman({ privateKey, publicKey })) };
}

function judgeBy(outside: Buffer): SecretTry['isRight'] {
  return (secret) => {
    const isSame = outside.length === secret.length && timingSafeEqual(outside, secret);
    outside.fill(0);
    secret.fill(0);
    return isSame;
  };
}
