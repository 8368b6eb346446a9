// The OpenPGP wire format as we write it, against properties and against openpgp.js as the reader.
import { constants, generateKeyPairSync, type KeyObject, privateEncrypt, randomBytes, sign } from 'node:crypto';
import * as fc from 'fast-check';
import { createMessage, PublicKeyPacket, readKey, readSignature, verify } from 'openpgp';
import { describe, expect, test } from 'vitest';
import { encodeUtf8 } from '../../../core/base/bytes.ts';
import { bindSubkey, bindingTime, certifyPrimary } from '../../../plugins/openpgp/certificates/certificate.ts';
import { forms, signatureTime, signPrepared } from '../../../plugins/openpgp/certificates/signed-data.ts';
import { certificatePackets, formatArmor } from '../../../plugins/openpgp/format/keyblock.ts';
import { formatFingerprint, mpi, packet, splitPacket, subpacket, uint16 } from '../../../plugins/openpgp/format/packets.ts';
import type { OpenpgpRecord } from '../../../plugins/openpgp/records.ts';
import { openpgpSeconds, publicKeyBody, type PublicKeyBody, type Signer } from '../../../plugins/openpgp/format/signer.ts';
import { statementWith } from './harness.ts';

const created = 1_750_000_000;

const signDetached = (signer: Signer, record: OpenpgpRecord, data: Uint8Array, now: Temporal.Instant): Promise<Uint8Array> =>
  signPrepared(signer, forms.detached.prepare(data), signatureTime(record, now), {});

describe('multiprecision integers (RFC 9580, 3.2)', () => {
  test('the value survives, the bit count is exact, and there is no leading zero', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (octets) => {
        const written = mpi(octets);
        const value = BigInt(`0x0${octets.toHex()}`);
        const bits = value === 0n ? 0 : value.toString(2).length;
        expect(written.subarray(0, 2)).toEqual(uint16(bits));
        expect(written.length).toBe(2 + Math.ceil(bits / 8));
        expect(BigInt(`0x0${written.subarray(2).toHex()}`)).toBe(value);
      }),
    );
  });

  test('the examples of the standard', () => {
    expect(mpi(Uint8Array.of(1)).toHex()).toBe('000101');
    expect(mpi(Uint8Array.of(0, 0, 1, 0xff)).toHex()).toBe('000901ff');
  });
});

describe('packet and subpacket lengths (RFC 9580, 4.2.1 and 5.2.3.7)', () => {
  test.each([0, 1, 191, 192, 193, 8383, 8384, 65_535, 70_000])('a packet of %i octets comes apart as it was put together', (length) => {
    const body = new Uint8Array(length).fill(7);
    const rest = Uint8Array.of(1, 2, 3);
    const split = splitPacket(Buffer.concat([packet(13, body), rest]));
    expect(Buffer.compare(split.body, body)).toBe(0);
    expect(split.rest.toHex()).toBe('010203');
  });

  test.each([
    [190, 'bf'],
    [191, 'c000'],
    [8383, 'e000'],
    [16_318, 'feff'],
    [16_319, 'ff00003fc0'],
  ])('a subpacket of %i octets has length octets %s', (length, head) => {
    const written = subpacket(32, new Uint8Array(length)).toHex();
    expect(written.startsWith(`${head}20`)).toBe(true);
  });
});

const pairs: readonly (readonly [string, { publicKey: KeyObject; privateKey: KeyObject }])[] = [
  ['rsa-2048', generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ['ed25519', generateKeyPairSync('ed25519')],
  ['ecdsa-p256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
  ['ecdsa-p384', generateKeyPairSync('ec', { namedCurve: 'P-384' })],
  ['ecdsa-p521', generateKeyPairSync('ec', { namedCurve: 'P-521' })],
];

describe('key packets', () => {
  test.each(pairs)('openpgp.js reads %s and computes the same fingerprint', async (cipher, { publicKey }) => {
    const body = bodyOf(cipher, publicKey);
    const read = new PublicKeyPacket();
    await (read as unknown as { read(octets: Uint8Array): Promise<void> }).read(body.body);
    expect(read.getFingerprint().toUpperCase()).toBe(formatFingerprint(body.fingerprint));
    expect(read.getCreationTime().getTime()).toBe(created * 1000);
  });

  test('a cipher that OpenPGP does not know has no packet', () => {
    expect(publicKeyBody('aes256-gcm96', new Uint8Array(), created)).toBeUndefined();
    expect(publicKeyBody('__proto__', new Uint8Array(), created)).toBeUndefined();
  });
});

// Raw signing of a digest, as a token does it; node:crypto offers that for these two.
const rawSigners: Readonly<Record<string, (key: KeyObject, digest: Uint8Array) => Uint8Array>> = {
  'rsa-2048': (key, digest) =>
    privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, Buffer.concat([Buffer.from(sha512Info, 'hex'), digest])),
  ed25519: (key, digest) => sign(null, digest, key),
};
const sha512Info = '3051300d060960864801650304020305000440';

describe.each(pairs.filter(([cipher]) => cipher in rawSigners))('signatures by %s', (cipher, { publicKey, privateKey }) => {
  const signer: Signer = {
    ...bodyOf(cipher, publicKey),
    draw: async (octets) => randomBytes(octets),
    sign: async ({ digest }) => (rawSigners[cipher] as (key: KeyObject, digest: Uint8Array) => Uint8Array)(privateKey, digest),
  };
  const data = encodeUtf8('some data\r\nwith lines\n');

  test('as primary key: the certificate and 50 signatures verify', async () => {
    const { certificate } = await certifyPrimary(signer, statementWith('Ada <ada@example.org>'), created);
    const key = await readKey({ armoredKey: formatArmor('public', certificate) });
    expect(key.getUserIDs()).toEqual(['Ada <ada@example.org>']);
    expect((await key.getSigningKey(undefined, new Date(created * 1000))).getFingerprint().toUpperCase()).toBe(
      formatFingerprint(signer.fingerprint),
    );
    const record = { fingerprints: [], created, notBefore: created, certificate };
    for (let second = 0; second < 50; second += 1) {
      const now = Temporal.Instant.fromEpochMilliseconds((created + second) * 1000 + 999);
      const signature = await readSignature({ binarySignature: await signDetached(signer, record, data, now) });
      expect(signature.packets[0]?.created?.getTime()).toBe((created + second) * 1000);
      const { signatures } = await verify({
        message: await createMessage({ binary: data }),
        signature,
        verificationKeys: key,
        format: 'binary',
      });
      expect(await signatures[0]?.verified).toBe(true);
    }
  });

  test('as subkey of itself in another second: binding and back-signature verify, and are dated when both keys exist', async () => {
    const older = { ...signer, ...bodyOf(cipher, publicKey, created - 1000) };
    const record = {
      fingerprints: [],
      created: older.created,
      notBefore: bindingTime(signer, older),
      ...(await certifyPrimary(signer, statementWith('Ada'), created)),
      subkey: { ...(await bindSubkey(signer, older, undefined)), primaryVersion: 1, primaryFingerprint: '' },
    };
    expect(record.notBefore).toBe(created);
    const key = await readKey({ binaryKey: certificatePackets(record) });
    const signing = await key.getSigningKey(undefined, new Date(created * 1000));
    expect(signing.getFingerprint().toUpperCase()).toBe(formatFingerprint(older.fingerprint));
    // The clock is behind the binding: the signature is dated at the binding.
    const early = Temporal.Instant.fromEpochMilliseconds((created - 500) * 1000);
    const signature = await readSignature({ binarySignature: await signDetached(older, record, data, early) });
    expect(signature.packets[0]?.created?.getTime()).toBe(created * 1000);
  });

  test('one flipped bit of the data, and the signature does not verify', async () => {
    const { certificate } = await certifyPrimary(signer, statementWith('Ada'), created);
    const record = { fingerprints: [], created, notBefore: created, certificate };
    const signature = await signDetached(signer, record, data, Temporal.Instant.fromEpochMilliseconds(created * 1000));
    const wrong = Uint8Array.from(data, (octet, at) => (at === 3 ? octet ^ 1 : octet));
    const { signatures } = await verify({
      message: await createMessage({ binary: wrong }),
      signature: await readSignature({ binarySignature: signature }),
      verificationKeys: await readKey({ binaryKey: certificate }),
      format: 'binary',
    });
    await expect(signatures[0]?.verified).rejects.toThrow(/digest/);
  });
});

test('armor carries its checksum, also where base64 needs no padding', () => {
  for (const length of [3, 4, 5]) expect(formatArmor('signature', new Uint8Array(length))).toMatch(/\n=[A-Za-z0-9+/]{4}\n-----END/);
});

test('times are rounded down to whole seconds', () => {
  expect(openpgpSeconds(Temporal.Instant.fromEpochMilliseconds(1999))).toBe(1);
});

function bodyOf(cipher: string, publicKey: KeyObject, at = created): PublicKeyBody {
  const body = publicKeyBody(cipher, publicKey.export({ format: 'der', type: 'spki' }), at);
  if (body === undefined) throw new Error(`${cipher} has no OpenPGP form`);
  return body;
}
