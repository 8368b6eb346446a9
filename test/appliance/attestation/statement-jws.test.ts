// Custody statements as JWS: one form, one algorithm, and no way to make one without the key.
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatStatement, statementInput, StatementRefused, verifyStatement } from '../../../appliance/attestation/statement-jws.ts';
import { publicJwk, thumbprintOf } from '../../../core/base/public-keys/jwk.ts';

const ours = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const theirs = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const payload = { iss: 'urn:uuid:5b1c', iat: 1_790_000_000, key: { name: 'orders', version: 3 } };
const kid = thumbprintOf(ours.publicKey);

const signed = (input: string, key: KeyObject = ours.privateKey): Uint8Array =>
  new Uint8Array(sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }));
const statement = formatStatement(statementInput(kid, payload), signed(statementInput(kid, payload)));
const part = (value: object | string): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
/** A statement with another header or payload, under a real signature of one of the keys. */
const made = (header: object | string, body: object | string = payload, key: KeyObject = ours.privateKey): string => {
  const input = `${part(header)}.${part(body)}`;
  return formatStatement(input, signed(input, key));
};
const header = { alg: 'ES256', typ: 'keystored-custody+jwt', kid };
const refusal = (text: string, keys: readonly KeyObject[] = [ours.publicKey]): string => {
  try {
    verifyStatement(text, keys);
  } catch (error) {
    if (error instanceof StatementRefused) return error.message;
    throw error;
  }
  return 'accepted';
};

test('a statement verifies under its key, also among others and with a line end behind it', () => {
  expect(verifyStatement(statement, [ours.publicKey])).toEqual({ kid, payload });
  expect(verifyStatement(`${statement}\n`, [theirs.publicKey, ours.publicKey])).toEqual({ kid, payload });
});

describe('forged statements are refused', () => {
  const [head = '', body = '', signature = ''] = statement.split('.');
  const hmacInput = `${part({ ...header, alg: 'HS256' })}.${body}`;
  const spki = ours.publicKey.export({ format: 'pem', type: 'spki' });
  const der = sign('sha256', Buffer.from(`${head}.${body}`), ours.privateKey).toString('base64url');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

  test.for<[string, string, string]>([
    ['alg none, without signature', `${part({ ...header, alg: 'none' })}.${body}.`, 'three parts'],
    ['alg none, with one', `${part({ ...header, alg: 'none' })}.${body}.${signature}`, 'alg is not ES256'],
    [
      'HMAC with the public key as secret',
      `${hmacInput}.${createHmac('sha256', spki).update(hmacInput).digest('base64url')}`,
      'alg is not',
    ],
    ['another algorithm of the same key', made({ ...header, alg: 'ES384' }), 'alg is not'],
    ['a token of another kind under the same key', made({ ...header, typ: 'JWT' }), 'typ is not'],
    ['no typ', made({ alg: 'ES256', kid }), 'typ is not'],
    ['the key of the forger in the header', made({ ...header, jwk: publicJwk(theirs.publicKey) }), 'members that no statement has'],
    ['a critical extension', made({ ...header, crit: ['b64'], b64: false }), 'members that no statement has'],
    [
      'the key of the forger by name',
      made({ ...header, kid: thumbprintOf(theirs.publicKey) }, payload, theirs.privateKey),
      'kid names none',
    ],
    ['the signature of the forger under our name', made(header, payload, theirs.privateKey), 'does not verify'],
    ['no kid', made({ alg: 'ES256', typ: header.typ }), 'kid names none'],
    ['another payload', `${head}.${part({ ...payload, iat: 1 })}.${signature}`, 'does not verify'],
    ['a signature in DER', `${head}.${body}.${der}`, 'does not verify'],
    ['a signature of zeros (r = s = 0)', `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`, 'does not verify'],
    ['half a signature', `${head}.${body}.${signature.slice(0, 43)}`, ''],
    ['a member twice in the payload', made(header, '{"iat":1,"iat":2}'), 'has each member once'],
    ['a payload that is a list', made(header, '[]'), 'JSON object'],
    ['a header that is no JSON', made('x'), 'JSON object'],
    ['four parts', `${statement}.${signature}`, 'three parts'],
    ['two parts', `${head}.${body}`, 'three parts'],
    ['padding', `${head}.${body}.${signature}==`, 'not base64url'],
    ['the other alphabet', `${head}.${body}.${signature.slice(0, -1)}+`, 'not base64url'],
    ['a space within', `${head}. ${body}.${signature}`, ''],
    ['nothing', '', 'three parts'],
  ])('%s', ([, forged, reason]) => {
    const said = refusal(forged);
    expect(said).not.toBe('accepted');
    expect(said).toContain(reason);
  });

  test('a key of another type never verifies, whatever its thumbprint is', () => {
    const rsaKid = thumbprintOf(rsa.publicKey);
    const input = `${part({ ...header, kid: rsaKid })}.${body}`;
    const forged = `${input}.${sign('sha256', Buffer.from(input), rsa.privateKey).toString('base64url')}`;
    expect(refusal(forged, [rsa.publicKey])).toContain('not on the curve of ES256');
  });

  test('any character that is changed, added or left out', () => {
    const characters = 'ABCdef012-_.=+/ {}\u0000é'.split('');
    fc.assert(
      fc.property(fc.nat(statement.length - 1), fc.constantFrom(...characters), fc.constantFrom(0, 1), (at, character, width) => {
        const forged = statement.slice(0, at) + character + statement.slice(at + width);
        return forged.trim() === statement || refusal(forged) !== 'accepted';
      }),
      { numRuns: 500 },
    );
    for (let at = 0; at < statement.length; at += 7) expect(refusal(statement.slice(0, at) + statement.slice(at + 1))).not.toBe('accepted');
  });
});
