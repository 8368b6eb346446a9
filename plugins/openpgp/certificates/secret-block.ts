// The key of a private key block, opened with its passphrase; runs in a thread, as reading and opening may be seconds of work.
import { createPrivateKey } from 'node:crypto';
import { fail as failCore, ServiceError } from '../../../core/base/errors.ts';
import type { Config, PrivateKey, SecretKeyPacket, SecretSubkeyPacket } from 'openpgp';
import { defined } from '../../../core/base/defined.ts';
import { unusable } from '../errors.ts';
import { type PastPrimary, pastOfPrimary, type PastSubkey, pastOfSubkey } from './past.ts';
import { userIdSchema } from '../records.ts';
import { openpgp } from '../format/library.ts';
import { readPrivateKeyBlock } from '../format/reading.ts';
import { encodeBase64url } from '../../../core/base/bytes.ts';

/** A block, and which key of it is meant. */
export type SecretBlockOrder = {
  readonly text: string;
  readonly passphrase: string | undefined;
  /** upper-case hexadecimal; undefined: the primary key, or with `isSubkey` the one subkey that signs */
  readonly fingerprint: string | undefined;
  readonly isSubkey: boolean;
};

/** `created`: in seconds. `fingerprint`: upper-case hexadecimal. */
export type SecretBlockKey = {
  readonly pkcs8: Uint8Array;
  readonly created: number;
  readonly fingerprint: string;
  readonly primary?: PastPrimary;
  readonly subkey?: PastSubkey;
};

/** Throws invalid-key-data, invalid-value, missing-field. */
export async function readSecretBlock({ text, passphrase, fingerprint, isSubkey }: SecretBlockOrder): Promise<SecretBlockKey> {
  const block = await readPrivateKeyBlock(text);
  const packet = await chooseKey(block, isSubkey, fingerprint);
  await requireNotRevoked(block, packet);
  await unlock(packet, passphrase);
  return {
    pkcs8: pkcs8Of(packet),
    created: Math.floor(packet.getCreationTime().getTime() / 1000),
    fingerprint: packet.getFingerprint().toUpperCase(),
    ...(await pastOf(block, packet, usableUserId)),
  };
}

async function pastOf(
  block: PrivateKey,
  packet: SecretPacket,
  usable: (text: string) => boolean,
): Promise<Pick<SecretBlockKey, 'primary' | 'subkey'>> {
  if (packet === block.keyPacket) return { primary: await pastOfPrimary(block, usable) };
  return defined({ subkey: await pastOfSubkey(block, packet.getFingerprint().toUpperCase()) });
}

/** The rule for User IDs of requests, which the certificates of here have to satisfy. */
function usableUserId(text: string): boolean {
  return userIdSchema.safeParse(text).data === text;
}

type SecretPacket = SecretKeyPacket | SecretSubkeyPacket;

/** The key that is meant: one signs for a subkey, the primary key for every other. */
async function chooseKey(block: PrivateKey, isSubkey: boolean, fingerprint: string | undefined): Promise<SecretPacket> {
  const all = block.getKeys().map((key) => key.keyPacket as SecretPacket);
  const named = all.find((packet) => packet.getFingerprint().toUpperCase() === fingerprint);
  if (fingerprint !== undefined && named === undefined)
    throw unusable(`The block has no key ${fingerprint}; it has ${all.map((packet) => packet.getFingerprint().toUpperCase()).join(', ')}.`);
  if (named !== undefined) return requireSecret(named);
  if (!isSubkey) return requireSecret(block.keyPacket as SecretPacket);
  const signing: SecretPacket[] = [];
  for (const subkey of block.subkeys) {
    const found = await block.getSigningKey(subkey.getKeyID(), null).catch(() => undefined);
    if (found === subkey) signing.push(subkey.keyPacket as SecretPacket);
  }
  const [only] = signing;
  if (only !== undefined && signing.length === 1) return requireSecret(only);
  throw unusable(
    signing.length === 0
      ? 'The block has no subkey that signs. Name a key of it with openpgp-fingerprint.'
      : `Several subkeys of the block sign: name one with openpgp-fingerprint: ${signing.map((packet) => packet.getFingerprint().toUpperCase()).join(', ')}.`,
  );
}

function requireSecret(packet: SecretPacket): SecretPacket {
  if (!packet.isDummy()) return packet;
  throw unusable(
    `The block has no secret of ${packet.getFingerprint().toUpperCase()}: it was exported without (gpg shows "sec#"), or it is on a card.`,
  );
}

/** A key that its owner has revoked, for any reason: a new statement without the revocation would have others trust it again. */
async function requireNotRevoked(block: PrivateKey, packet: SecretPacket): Promise<void> {
  // An old program has made the revocation with SHA-1, perhaps; it counts all the same.
  const config = { ...openpgp().config, rejectHashAlgorithms: new Set<never>() };
  const holder = packet === block.keyPacket ? block : block.subkeys.find(({ keyPacket }) => keyPacket === packet);
  // The types want a signature that is to be revoked; without it, any revocation counts.
  const revocable = holder as Pick<PrivateKey, 'isRevoked'> | undefined;
  if ((await revocable?.isRevoked(undefined, undefined, undefined, config)) !== true) return;
  throw unusable(`The key ${packet.getFingerprint().toUpperCase()} is revoked in the block. Import one that is not, or make a new key.`);
}

/** The most work that a block may ask for: ten passes of Argon2 over 64 MiB, about a second. Iterated hashes have at most 65 MB by their encoding. */
const most = { memoryExponent: 16, passesOverIt: 10 };

type Argon2 = { readonly type: 'argon2'; readonly t: number; readonly encodedM: number };

function requireLittleWork({ s2k }: { readonly s2k?: Argon2 | { readonly type: string } | null }): void {
  if (s2k?.type !== 'argon2') return;
  const { t, encodedM } = s2k as Argon2;
  if (encodedM <= most.memoryExponent && t * 2 ** encodedM <= most.passesOverIt * 2 ** most.memoryExponent) return;
  throw unusable(
    `The private key block asks for ${t} passes of Argon2 over 2^${encodedM} KiB; ${most.passesOverIt} over 64 MiB are taken, or as much work with less memory. Protect the key with fewer first.`,
  );
}

async function unlock(packet: SecretPacket, passphrase: string | undefined): Promise<void> {
  if (packet.isDecrypted()) {
    if (passphrase === undefined) return;
    throw misplaced('passphrase', 'the private key block is not protected by one');
  }
  if (passphrase === undefined) {
    throw failCore('missing-field', {
      detail: '"data" is a private key block that a passphrase protects: give it as "passphrase".',
      items: [{ message: 'is required', info: 'passphrase' }],
    });
  }
  requireLittleWork(packet as unknown as { readonly s2k?: Argon2 });
  const config = { ...openpgp().config, maxArgon2MemoryExponent: most.memoryExponent };
  // The types leave the settings out.
  const opening = (packet as unknown as { decrypt(passphrase: string, config: Config): Promise<void> }).decrypt(passphrase, config);
  await opening.catch(() => {
    throw unusable('The private key block does not open with this passphrase, or is damaged.');
  });
}

/** The private key. Throws invalid-key-data, for numbers that contradict each other as well. */
function pkcs8Of(packet: SecretPacket): Uint8Array {
  try {
    return createPrivateKey({ key: privateJwkOf(packet), format: 'jwk' }).export({ format: 'der', type: 'pkcs8' });
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw unusable('The numbers of the private key contradict each other, or are out of their range.');
  }
}

type Numbers = Readonly<Record<string, Uint8Array | undefined>>;

/** The private key as node:crypto reads it. Throws invalid-key-data for types that no cipher here has. */
function privateJwkOf(packet: SecretPacket): JsonWebKey {
  const { algorithm, curve = '' } = packet.getAlgorithmInfo();
  const open = packet.publicParams as Numbers;
  const secret = packet.privateParams as Numbers;
  if (algorithm === 'rsaEncryptSign' || algorithm === 'rsaSign') return rsaJwk(open, secret);
  const crv = curves.get(curve);
  if (algorithm === 'ecdsa' && crv !== undefined && open['Q'] !== undefined) {
    const width = (open['Q'].length - 1) / 2;
    const [x, y] = [open['Q'].subarray(1, 1 + width), open['Q'].subarray(1 + width)];
    return { kty: 'EC', crv, x: encodeBase64url(x), y: encodeBase64url(y), d: encodeBase64url(padded(secret['d'], width)) };
  }
  if (algorithm === 'eddsaLegacy' && open['Q']?.length === 33)
    return { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(open['Q'].subarray(1)), d: encodeBase64url(padded(secret['seed'], 32)) };
  throw unusable(`A key of the algorithm ${algorithm} ${curve} is not offered; RSA, Ed25519 as algorithm 22 and NIST ECDSA are.`);
}

const curves: ReadonlyMap<string, string> = new Map([
  ['nistP256', 'P-256'],
  ['nistP384', 'P-384'],
  ['nistP521', 'P-521'],
]);

/** OpenPGP has u = p⁻¹ mod q, JWK qi = q⁻¹ mod p: with the primes in the other order they are the same. */
function rsaJwk({ n, e }: Numbers, { d, p, q, u }: Numbers): JsonWebKey {
  if (n === undefined || e === undefined || d === undefined || p === undefined || q === undefined || u === undefined)
    throw unusable('The RSA key in the block lacks a number.');
  const modulo = (prime: Uint8Array): Uint8Array => octetsOf(numberOf(d) % (numberOf(prime) - 1n));
  return {
    kty: 'RSA',
    ...{ n: encodeBase64url(n), e: encodeBase64url(e), d: encodeBase64url(d), p: encodeBase64url(q), q: encodeBase64url(p) },
    ...{ dp: encodeBase64url(modulo(q)), dq: encodeBase64url(modulo(p)), qi: encodeBase64url(u) },
  };
}

function numberOf(octets: Uint8Array): bigint {
  return BigInt(`0x0${octets.toHex()}`);
}

function octetsOf(value: bigint): Uint8Array {
  const hex = value.toString(16);
  return Uint8Array.fromHex(hex.length % 2 === 0 ? hex : `0${hex}`);
}

function padded(octets: Uint8Array = new Uint8Array(0), width: number): Uint8Array {
  const whole = new Uint8Array(Math.max(width, octets.length));
  whole.set(octets, whole.length - octets.length);
  return whole;
}

function misplaced(field: string, why: string): Error {
  return failCore('invalid-value', { detail: `"${field}": ${why}.`, items: [{ message: why, info: field }] });
}
