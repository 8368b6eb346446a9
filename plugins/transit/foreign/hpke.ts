// HPKE (RFC 9180) in base mode, one message: the encapsulated key followed by the ciphertext, as Tink and others write it.
import { concat, encodeUtf8 } from '../../../core/base/bytes.ts';
import { type HashName, keyUses } from '../../../hsm/api.ts';
import { besideOf, type EstablishingCipher } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { xWingCiphertextBytes } from '../formats/x-wing.ts';
import { type AeadName, expand, extract, type ForeignSecret, nonceBytes, openAead, tagBytes } from './opening.ts';

type KeyType = EstablishingCipher['keyType'];
const hybrid = 'mlkem768-x25519';
/** `bytes`: of the encapsulated key, a raw point or a ciphertext; `hash`: of the derivation of the shared secret, which that of ML-KEM is already */
type Kem = { readonly id: number; readonly bytes: number; readonly hash?: HashName };

/** KEMs by key type (RFC 9180 section 7.1; ML-KEM, and X-Wing of two keys: draft-ietf-hpke-pq). */
const kems: Readonly<Record<KeyType | typeof hybrid, Kem>> = {
  'ecdh-p256': { id: 0x0010, hash: 'sha256', bytes: 65 },
  'ecdh-p384': { id: 0x0011, hash: 'sha384', bytes: 97 },
  'ecdh-p521': { id: 0x0012, hash: 'sha512', bytes: 133 },
  x25519: { id: 0x0020, hash: 'sha256', bytes: 32 },
  'ml-kem-768': { id: 0x0041, bytes: keyUses['ml-kem-768'].ciphertextBytes },
  'ml-kem-1024': { id: 0x0042, bytes: keyUses['ml-kem-1024'].ciphertextBytes },
  [hybrid]: { id: 0x647a, bytes: xWingCiphertextBytes },
};

/** KDFs by their field (section 7.2). */
const kdfs = {
  'hkdf-sha256': { id: 1, hash: 'sha256' },
  'hkdf-sha384': { id: 2, hash: 'sha384' },
  'hkdf-sha512': { id: 3, hash: 'sha512' },
} as const;

/** AEADs by their field (section 7.3). */
const aeads = {
  'aes-128-gcm': { id: 1, keyBytes: 16 },
  'aes-256-gcm': { id: 2, keyBytes: 32 },
  'chacha20-poly1305': { id: 3, keyBytes: 32 },
} as const satisfies Partial<Record<AeadName, object>>;

export type HpkeKdf = keyof typeof kdfs;
export type HpkeAead = keyof typeof aeads;
export const hpkeKdfs = Object.keys(kdfs) as [HpkeKdf, ...HpkeKdf[]];
export const hpkeAeads = Object.keys(aeads) as [HpkeAead, ...HpkeAead[]];

/** Parameters that sender and receiver have agreed on beside the key. */
export type HpkeOptions = {
  readonly kdf?: HpkeKdf | undefined;
  readonly aead?: HpkeAead | undefined;
  readonly info?: Uint8Array | undefined;
  readonly associatedData?: Uint8Array | undefined;
};

const nothing = new Uint8Array(0);
const version = encodeUtf8('HPKE-v1');
const modeBase = Uint8Array.of(0);

/** Reads a message for the key with this raw public key. Throws invalid-format for one that is too short. */
export function readHpke(cipher: EstablishingCipher, publicPoint: Uint8Array, message: Uint8Array, options: HpkeOptions): ForeignSecret {
  const kem = kems[besideOf(cipher) === undefined ? cipher.keyType : hybrid];
  if (message.length < kem.bytes + tagBytes) {
    const detail = `"ciphertext" has ${message.length} octets; an HPKE message to this key has an encapsulated key of ${kem.bytes}, the ciphertext and a tag of ${tagBytes}.`;
    throw fail('invalid-format', { detail });
  }
  const [encapsulated, sealed] = [message.subarray(0, kem.bytes), message.subarray(kem.bytes)];
  return {
    encapsulated,
    open: (secret) => {
      const { key, nonce, aead } = schedule(kem.id, sharedSecretOf(kem, encapsulated, publicPoint, secret), options);
      try {
        return openAead(aead, key, nonce, options.associatedData ?? nothing, sealed.subarray(0, -tagBytes), sealed.subarray(-tagBytes));
      } finally {
        key.fill(0);
      }
    },
  };
}

/** The shared secret of the KEM (section 4.1); zeroes what it follows from. */
function sharedSecretOf({ id, hash }: Kem, encapsulated: Uint8Array, publicPoint: Uint8Array, secret: Uint8Array): Uint8Array {
  if (hash === undefined) return secret;
  const kem = labelled(hash, concat(encodeUtf8('KEM'), twoOctets(id)));
  const info = concat(encapsulated, publicPoint);
  const bytes = hash === 'sha256' ? 32 : hash === 'sha384' ? 48 : 64;
  const shared = kem.expand(kem.extract(nothing, 'eae_prk', secret), 'shared_secret', info, bytes);
  secret.fill(0);
  return shared;
}

/** Key and nonce of the first message (section 5.1); zeroes the shared secret. */
function schedule(
  kem: number,
  shared: Uint8Array,
  { kdf: kdfName = 'hkdf-sha256', aead: aeadName = 'aes-256-gcm', info = nothing }: HpkeOptions,
): { readonly key: Uint8Array; readonly nonce: Uint8Array; readonly aead: HpkeAead } {
  const [kdf, aead] = [kdfs[kdfName], aeads[aeadName]];
  const suite = concat(encodeUtf8('HPKE'), twoOctets(kem), twoOctets(kdf.id), twoOctets(aead.id));
  const { extract: extracted, expand: expanded } = labelled(kdf.hash, suite);
  const context = concat(modeBase, extracted(nothing, 'psk_id_hash', nothing), extracted(nothing, 'info_hash', info));
  const keySecret = extracted(shared, 'secret', nothing);
  shared.fill(0);
  const made = {
    key: expanded(keySecret, 'key', context, aead.keyBytes),
    nonce: expanded(keySecret, 'base_nonce', context, nonceBytes),
    aead: aeadName,
  };
  keySecret.fill(0);
  return made;
}

/** LabeledExtract and LabeledExpand (section 4). */
function labelled(hash: HashName, suite: Uint8Array) {
  return {
    extract: (salt: Uint8Array, label: string, secret: Uint8Array): Uint8Array =>
      extract(hash, salt, concat(version, suite, encodeUtf8(label), secret)),
    expand: (key: Uint8Array, label: string, info: Uint8Array, bytes: number): Uint8Array =>
      expand(hash, key, concat(twoOctets(bytes), version, suite, encodeUtf8(label), info), bytes),
  };
}

function twoOctets(number: number): Uint8Array {
  return Uint8Array.of(number >>> 8, number & 0xff);
}
