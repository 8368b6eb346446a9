// Bleichenbacher 1998, Manger 2001, ROBOT: an answer that tells which part of a padding is wrong decrypts for anybody. So does one that tells which
// of several keys fits.
import { constants, createPublicKey, hash, publicEncrypt, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { startVictim } from '../victim.ts';

const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';

/** EME-OAEP with SHA-256 (RFC 8017 section 7.1.1), of a data block that may be wrong, under a first octet that may be too. */
function encoded(data: Buffer, first = 0): Buffer {
  const mgf1 = (seed: Buffer, octets: number): Buffer =>
    Buffer.concat(
      Array.from({ length: Math.ceil(octets / 32) }, (_, at) => hash('sha256', Buffer.concat([seed, Buffer.of(0, 0, 0, at)]), 'buffer')),
    ).subarray(0, octets);
  const xor = (left: Buffer, right: Buffer): Buffer => Buffer.from(left.map((octet, at) => octet ^ (right[at] as number)));
  const seed = randomBytes(32);
  const masked = xor(data, mgf1(seed, data.length));
  return Buffer.concat([Buffer.of(first), xor(seed, mgf1(masked, 32)), masked]);
}

test('no answer of decrypt and rewrap tells what is wrong with a ciphertext, alone or in a batch', async () => {
  const victim = await startVictim();
  await victim.request('POST', keys, { name: 'inbox', cipher: 'rsa-2048', use: 'encrypt' });
  const key = createPublicKey((await victim.request('GET', `${actions}/inbox`)).body.keys['1']);
  const raw = (block: Buffer): string => publicEncrypt({ key, padding: constants.RSA_NO_PADDING }, block).toString('base64');
  const labelHash = hash('sha256', '', 'buffer');
  const zeros = Buffer.alloc(223 - 32 - 1 - 7);
  const right = Buffer.concat([labelHash, zeros, Buffer.from('\x01message')]);
  const wrong = [
    raw(encoded(right, 1)),
    raw(encoded(Buffer.concat([randomBytes(32), right.subarray(32)]))),
    raw(encoded(Buffer.concat([labelHash, zeros, Buffer.from('\x02message')]))),
    raw(encoded(Buffer.concat([labelHash, Buffer.alloc(223 - 32)]))),
    raw(Buffer.concat([Buffer.of(0, 2), randomBytes(10), Buffer.of(0), randomBytes(243)])),
    raw(Buffer.alloc(256)),
    Buffer.alloc(256, 0xff).toString('base64'),
    randomBytes(255).toString('base64'),
    '',
  ];
  for (const action of ['decrypt', 'rewrap']) {
    const seen = new Set<string>();
    for (const ciphertext of wrong) {
      const { status, body } = await victim.request('POST', `${actions}/inbox/${action}`, { ciphertext });
      const { 'request-id': _id, ...problem } = body;
      seen.add(JSON.stringify([status, problem]));
    }
    expect([action, seen.size]).toEqual([action, 1]);
    const batch = await victim.request('POST', `${actions}/inbox/${action}-batch`, {
      'batch-input': wrong.map((ciphertext) => ({ ciphertext })),
    });
    expect([action, new Set(batch.body['batch-results'].map((one: object) => JSON.stringify(one))).size]).toEqual([action, 1]);
  }
  expect((await victim.request('POST', `${actions}/inbox/decrypt`, { ciphertext: raw(encoded(right)) })).body.plaintext).toBe(
    Buffer.from('message').toString('base64'),
  );
  // One of another version is such a one as well: none but the latest, or the named one, is tried.
  const ofFirst = publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, Buffer.from('message')).toString(
    'base64',
  );
  await victim.request('POST', `${actions}/inbox/rotate`);
  expect(await victim.verdict('POST', `${actions}/inbox/decrypt`, { ciphertext: ofFirst })).toBe('400 decryption-failed');
  expect(await victim.verdict('POST', `${actions}/inbox/decrypt`, { ciphertext: ofFirst, 'key-version': 1 })).toBe('200 done');
});

test('a key for encryption is a key for signatures in no way, and the other way round', async () => {
  const victim = await startVictim();
  await victim.request('POST', keys, { name: 'inbox', cipher: 'rsa-2048', use: 'encrypt', exportable: true });
  await victim.request('POST', keys, { name: 'signer', cipher: 'rsa-2048' });
  const userId = 'Archive <archive@example.com>';
  for (const [name, action, body] of [
    ['inbox', 'sign', { text: '' }],
    ['inbox', 'openpgp-sign', { text: '' }],
    ['inbox', 'export-openpgp', { 'openpgp-user-id': userId }],
    ['signer', 'decrypt', { ciphertext: Buffer.alloc(256, 1).toString('base64') }],
    ['signer', 'rewrap', { ciphertext: Buffer.alloc(256, 1).toString('base64') }],
  ] as const)
    expect([name, action, await victim.verdict('POST', `${actions}/${name}/${action}`, body)]).toEqual([
      name,
      action,
      '400 operation-not-supported',
    ]);
  expect(await victim.verdict('PATCH', `${keys}/inbox`, { use: 'sign' })).toBe('409 immutable-field');
  expect(await victim.verdict('PATCH', `${keys}/inbox`, { 'openpgp-user-id': userId })).toBe('400 operation-not-supported');
  expect(await victim.verdict('GET', `${actions}/inbox/custody`)).toBe('200 done');
});
