// The tables of key types agree: a type that tokens can hold has a cipher, and each signing cipher says whether OpenPGP has it.
import { expect, test } from 'vitest';
import { keyTypes } from '../../../../hsm/pkcs11/mechanisms.ts';
import { findAlgorithm } from '../../../../plugins/openpgp/format/algorithms.ts';
import { cipherNames, cipherOf } from '../../../../plugins/transit/ciphers.ts';

const ciphers = cipherNames.flatMap((cipher) => [cipherOf({ cipher }), cipherOf({ cipher, use: 'agree' })]);

test('every key type but the generic secret is one cipher, or one for agreement', () => {
  const withCipher = [...new Set(ciphers.map(({ keyType }) => keyType))].toSorted();
  expect(withCipher).toEqual(keyTypes.filter((type) => type !== 'secret-256').toSorted());
});

test('signing ciphers have the name of their key type, by which OpenPGP finds its algorithm', () => {
  const signing = cipherNames.filter((name) => cipherOf({ cipher: name }).kind === 'signing');
  expect(signing).toEqual(signing.map((name) => cipherOf({ cipher: name }).keyType));
  expect(signing.filter((name) => findAlgorithm(name) === undefined)).toEqual(['ecdsa-secp256k1', 'ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87']);
});
