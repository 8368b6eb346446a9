// There is a decoy for every algorithm, and a refusal by one takes about as long as by a key that is there.
import { expect, test } from 'vitest';
import { algorithmNames, isSignatureRight, keyTypeOf } from '../../../core/identity/signature-algorithms.ts';
import { decoyFor } from '../../../plugins/jwt/token/decoys.ts';
import { makeSigner, signAs } from './tokens.ts';

test.each(algorithmNames)('a decoy of %s is of its type, and verifies nothing that another key has signed', (algorithm) => {
  const { kty, crv } = keyTypeOf(algorithm);
  expect(decoyFor(algorithm).export({ format: 'jwk' })).toMatchObject({ kty, ...(crv === undefined ? {} : { crv }) });
  const signer = makeSigner(algorithm);
  const [signed, signature] = [Buffer.from('text'), signAs(algorithm, signer.privateKey, 'text')];
  expect(isSignatureRight(algorithm, signer.publicKey, signed, signature)).toBe(true);
  expect(isSignatureRight(algorithm, decoyFor(algorithm), signed, signature)).toBe(false);
});
