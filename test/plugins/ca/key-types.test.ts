// The table of CA key types is complete: a row for whatever the HSM signs with, and for each row a name in the API and a place in requests.
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { keyUses } from '../../../hsm/api.ts';
import { keyTypes } from '../../../hsm/pkcs11/mechanisms.ts';
import { caAlgorithms, findRequestSignature } from '../../../plugins/ca/authority/algorithms.ts';
import { checkKey } from '../../../plugins/ca/der/public-key.ts';
import { caDocument, findKeyType, keyFields } from '../../../plugins/ca/document.ts';

test('every key type that signs has a row, but for the curve that no TLS library has', () => {
  const signing = keyTypes.filter((type) => keyUses[type].use === 'sign' && type !== 'ecdsa-secp256k1');
  expect([...caAlgorithms.keys()].toSorted()).toEqual(signing.toSorted());
});

test('ecdsa means P-256, rsa means 3072 bits', () => {
  expect(findKeyType({})).toBe('ecdsa-p256');
  expect(findKeyType({ certKeyType: 'rsa' })).toBe('rsa-3072');
});

describe.each([...caAlgorithms])('%s', (type, { identifier, written }) => {
  test('is written by fields of the API that mean it and nothing else', () => {
    expect(caDocument.partial().safeParse(written).success).toBe(true);
    expect(findKeyType(keyFields(type))).toBe(type);
  });

  test('is certified, and its signature algorithm accepted in requests', () => {
    const key = checkKey(makePublicKey(type));
    if ('problem' in key) throw new Error(key.problem);
    expect(findRequestSignature(identifier, key)).toEqual({ hash: caAlgorithms.get(type)?.hash });
  });
});

function makePublicKey(type: string): Buffer {
  const shape = { publicKeyEncoding: { format: 'der', type: 'spki' } } as const;
  const curves: Readonly<Record<string, string>> = { 'ecdsa-p256': 'P-256', 'ecdsa-p384': 'P-384', 'ecdsa-p521': 'P-521' };
  const namedCurve = curves[type];
  if (namedCurve !== undefined) return generateKeyPairSync('ec', { ...shape, ...spare, namedCurve }).publicKey;
  if (type.startsWith('rsa')) return generateKeyPairSync('rsa', { ...shape, ...spare, modulusLength: 2_048 }).publicKey;
  return generateKeyPairSync(type as 'ed25519', { ...shape, ...spare }).publicKey;
}

const spare = { privateKeyEncoding: { format: 'der', type: 'pkcs8' } } as const;
