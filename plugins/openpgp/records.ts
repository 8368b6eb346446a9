// Data that OpenPGP attaches to transit keys (core/plugin/services/transit-keys.ts): fields of the definition, and a record for each
// version.
import { z } from 'zod';
import type { AttachedKeys, KeyAttachment, KeyDefinition, TransitKey, TransitKeyVersion } from '../../core/plugin/services/transit-keys.ts';
import { naming } from '../../core/http/named-entries.ts';
import { parseDuration } from '../../core/base/time.ts';
import { durationText, nameField, orderedList } from '../../core/wire/fields.ts';
import { shownText } from '../../core/wire/shown-text.ts';

/** Versions of keys and signatures that we write. */
export type PacketVersion = 4 | 6;

/** The fields of a key that make it an OpenPGP key. */
export type OpenpgpFields = {
  /** a primary key with this User ID */
  readonly openpgpUserId?: string;
  /** a subkey, bound to the primary key of this name */
  readonly openpgpPrimary?: string;
  /** for a subkey: `['sign']`; else empty */
  readonly openpgpKeyUsage: readonly string[];
  /** a primary key: further User IDs */
  readonly openpgpUserIds?: readonly string[];
  /** a primary key: User IDs that its certificates revoke */
  readonly openpgpRevokedUserIds?: readonly string[];
  /** duration after the creation of a version */
  readonly openpgpExpiresAfter?: string;
  /** absent: 4 */
  readonly openpgpPacketVersion?: PacketVersion;
  /** a primary key whose certificates anybody may fetch */
  readonly openpgpPublished?: boolean;
};

/** Kept with a version of a key. Made once, returned verbatim from then on. */
export type OpenpgpRecord = {
  /** upper-case hexadecimal; the version's own key, or every signing key of an imported certificate */
  readonly fingerprints: readonly string[];
  /** seconds since 1970 in the key packet: part of the fingerprint, never computed again */
  readonly created: number;
  /** earliest second a signature by this key may carry */
  readonly notBefore: number;
  /** primary key ‖ User IDs ‖ self-signatures; of a subkey: its primary's, as last certified; of an imported key: all of it */
  readonly certificate: Uint8Array;
  /** date of the self-signatures, or of the binding, that were made last; absent: notBefore */
  readonly certified?: number;
  /** seconds after `created` until the key expires */
  readonly lifetime?: number;
  /** a subkey: subkey packet ‖ binding signatures, and the primary version that made them */
  readonly subkey?: {
    readonly packets: Uint8Array;
    readonly primaryVersion: number;
    readonly primaryFingerprint: string;
    /** second from which the primary key has expired */
    readonly primaryExpires?: number;
  };
  /** a primary key that came with a certificate: its other User IDs, and its subkeys with their signatures */
  readonly brought?: { readonly userIds: readonly string[]; readonly subkeys: Uint8Array };
  /** an imported block, as it was given */
  readonly imported?: string;
};

export type OpenpgpDefinition = KeyDefinition<OpenpgpFields>;
export type OpenpgpKey = TransitKey<OpenpgpFields, OpenpgpRecord>;
export type OpenpgpVersion = TransitKeyVersion<OpenpgpRecord>;
export type OpenpgpKeys = AttachedKeys<OpenpgpFields, OpenpgpRecord>;
export type OpenpgpAttachment = KeyAttachment<OpenpgpFields, OpenpgpRecord>;

/** A User ID in a request; gpg refuses one of 2,048 octets or more. */
export const userIdSchema = shownText({ minCharacters: 1, maxCharacters: 1_024, maxOctets: 1_024 });

/** User IDs of a certificate beside its primary one, and revoked ones: each has a signature or two in every block. */
const [mostUserIds, mostRevokedUserIds] = [15, 32];

/** A primary key makes new self-signatures. */
const certifying = { setsLike: 'certify-subkey', removalSets: true, judgedBy: ['openpgpUserId'] } as const;

/** The fields as requests give them, and as they are kept; earlier versions stored User IDs with blanks at the ends. */
export const openpgpFields: OpenpgpAttachment['fields'] = {
  openpgpUserId: {
    schema: userIdSchema
      .optional()
      .meta({ description: 'Makes the key an OpenPGP primary key with this User ID.', example: 'Releases <releases@example.com>' }),
    stored: z.string().trim().optional(),
    // The primary key signs the new certificate.
    setsLike: 'certify-subkey',
    speaksFor: true,
    judgedBy: ['openpgpPrimary', 'openpgpKeyUsage'],
  },
  openpgpPrimary: {
    schema: naming(nameField(), {
      resource: 'keystore/transit-keys',
      needs: [{ operation: 'execute', path: '/v1/state/keystore/transit-keys/{}/certify-subkey' }],
    })
      .optional()
      .describe('Makes the key an OpenPGP subkey, bound to the primary key of this name.'),
    stored: nameField().optional(),
    isFixed: true,
  },
  openpgpPublished: {
    isPublic: true,
    judgedBy: ['openpgpUserId'],
    schema: z.boolean().optional().meta({
      description: 'Of a primary key: anybody gets its certificates, with all subkeys, at public URLs of the tenant.',
      example: true,
      'x-default': false,
    }),
    stored: z.boolean().optional(),
  },
  openpgpUserIds: {
    schema: orderedList(userIdSchema)
      .max(mostUserIds)
      .optional()
      .meta({
        description:
          'Further User IDs of a primary key. One that is taken out is no longer in its blocks; to revoke it, name it in openpgp-revoked-user-ids.',
        example: ['Releases <releases@example.org>'],
      }),
    stored: z.array(z.string()).optional(),
    ...certifying,
    speaksFor: true,
  },
  openpgpRevokedUserIds: {
    schema: z
      .array(userIdSchema)
      .max(mostRevokedUserIds)
      .optional()
      .meta({
        description:
          'User IDs that the certificates of a primary key revoke, for good: programs that have a block learn it from the next one.',
        example: ['Former <former@example.com>'],
      }),
    stored: z.array(z.string()).optional(),
    ...certifying,
    ends: (after, before) => textsOf(after).some((text) => !textsOf(before).includes(text)),
  },
  openpgpExpiresAfter: {
    schema: durationText({ minSeconds: 3600 }).optional().meta({
      description:
        'When an OpenPGP key expires, counted from the creation of each version; without it, never. A change extends or shortens the life of every version.',
      example: '2y',
    }),
    stored: z.string().optional(),
    ...certifying,
    judgedBy: ['openpgpUserId', 'openpgpPrimary'],
    ends: (after, before) => secondsOf(after) < secondsOf(before),
    // The primary key signs the new binding of a subkey.
    usesNamed: true,
  },
  openpgpPacketVersion: {
    schema: z
      .union([z.literal(4), z.literal(6)])
      .optional()
      .meta({
        description: 'Form of an OpenPGP key: 4, which every program reads, or 6 (RFC 9580), in which Ed25519 is algorithm 27.',
        example: 4,
        'x-default': 4,
      }),
    stored: z.union([z.literal(4), z.literal(6)]).optional(),
    isFixed: true,
    judgedBy: ['openpgpPrimary'],
  },
  openpgpKeyUsage: {
    judgedBy: ['openpgpUserId', 'openpgpPrimary'],
    schema: z.array(z.literal('sign')).max(8).meta({ whenEmpty: [] }).default([]).describe('What an OpenPGP subkey is for.'),
    stored: z
      .array(z.literal('sign'))
      .max(8)
      .default([])
      .transform((usage) => usage.slice(0, 1)),
  },
};

function textsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function secondsOf(duration: unknown): number {
  return typeof duration === 'string' ? parseDuration(duration, 'openpgp-expires-after').seconds : Infinity;
}

/** Second from which the key of a record, or its primary key, has expired; undefined: never. */
export function expiryOf({ created, lifetime, subkey }: OpenpgpRecord): number | undefined {
  const all = [lifetime === undefined ? undefined : created + lifetime, subkey?.primaryExpires].filter((one) => one !== undefined);
  return all.length === 0 ? undefined : Math.min(...all);
}

/** Seconds from the creation of a version of the key to its expiry. */
export function lifetimeOf({ openpgpExpiresAfter }: OpenpgpFields): number | undefined {
  return openpgpExpiresAfter === undefined ? undefined : parseDuration(openpgpExpiresAfter, 'openpgp-expires-after').seconds;
}

/** Tells whether anybody may fetch the certificates of a key. */
export function isPublished({ openpgpUserId, openpgpPublished }: OpenpgpFields): boolean {
  return openpgpUserId !== undefined && openpgpPublished === true;
}

/** Tells whether the key has a role in OpenPGP at present. */
export function hasRole({ openpgpUserId, openpgpPrimary }: OpenpgpFields): boolean {
  return openpgpUserId !== undefined || openpgpPrimary !== undefined;
}

/** The OpenPGP record of a version, if it is in force: the key has an OpenPGP role at present, or was imported as a block. */
export function findRecord({ fields }: OpenpgpKey, { attached }: OpenpgpVersion): OpenpgpRecord | undefined {
  return hasRole(fields) || attached?.imported !== undefined ? attached : undefined;
}
