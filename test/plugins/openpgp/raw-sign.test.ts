// A caller who may only `sign` with an OpenPGP key cannot make OpenPGP signatures with it: no certification, no binding of a software key.
import { hash } from 'node:crypto';
import { generateKey, readKey, type Key, type PrivateKey } from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { concat, encodeUtf8, uint32 } from '../../../core/base/bytes.ts';
import { type Algorithm, findAlgorithm, hashIds } from '../../../plugins/openpgp/format/algorithms.ts';
import { framedKey, framedUserId, packet, packetTag, subpacket, uint16 } from '../../../plugins/openpgp/format/packets.ts';
import { signatureType, subpacketType } from '../../../plugins/openpgp/format/signature.ts';
import { type PublicKeyBody, publicKeyBody } from '../../../plugins/openpgp/format/signer.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { base64, codeOf, type OpenpgpHarness, startOpenpgpHarness } from './harness.ts';

const directory = temporaryDirectory();
const ciphers = ['rsa-2048', 'ecdsa-p256', 'ed25519'] as const;
const userId = 'Thief <thief@example.test>';
let harness: OpenpgpHarness;
let software: Key;

beforeAll(async () => {
  harness = await startOpenpgpHarness(directory('harness'), '2026-03-01T12:00:00Z');
  const made = (await generateKey({ userIDs: [{ name: 'software' }], format: 'object', date: harness.today() })) as {
    privateKey: PrivateKey;
  };
  software = made.privateKey.toPublic();
  for (const cipher of ciphers) {
    await harness.create(`plain-${cipher}`, { cipher });
    await harness.create(`primary-${cipher}`, { cipher, 'openpgp-user-id': 'Owner <owner@example.test>' });
    await harness.create(`subkey-${cipher}`, { cipher, 'openpgp-primary': `primary-${cipher}`, 'openpgp-key-usage': ['sign'] });
    await harness.create(`former-${cipher}`, { cipher, 'openpgp-user-id': 'Owner <owner@example.test>' });
    expect((await harness.patch(`former-${cipher}`, { 'openpgp-user-id': null })).status).toBe(204);
  }
});
afterAll(() => harness.close());

type Way = 'text' | 'prehashed';

/** A signature packet of the key `name` made with `sign`; the status and code of the refusal where it is refused. */
async function forge(name: string, algorithm: Algorithm, type: number, parts: readonly Uint8Array[], extra: Uint8Array, way: Way) {
  const hashed = concat(
    subpacket(subpacketType.creationTime, uint32(Math.floor(harness.today().getTime() / 1000)), { critical: true }),
    extra,
  );
  const head = concat(Uint8Array.of(4, type, algorithm.id, hashIds[algorithm.hashes[0]]), uint16(hashed.length), hashed);
  const input = concat(...parts, head, Uint8Array.of(4, 0xff), uint32(head.length));
  const digest = hash(algorithm.hashes[0], input, 'buffer');
  const isEdwards = algorithm.id === 22;
  const text = base64(isEdwards || way === 'prehashed' ? digest : input);
  const options = isEdwards ? {} : { 'hash-algorithm': algorithm.hashes[0], ...(way === 'prehashed' ? { prehashed: true } : {}) };
  const { status, body } = await harness.act(name, 'sign', { text, marshaling: 'jws', ...options });
  if (status !== 200) return { status, code: body.code as string };
  const raw = Buffer.from(String(body.signature).split(':')[2] as string, 'base64url');
  return packet(packetTag.signature, concat(head, uint16(0), digest.subarray(0, 2), algorithm.signatureMaterial(raw)));
}

/** The certificate a thief makes of a key: User ID and software subkey, both certified with `sign`. */
async function steal(name: string, cipher: string, way: Way): Promise<Uint8Array | { status: number; code: string }> {
  const algorithm = findAlgorithm(cipher) as Algorithm;
  const { keys } = await harness.state(name);
  const spki = Buffer.from(String(keys['1']).replace(/-----[^-]+-----/g, ''), 'base64');
  const { body, fingerprint } = publicKeyBody(cipher, spki, Math.floor(harness.today().getTime() / 1000)) as PublicKeyBody;
  const subkey = (software.subkeys[0] as Key['subkeys'][number]).keyPacket.write();
  const id = encodeUtf8(userId);
  const issuer = subpacket(subpacketType.issuerKeyId, fingerprint.subarray(12));
  const flags = (value: number): Uint8Array => concat(issuer, subpacket(subpacketType.keyFlags, Uint8Array.of(value)));
  const certification = await forge(
    name,
    algorithm,
    signatureType.positiveCertification,
    [framedKey(body), framedUserId(id)],
    flags(3),
    way,
  );
  if (!(certification instanceof Uint8Array)) return certification;
  const binding = await forge(name, algorithm, signatureType.subkeyBinding, [framedKey(body), framedKey(subkey)], flags(12), way);
  if (!(binding instanceof Uint8Array)) return binding;
  return concat(
    packet(packetTag.publicKey, body),
    packet(packetTag.userId, id),
    certification,
    packet(packetTag.publicSubkey, subkey),
    binding,
  );
}

describe.each(ciphers)('%s', (cipher) => {
  const ways: readonly Way[] = cipher === 'ed25519' ? ['prehashed'] : ['text', 'prehashed'];

  test.each(ways)('a key without a role makes a certificate that openpgp.js takes, from its %s: so the recipe is right', async (way) => {
    const stolen = await steal(`plain-${cipher}`, cipher, way);
    const certificate = await readKey({ binaryKey: stolen as Uint8Array });
    const date = new Date(harness.today().getTime() + 1_000);
    expect(await certificate.getEncryptionKey(undefined, date)).toBe(certificate.subkeys[0]);
  });

  test.each(ways.flatMap((way) => (['primary', 'subkey', 'former'] as const).map((role) => [role, way] as const)))(
    'a %s key refuses to sign it from its %s: 409 openpgp-sign-only',
    async (role, way) => {
      expect(await steal(`${role}-${cipher}`, cipher, way)).toEqual({ status: 409, code: 'openpgp-sign-only' });
    },
  );

  test('the refusal is the same in a batch, and other items are signed', async () => {
    const digest = base64(hash('sha256', 'x', 'buffer'));
    const forbidden = cipher === 'ed25519' ? { text: digest } : { text: digest, prehashed: true };
    const { body } = await harness.act(`primary-${cipher}`, 'sign', { 'batch-input': [forbidden, { text: base64('ordinary') }] });
    expect(body['batch-results'].map((one: { code?: string }) => one.code)).toEqual(['openpgp-sign-only', undefined]);
  });

  test('ordinary texts are signed and verified as with any other key', async () => {
    for (const text of ['', 'hello world', 'x'.repeat(1_000), '{"alg":"ES256"}.payload', '\u00ff\u0004']) {
      const { signature } = await harness.do(`primary-${cipher}`, 'sign', { text, 'base64-encoded': false });
      expect(await harness.do(`primary-${cipher}`, 'verify', { text, 'base64-encoded': false, signature })).toMatchObject({ valid: true });
    }
  });
});

test('every option of RSA and ECDSA is refused for finished hashes, and every length of a hash for Ed25519', async () => {
  const refusal = { status: 409, code: 'openpgp-sign-only' };
  for (const [algorithm, octets] of Object.entries({ sha256: 32, sha384: 48, sha512: 64 })) {
    const digest = { text: base64(new Uint8Array(octets)), prehashed: true, 'hash-algorithm': algorithm };
    for (const padding of ['pkcs1v15', 'pss'])
      for (const marshaling of ['asn1', 'jws']) {
        expect(await codeOf(harness.act('primary-rsa-2048', 'sign', { ...digest, 'signature-algorithm': padding, marshaling }))).toEqual(
          refusal,
        );
        expect(await codeOf(harness.act('primary-ecdsa-p256', 'sign', { ...digest, marshaling }))).toEqual(refusal);
      }
  }
  for (const octets of [16, 20, 28, 32, 48, 64])
    expect(await codeOf(harness.act('primary-ed25519', 'sign', { text: base64(new Uint8Array(octets)) }))).toEqual(refusal);
});
