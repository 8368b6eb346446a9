// Invalid-curve attacks (Biehl, Meyer and Müller 2000; CVE-2015-7940 of Bouncy Castle; CVE-2017-16007 of node-jose): a sender's point off the curve, or of low
// order, told about the private key. Each such message is answered like one that merely does not open, and costs nobody else the HSM.
import { createPublicKey, ECDH, generateKeyPairSync, randomBytes } from 'node:crypto';
import { CompactEncrypt } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
let victim: Victim;
beforeAll(async () => {
  victim = await startVictim();
  await victim.request('POST', keys, { name: 'p256', cipher: 'ecdsa-p256', use: 'agree' });
  await victim.request('POST', keys, { name: 'x25519', cipher: 'x25519' });
  await victim.request('POST', keys, { name: 'others' });
});

/** Low order, in every encoding of 32 octets (https://cr.yp.to/ecdh.html). */
const lowOrder = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
].map((hex) => Buffer.from(hex, 'hex'));

/** Points that an attacker takes for P-256: of another curve with the same a and p (b = 0), off any, of secp256k1, compressed, infinity. */
function invalidPoints(): Buffer[] {
  const right = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey.export({ format: 'raw-public' });
  const ofOther = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey.export({ format: 'raw-public' });
  const moved = Buffer.from(right.map((octet, at) => (at === 64 ? octet ^ 1 : octet)));
  const orderTwo = Buffer.concat([Buffer.of(4), Buffer.alloc(64)]);
  const compressed = Buffer.concat([ECDH.convertKey(right, 'prime256v1', undefined, undefined, 'compressed'), Buffer.alloc(32)]);
  return [moved, orderTwo, ofOther, compressed, Buffer.concat([Buffer.of(6), right.subarray(1)]), Buffer.alloc(65), Buffer.alloc(65, 0xff)];
}

async function answersTo(name: string, requests: readonly object[]): Promise<Set<string>> {
  const seen = new Set<string>();
  for (const request of requests) {
    const { status, body } = await victim.request('POST', `${actions}/${name}/decrypt`, request);
    const { 'request-id': _id, ...problem } = body;
    seen.add(JSON.stringify([status, problem]));
  }
  return seen;
}

test('every point that is none has the answer of a message that does not open', async () => {
  const honest = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey.export({ format: 'raw-public' });
  const hpke = (point: Buffer): object => ({ format: 'hpke', ciphertext: Buffer.concat([point, randomBytes(48)]).toString('base64') });
  const ofP256 = await answersTo('p256', [honest, ...invalidPoints()].map(hpke));
  expect(ofP256.size).toBe(1);
  const share = (point: Buffer): object => ({
    format: 'age',
    ciphertext: `-> X25519 ${point.toString('base64').replace('=', '')}\n${randomBytes(32).toString('base64').replace('=', '')}\n`,
  });
  const ofX25519 = await answersTo(
    'x25519',
    [randomBytes(32), ...lowOrder].flatMap((point) => [hpke(point), share(point)]),
  );
  expect(ofX25519).toEqual(ofP256);

  const key = createPublicKey((await victim.request('GET', `${actions}/p256`)).body.keys['1']);
  const sealed = await new CompactEncrypt(randomBytes(16)).setProtectedHeader({ alg: 'ECDH-ES+A128KW', enc: 'A128GCM' }).encrypt(key);
  const [header = '', ...rest] = sealed.split('.');
  const members = JSON.parse(Buffer.from(header, 'base64url').toString()) as { epk: object };
  const jwes = [honest, ...invalidPoints()].map((point) => {
    const epk = { ...members.epk, x: point.toString('base64url', 1, 33), y: point.toString('base64url', 33) };
    return { format: 'jwe', ciphertext: [Buffer.from(JSON.stringify({ ...members, epk })).toString('base64url'), ...rest].join('.') };
  });
  expect(await answersTo('p256', jwes)).toEqual(ofP256);
  expect(await victim.verdict('POST', `${actions}/p256/decrypt`, { ciphertext: sealed, format: 'jwe' })).toBe('200 done');
});

test('no version but the one that is named, or the one in use, is tried, however many there are', async () => {
  await victim.request('POST', keys, { name: 'rotated', cipher: 'x25519' });
  const key = createPublicKey((await victim.request('GET', `${actions}/rotated`)).body.keys['1']);
  const seal = (more: object): Promise<string> =>
    new CompactEncrypt(randomBytes(16)).setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', ...more }).encrypt(key);
  for (let count = 0; count < 5; count += 1) await victim.request('POST', `${actions}/rotated/rotate`, {});
  const [unnamed, misnamed] = [await seal({}), await seal({ kid: 'of-nobody' })];
  expect(
    (
      await answersTo(
        'rotated',
        [unnamed, misnamed].map((ciphertext) => ({ ciphertext, format: 'jwe' })),
      )
    ).size,
  ).toBe(1);
  expect(await victim.verdict('POST', `${actions}/rotated/decrypt`, { ciphertext: unnamed, format: 'jwe' })).toBe('400 decryption-failed');
  const named = { ciphertext: unnamed, format: 'jwe', 'key-version': 1 };
  expect(await victim.verdict('POST', `${actions}/rotated/decrypt`, named)).toBe('200 done');
});

test('a flood of messages that do not open takes the token from nobody', async () => {
  const flood = Array.from({ length: 500 }, (_, at) => ({
    ...{ format: 'hpke' },
    ciphertext: Buffer.concat([at % 2 === 0 ? Buffer.alloc(32) : randomBytes(32), randomBytes(48)]).toString('base64'),
  }));
  const flooding = victim.request('POST', `${actions}/x25519/decrypt-batch`, { 'batch-input': flood });
  const verdicts = await Promise.all(
    Array.from({ length: 20 }, () => victim.verdict('POST', `${actions}/others/encrypt`, { plaintext: '' })),
  );
  expect(new Set(verdicts)).toEqual(new Set(['200 done']));
  const { body } = await flooding;
  expect(body.failed).toBe(500);
  expect(new Set((body['batch-results'] as readonly { code: string }[]).map(({ code }) => code))).toEqual(new Set(['decryption-failed']));
});
