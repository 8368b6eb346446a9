// The fields of a transit key: what a user writes, what the state adds.
import { z } from 'zod';
import { durationText, integer, orderedList, pemExample, timestamp } from '../../../core/wire/fields.ts';
import { cipherNames, defaultCipher } from '../ciphers.ts';
import { maxPemCharacters } from '../../../core/base/texts/pem.ts';
import { hashAlgorithmField, rsaSignatureAlgorithm } from '../formats/signatures.ts';
import { maxVersion } from '../formats/value-format.ts';
import { kdfNames } from '../records/records.ts';

const minRotateSeconds = 3_600;
/** In less time nobody would notice that the key is needed. */
const minDeleteSeconds = 86_400;
const mostDisabledVersions = 100;

/** The auto-rotate container; how its durations go together is checked in field-rules.ts. */
const autoRotateSchema = z.object({
  rotateAfter: durationText({ minSeconds: minRotateSeconds }).describe('Interval after which the key is rotated, again and again.'),
  activateAfter: durationText().optional().describe('Delay after a rotation before the new version encrypts.'),
  deprecateAfter: durationText().optional().describe('Time after the creation of a newer version when the old one stops encrypting.'),
  invalidateAfter: durationText().optional().describe('Time after the creation of a newer version when the old one stops decrypting.'),
});

/** Writable fields. */
export const documentSchema = z.object({
  cipher: z
    .string()
    .max(64)
    .meta({ typeName: 'Cipher', enum: cipherNames, description: 'What the key is made of.', example: defaultCipher })
    .default(defaultCipher),
  use: z.enum(['encrypt', 'sign', 'mac', 'agree', 'decapsulate']).meta({ typeName: 'KeyUse' }).optional().meta({
    description:
      'What the key is for, fixed at creation. RSA keys sign unless this is `encrypt`: then the public key encrypts by RSA-OAEP, and the private key, in the token, only decrypts. Keys of ecdsa-p256, -p384 and -p521 sign unless this is `agree`: then others seal to the public key by HPKE or JWE, and the private key only decrypts that, as a key of x25519 always does, with age as well. Keys of ml-kem-768, ml-kem-1024 and mlkem768-x25519 (X-Wing) are for `decapsulate`: others seal to them by HPKE, to the last with age as well. Other ciphers have one use.',
    example: 'sign',
  }),
  distribute: z
    .object({
      to: z
        .enum(['all', 'none', 'inherit'])
        .meta({ typeName: 'Distribution' })
        .default('inherit')
        .describe('Where the key goes; inherit means all. In a cluster every appliance has every key.'),
    })
    .prefault({})
    .describe('Distribution of the key.'),
  exportable: z.boolean().default(false).describe('Lets export answer key material; not of keys of mlkem768-x25519.'),
  allowPlaintextBackup: z.boolean().default(false).describe('Lets backup answer the key in clear.'),
  allowSharedSecret: z.boolean().optional().meta({
    description:
      'Lets decapsulate answer the shared secret itself, fixed at creation; keys with `use` decapsulate only. Without it secrets stay inside.',
    'x-default': false,
  }),
  deletionAllowed: z.boolean().default(false).describe('Must be true before the key can be deleted.'),
  derived: z.boolean().default(false).describe('A key of its own for each context; symmetric ciphers only.'),
  convergentEncryption: z
    .boolean()
    .default(false)
    .describe('The same plaintext in the same context gives the same ciphertext; derived keys only.'),
  kdf: z
    .enum(kdfNames)
    .meta({ typeName: 'KeyDerivation' })
    .optional()
    .describe(
      'How a derived key derives, fixed at creation. pbkdf2, unless given: with a salt of the key. hkdf-sha256, for keys that are imported with values of elsewhere: the key for a context is HKDF with SHA-256 of the secret, without salt, with the context as info.',
    ),
  custody: z
    .enum(['wrapped', 'token'])
    .meta({ typeName: 'Custody' })
    .optional()
    .describe('Where the key lives: as a wrapped blob, or as an object in the token.'),
  publicKey: z
    .string()
    .min(1)
    .max(maxPemCharacters)
    .optional()
    .meta({
      description:
        'A public key as PEM, base64 of DER or JWK, or a certificate, whose public key is taken: makes a key that only verifies, or only encrypts.',
      example: pemExample('PUBLIC KEY'),
    }),
  publish: z
    .boolean()
    .default(false)
    .describe('Puts the public keys of this key into the JWKS of the tenant, which anybody may read; asymmetric ciphers only.'),
  minEncryptionVersion: integer(0, maxVersion).default(0).describe('Older versions do not encrypt or sign; 0: no restriction.'),
  minDecryptionVersion: integer(0, maxVersion).default(0).describe('Older versions do not decrypt or verify; 0: no restriction.'),
  disabled: z
    .boolean()
    .default(false)
    .describe('Refuses every use of the key, and keeps its material from leaving, until this is false again.'),
  disabledVersions: orderedList(integer(1, maxVersion))
    .max(mostDisabledVersions)
    .default([])
    .describe('Versions of which every use is refused. A merge replaces the list.'),
  deleteAfter: durationText({ minSeconds: minDeleteSeconds })
    .optional()
    .describe(
      'Deletes the key after this time, a day or more. Until then it is as if disabled, `deletes` in its state says when, and leaving this out of a replacement, or null in a merge, takes the deletion back. Needs deletion-allowed, and the right to delete the key.',
    ),
  autoRotate: autoRotateSchema.optional().describe('Rotates the key by itself; a merge cannot remove it, a replacement can.'),
});

/** A whole document, parsed. */
export type KeyDocument = z.infer<typeof documentSchema>;

const usageSchema = z.object({
  uses: z.int().describe('Encryptions, signatures and data keys made with this version.'),
  usesAtMost: z.int().describe('Of encryptions never below the true count, also after a crash; the limit of 2^32 is held against it.'),
  notRewrapped: z
    .int()
    .optional()
    .describe(
      'At most so many values made with this version have not been moved away by rewrap: what a worker has reserved counts until it gives it back, two minutes after the last encryption. A value that is rewrapped again counts again.',
    ),
  lastUsed: timestamp().optional().describe('When this version was last used.'),
  refused: z.int().optional().describe('Uses that were refused because the key or this version is, or was, disabled. Absent: none.'),
  lastRefused: timestamp().optional().describe('When a use was last refused for that.'),
});

const versionSchema = z.object({
  status: z
    .enum(['pending', 'active', 'deprecated', 'invalidated', 'disabled'])
    .meta({ typeName: 'KeyVersionStatus' })
    .describe(
      'What it may do: `active` everything, `pending` (it waits for activate-after) and `deprecated` only decrypt and verify, `invalidated` nothing, `disabled` nothing until somebody enables it, or the key, again.',
    ),
  signatureAlgorithm: rsaSignatureAlgorithm
    .optional()
    .describe('Of a version that is a key for RSASSA-PSS (RFC 4055): `pss`, and it makes no other signatures.'),
  hashAlgorithm: hashAlgorithmField.unwrap().optional().describe('Where such a key names a hash: the only one it signs with.'),
  kid: z.string().optional().meta({
    description: 'Of a public key: its thumbprint (RFC 7638), which names it in a JWKS and in the header of a JWS.',
    example: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  }),
  certificateChain: z
    .string()
    .optional()
    .meta({
      description: 'What `set-certificate-chain` has given it: its certificate and those above, PEM.',
      example: pemExample('CERTIFICATE'),
    }),
  created: timestamp().describe('When it was made.'),
  activates: timestamp().optional().describe('When it begins to encrypt and sign; absent: when it was made.'),
  superseded: timestamp().optional().describe('When the next version was made.'),
  deprecates: timestamp().optional().describe('When deprecate-after ends its encryption.'),
  invalidates: timestamp().optional().describe('When invalidate-after ends its decryption.'),
});

/** Read-only fields of the state. */
export const stateSchema = z.object({
  distributionStatus: z.object({ to: z.enum(['all', 'none']).describe('Where the key is.') }).describe('Distribution as it is.'),
  defaultEncryptionVersion: z.int().describe('0: the newest version; else the one in use while the newest waits for activate-after.'),
  latestVersion: z.int().describe('Newest version.'),
  oldestVersion: z.int().describe('Oldest version that was not trimmed.'),
  creationTime: timestamp().describe('When the key was made.'),
  supportsEncryption: z.boolean().describe('`true` if the key encrypts.'),
  supportsDecryption: z.boolean().describe('`true` if the key decrypts.'),
  supportsDerivation: z.boolean().describe('`true` if keys of this cipher can be derived per context.'),
  supportsSigning: z.boolean().describe('`true` if the key signs.'),
  actions: z.array(z.string()).meta({
    description: 'Actions that the key can do as it is. Policies, and the life of its versions, decide besides.',
    example: ['encrypt', 'decrypt', 'rewrap'],
  }),
  keys: z
    .record(z.string(), z.string())
    .describe(
      'Per version: the public key; of a symmetric key a marker, the microseconds since 1970 at which it was made. It is not key material. ' +
        '`versions` is where to look for what is known of a version.',
    ),
  usage: z.record(z.string(), usageSchema).describe('Per version: how often it was used.'),
  versions: z.record(z.string(), versionSchema).describe('Per version: what it may do, since when and until when.'),
  jwksPath: z.string().optional().meta({
    description: 'Of a key with `publish`: where anybody reads its public keys, and the others that the tenant publishes.',
    example: '/v1/jwks/f81d4fae-7dec-41d0-a765-00a0c91e6bf6',
  }),
  rotates: timestamp().optional().describe('When auto-rotate makes the next version.'),
  deletes: timestamp().optional().describe('When delete-after deletes the key.'),
});
