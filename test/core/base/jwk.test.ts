// JSON Web Keys and their thumbprints, against the examples of the RFCs.
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { publicJwk, thumbprintOf } from '../../../core/base/public-keys/jwk.ts';

const modulus =
  '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw';

test.for([
  [
    'RFC 7638 section 3.1: RSA',
    { kty: 'RSA', n: modulus, e: 'AQAB', alg: 'RS256', kid: '2011-04-29' },
    'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  ],
  [
    'RFC 8037 appendix A.3: Ed25519',
    { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
    'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  ],
] as const)('%s', ([, jwk, thumbprint]) => {
  expect(thumbprintOf(createPublicKey({ key: jwk, format: 'jwk' }))).toBe(thumbprint);
});

test('a JWK has the members that its thumbprint covers, and nothing private', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  expect(Object.keys(publicJwk(privateKey))).toEqual(['crv', 'kty', 'x', 'y']);
  expect(thumbprintOf(privateKey)).toBe(thumbprintOf(createPublicKey(privateKey)));
  const { publicKey } = generateKeyPairSync('ml-dsa-65');
  expect(Object.keys(publicJwk(publicKey))).toEqual(['alg', 'kty', 'pub']);
});

test('a key of a type without thumbprint is refused', () => {
  const { publicKey } = generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 });
  expect(() => thumbprintOf(publicKey)).toThrow('Unsupported JWK');
});
