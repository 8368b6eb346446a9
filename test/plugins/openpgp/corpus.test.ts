// Certificates and signatures of gpg and sq, unusual ones included: each has its documented answer.
import { createPublicKey, generateKeyPairSync, randomBytes, sign as signOctets } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AnyPacket,
  type Config,
  enums,
  PacketList,
  type PrivateKey,
  type SecretKeyPacket,
  type Subkey,
  generateKey,
  createMessage,
  sign,
  reformatKey,
  revokeKey,
} from 'openpgp';
import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../../core/base/errors.ts';
import { certifyPrimary } from '../../../plugins/openpgp/certificates/certificate.ts';
import { importCertificate, type ImportedCertificate } from '../../../plugins/openpgp/certificates/import-public-key.ts';
import { formatArmor } from '../../../plugins/openpgp/format/keyblock.ts';
import { formatFingerprint, framedKey, framedUserId, packet, packetTag, subpacket } from '../../../plugins/openpgp/format/packets.ts';
import { readSignatures } from '../../../plugins/openpgp/format/reading.ts';
import { makeSignature, signatureType, subpacketType } from '../../../plugins/openpgp/format/signature.ts';
import { publicKeyBody, type Signer } from '../../../plugins/openpgp/format/signer.ts';
import { findGoodSignature, type GoodSignature, matchVersions } from '../../../plugins/openpgp/certificates/verification.ts';
import { statementWith } from './harness.ts';

const folder = join(import.meta.dirname, '../../interop/openpgp-corpus');
const file = (name: string): string => readFileSync(join(folder, name), 'utf8');
const document = readFileSync(join(folder, 'document.txt'));
const now = Temporal.Instant.from('2027-01-01T00:00:00Z');
/** When keys and signatures are made: what openpgp.js dates by the clock of the machine would one day be later than `now`. */
const date = new Date('2026-06-01T00:00:00Z');

describe('accepted blocks and what they become (openpgp-verify takes what they signed)', () => {
  test.each([
    ['gpg-rsa2048', 'rsa-2048', 'rsa 2048', 1],
    ['gpg-rsa3072', 'rsa-3072', 'rsa 3072', 1],
    ['gpg-rsa4096', 'rsa-4096', 'rsa 4096', 1],
    ['gpg-ed25519', 'ed25519', 'ed25519', 1],
    ['gpg-nistp256', 'ecdsa-p256', 'ec prime256v1', 1],
    ['gpg-nistp384', 'ecdsa-p384', 'ec secp384r1', 1],
    ['gpg-nistp521', 'ecdsa-p521', 'ec secp521r1', 1],
    ['gpg-subkeys', 'ed25519', 'ed25519', 1],
    ['gpg-expired', 'ed25519', 'ed25519', 1],
    ['gpg-extended', 'ed25519', 'ed25519', 1],
    ['sq-default', 'ed25519', 'ed25519', 1],
    ['sq-rsa4k', 'rsa-4096', 'rsa 4096', 1],
  ])('%s is %s', async (name, cipher, nodeKey, signingKeys) => {
    const imported = await importCertificate(file(`${name}.asc`), now);
    const { asymmetricKeyType, asymmetricKeyDetails: details } = createPublicKey({
      key: Buffer.from(imported.publicKey),
      format: 'der',
      type: 'spki',
    });
    expect(imported.cipher).toBe(cipher);
    expect([asymmetricKeyType, details?.modulusLength ?? details?.namedCurve].join(' ').trim()).toBe(nodeKey);
    expect(imported.record.fingerprints).toHaveLength(signingKeys);
    expect(imported.record.imported).toBe(file(`${name}.asc`));
    const good = await check(imported, file(`${name}.sig`), document);
    expect(good?.fingerprint).toBe(imported.record.fingerprints[0]);
    expect(good?.keyId).toBe(imported.record.fingerprints[0]?.slice(-16));
    expect(await check(imported, file(`${name}.sig`), Buffer.from('another document'))).toBeUndefined();
  });

  test('version 6 and algorithm 27', async () => {
    const config: Partial<Config> = { v6Keys: true };
    for (const options of [
      { type: 'curve25519' as const, config },
      { type: 'rsa' as const, rsaBits: 2048, config },
      { type: 'curve25519' as const },
    ]) {
      const { privateKey, publicKey } = await generateKey({ userIDs: { name: 'six' }, format: 'object', date, ...options });
      const imported = await importCertificate(publicKey.armor(), now);
      const signature = await sign({ message: await createMessage({ binary: document }), signingKeys: privateKey, detached: true, date });
      expect((await check(imported, signature, document))?.fingerprint).toBe(privateKey.getFingerprint().toUpperCase());
      expect(await check(imported, signature, Buffer.from('x'))).toBeUndefined();
    }
  });
});

describe('refused blocks and why', () => {
  test.each([
    ['gpg-dsa2048', /No key of the certificate can sign/],
    ['gpg-brainpoolP256r1', /No key of the certificate can sign/],
    ['gpg-secp256k1', /No key of the certificate can sign/],
    ['gpg-certify-only', /No key of the certificate can sign/],
    ['gpg-revoked', /revoked/],
    ['gpg-private', /private key/],
    ['gpg-two-certificates', /exactly one certificate/],
    ['gpg-two-blocks', /there are several.*one by one/],
  ])('%s', async (name, reason) => {
    await expect(importCertificate(file(`${name}.asc`), now)).rejects.toThrow(reason);
    await expect(importCertificate(file(`${name}.asc`), now)).rejects.toMatchObject({ code: 'invalid-key-data', status: 400 });
  });

  test.each([
    ['nothing', ''],
    ['text', 'not a key'],
    ['a signature', file('gpg-ed25519.sig')],
    ['a torn block', file('gpg-rsa2048.asc').slice(0, 600)],
    ['an empty block', '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n-----END PGP PUBLIC KEY BLOCK-----\n'],
    ['garbage in armor', `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${'QUJD'.repeat(100)}\n-----END PGP PUBLIC KEY BLOCK-----\n`],
    ['a PEM key', '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----\n'],
    ['too large a block', file('gpg-rsa2048.asc').replace('\n\n', `\n\n${'A'.repeat(300_000)}`)],
  ])('%s', async (_, block) => {
    await expect(importCertificate(block, now)).rejects.toMatchObject({ code: 'invalid-key-data' });
  });

  test('no User ID', async () => {
    const { publicKey } = await generateKey({ userIDs: { name: 'x' }, date, format: 'object' });
    await expect(importCertificate(formatArmor('public', packetsOf(publicKey.keyPacket)), now)).rejects.toThrow(/readable|User ID/);
  });

  test.each([enums.reasonForRevocation.keyCompromised, enums.reasonForRevocation.noReason])('revoked with reason %i', async (flag) => {
    const { privateKey } = await generateKey({ userIDs: { name: 'x' }, date, format: 'object' });
    const { publicKey } = await revokeKey({ key: privateKey, reasonForRevocation: { flag }, date, format: 'object' });
    await expect(importCertificate(publicKey.armor(), now)).rejects.toThrow(/revoked/);
  });

  test('more than 1000 packets, more than 32 subkeys', async () => {
    const { privateKey } = await generateKey({ userIDs: { name: 'x' }, subkeys: [{ sign: true }], date, format: 'object' });
    const [key, userId, selfSignature, ...subkey] = privateKey.toPublic().toPacketList();
    const block = (...packets: readonly (typeof key)[]): string => formatArmor('public', packetsOf(...packets));
    const userIds = Array<typeof userId>(1000).fill(userId);
    await expect(importCertificate(block(key, ...userIds, selfSignature), now)).rejects.toThrow(/1000 packets/);
    const subkeys = Array.from({ length: 33 }, () => subkey).flat();
    await expect(importCertificate(block(key, userId, selfSignature, ...subkeys), now)).rejects.toThrow(/32 subkeys/);
  });

  test('256 KiB are counted after decoding: armor, however its lines are broken, and base64 take the same certificate', async () => {
    const limit = 256 * 1024;
    const { certificate } = await certifyPrimary(ed25519Signer(), statementWith('x'), 1_750_000_000);
    const longest = packet(packetTag.userId, Buffer.alloc(5000, 'y'));
    const filled = (size: number): Buffer => {
      const parts = [certificate, ...Array<Uint8Array>(52).fill(longest)];
      const left = size - Buffer.concat(parts).length;
      return Buffer.concat([...parts, packet(packetTag.userId, Buffer.alloc(left - 3, 'z'))]);
    };
    const forms = (octets: Buffer): readonly string[] => {
      const armored = formatArmor('public', octets);
      return [armored, armored.replaceAll('\n', '\r\n'), octets.toString('base64')];
    };
    expect([filled(limit).length, filled(limit + 1).length]).toEqual([limit, limit + 1]);
    for (const block of forms(filled(limit))) expect((await importCertificate(block, now)).cipher).toBe('ed25519');
    for (const block of forms(filled(limit + 1)))
      await expect(importCertificate(block, now)).rejects.toThrow(
        'The packets in openpgp have 262145 octets; 262144 (256 KiB) are taken, counted when armor or base64 is decoded. Export a minimal block',
      );
  });

  test('signatures of others are left out where that is asked for, and the rest is as it was', async () => {
    const [ada, other] = [ed25519Signer(), ed25519Signer()];
    const { certificate } = await certifyPrimary(ada, statementWith('x'), ada.created);
    const about = [framedKey(ada.body), framedUserId(Buffer.from('x'))];
    const foreign = await makeSignature(other, signatureType.positiveCertification, other.created, about);
    const many = Buffer.concat([certificate, ...Array<Uint8Array>(3000).fill(foreign), packet(17, Buffer.from('picture')), foreign]);
    const block = formatArmor('public', many);
    await expect(importCertificate(block, now)).rejects.toThrow(/256 KiB/);
    const { record } = await importCertificate(block, now, true);
    expect(record.fingerprints).toEqual([formatFingerprint(ada.fingerprint)]);
    expect(record.imported).toBe(formatArmor('public', certificate));
    expect((await importCertificate(many.toString('base64'), now, true)).record.imported).toBe(record.imported);
    for (const torn of [many.subarray(0, -1), many.subarray(certificate.length), Buffer.alloc(9, 0xff)])
      await expect(importCertificate(torn.toString('base64'), now, true)).rejects.toThrow(/does not begin with a public key, or is torn/);
  });

  test('a subkey without back-signature does not count: the primary key signs', async () => {
    const [primary, subkey] = [ed25519Signer(), ed25519Signer()];
    const parts = [framedKey(primary.body), framedKey(subkey.body)];
    const flags = subpacket(subpacketType.keyFlags, Uint8Array.of(2), { critical: true });
    const binding = await makeSignature(primary, signatureType.subkeyBinding, primary.created, parts, [flags]);
    const { certificate } = await certifyPrimary(primary, statementWith('x'), primary.created);
    const block = formatArmor('public', Buffer.concat([certificate, packet(packetTag.publicSubkey, subkey.body), binding]));
    expect((await importCertificate(block, now)).record.fingerprints).toEqual([formatFingerprint(primary.fingerprint)]);
  });
});

describe('signatures', () => {
  test('binary in base64, text mode, and two signers', async () => {
    const subkeys = await importCertificate(file('gpg-subkeys.asc'), now);
    expect(await check(subkeys, readFileSync(join(folder, 'gpg-subkeys.bin.sig')).toString('base64'), document)).toBeDefined();
    expect(await check(subkeys, file('gpg-subkeys-textmode.sig'), document)).toBeDefined();
    expect(await check(subkeys, file('gpg-two-signers.sig'), document)).toBeDefined();
    expect(await check(await importCertificate(file('gpg-ed25519.asc'), now), file('gpg-two-signers.sig'), document)).toBeDefined();
  });

  test('of another key: no version matches', async () => {
    expect(await check(await importCertificate(file('gpg-rsa2048.asc'), now), file('gpg-ed25519.sig'), document)).toBeUndefined();
  });

  test('made by an expired key after its end, or before the key existed, is not good', async () => {
    const day = 86_400_000;
    const date = new Date('2024-01-01T00:00:00Z');
    const { privateKey, publicKey } = await generateKey({ userIDs: { name: 'x' }, format: 'object', date, keyExpirationTime: 10 * 86_400 });
    const imported = await importCertificate(publicKey.armor(), now);
    const { privateKey: extended } = await reformatKey({ privateKey, userIDs: { name: 'x' }, date, format: 'object' });
    const at = async (days: number): Promise<GoodSignature | undefined> => {
      const signature = await sign({
        message: await createMessage({ binary: document }),
        signingKeys: extended,
        detached: true,
        date: new Date(date.getTime() + days * day),
      });
      return check(imported, signature, document);
    };
    expect(await at(5)).toBeDefined();
    expect(await at(11)).toBeUndefined();
  });

  test('of the future: good within five minutes, not later', async () => {
    const { privateKey, publicKey } = await generateKey({
      userIDs: { name: 'x' },
      format: 'object',
      date: new Date('2026-12-01T00:00:00Z'),
    });
    const imported = await importCertificate(publicKey.armor(), now);
    const ahead = async (seconds: number): Promise<GoodSignature | undefined> => {
      const date = new Date(now.epochMilliseconds + seconds * 1000);
      const signature = await sign({ message: await createMessage({ binary: document }), signingKeys: privateKey, detached: true, date });
      return check(imported, signature, document);
    };
    expect(await ahead(0)).toBeDefined();
    expect(await ahead(300)).toBeDefined();
    expect(await ahead(301)).toBeUndefined();
  });

  test.each([
    ['nothing', '', 'invalid-format'],
    ['no base64', 'not base64!', 'invalid-base64'],
    ['a clearsigned document', file('gpg-clearsigned.sig'), 'invalid-format'],
    ['a key block', file('gpg-ed25519.asc'), 'invalid-format'],
    ['two blocks', file('gpg-ed25519.sig') + file('gpg-ed25519.sig'), 'invalid-format'],
    ['a torn block', file('gpg-rsa2048.sig').slice(0, 200), 'invalid-format'],
    [
      'too many packets',
      Buffer.concat(Array.from({ length: 17 }, () => readFileSync(join(folder, 'gpg-subkeys.bin.sig')))).toString('base64'),
      'invalid-format',
    ],
    ['other packets', Buffer.from('cb0562000000000061', 'hex').toString('base64'), 'invalid-format'],
  ])('unreadable: %s', async (_, text, code) => {
    const refusal = await readSignatures(text).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(ServiceError);
    expect((refusal as ServiceError).code).toBe(code);
  });
});

describe('superseded and retired keys keep what they signed before, compromised ones and those revoked without a reason nothing', () => {
  const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
  const reasons = enums.reasonForRevocation;
  const cases = [
    ['superseded', reasons.keySuperseded, true],
    ['retired', reasons.keyRetired, true],
    ['compromised', reasons.keyCompromised, false],
    ['no reason', reasons.noReason, false],
  ] as const;
  const signedOn = async (signingKeys: PrivateKey, date: Date): Promise<string> =>
    sign({ message: await createMessage({ binary: document }), signingKeys, detached: true, date });

  test.each(cases)('a subkey, %s', async (_, flag, keeps) => {
    const { privateKey } = await generateKey({ userIDs: { name: 'x' }, subkeys: [{ sign: true }], date: day(1), format: 'object' });
    const [before, after] = [await signedOn(privateKey, day(5)), await signedOn(privateKey, day(15))];
    const retired = privateKey.subkeys[0] as Subkey;
    retired.revocationSignatures = [
      ...(await retired.revoke(privateKey.keyPacket as SecretKeyPacket, { flag }, day(10))).revocationSignatures,
    ];
    const renewed = await privateKey.addSubkey({ sign: true, date: day(11) });
    const imported = await importCertificate(renewed.toPublic().armor(), now);
    const fromNewKey = await signedOn(renewed, day(15));
    // The order matters to openpgp.js, which marks what it has found revoked.
    for (const signature of [after, before, after]) {
      const good = await check(imported, signature, document);
      expect(good?.fingerprint).toBe(keeps && signature === before ? retired.getFingerprint().toUpperCase() : undefined);
    }
    expect(await check(imported, fromNewKey, document)).toBeDefined();
    const asStoredEarlier = { ...imported, record: { ...imported.record, fingerprints: imported.record.fingerprints.slice(0, 1) } };
    expect((await check(asStoredEarlier, before, document)) !== undefined).toBe(keeps);
  });

  test.each(cases.filter(([, , keeps]) => keeps))('a primary key, %s', async (_, flag) => {
    const { privateKey } = await generateKey({ userIDs: { name: 'x' }, date: day(1), format: 'object' });
    const signatures = [await signedOn(privateKey, day(15)), await signedOn(privateKey, day(5))];
    const { publicKey } = await revokeKey({ key: privateKey, reasonForRevocation: { flag }, date: day(10), format: 'object' });
    const imported = await importCertificate(publicKey.armor(), now);
    const good = await Promise.all(signatures.map((signature) => check(imported, signature, document)));
    expect(good.map((one) => one !== undefined)).toEqual([false, true]);
  });
});

async function check(imported: ImportedCertificate, signature: string, data: Uint8Array): Promise<GoodSignature | undefined> {
  const version = {
    version: 1,
    created: now,
    publicKey: imported.publicKey,
    key: undefined,
    attached: imported.record,
    isCertified: false,
  };
  return findGoodSignature(await matchVersions(await readSignatures(signature), [version]), data, now);
}

function packetsOf(...packets: readonly (AnyPacket | undefined)[]): Uint8Array {
  const list = new PacketList<AnyPacket>();
  for (const packet of packets) if (packet !== undefined) list.push(packet);
  return list.write();
}

function ed25519Signer(): Signer {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const body = publicKeyBody('ed25519', publicKey.export({ format: 'der', type: 'spki' }), 1_750_000_000);
  if (body === undefined) throw new Error('ed25519 has no OpenPGP form');
  return { ...body, sign: async ({ digest }) => signOctets(null, digest, privateKey), draw: async (octets) => randomBytes(octets) };
}
