// Data that OpenPGP attaches to transit keys (core/plugin/services/transit-keys.ts): fields of the definition, and a record for each
// version.
import { z } from 'zod';
import type { AttachedKeys, KeyAttachment, KeyDefinition, TransitKey, TransitKeyVersion } from '../../core/plugin/services/transit-keys.ts';
import { naming } from '../../core/http/named-entries.ts';
import { nameField } from '../../core/wire/fields.ts';
import { shownText } from '../../core/wire/shown-text.ts';

/** The fields of a key that make it an OpenPGP key. */
export type OpenpgpFields = {
  /** a primary key with this User ID */
  readonly openpgpUserId?: string;
  /** a subkey, bound to the primary key of this name */
  readonly openpgpPrimary?: string;
  /** for a subkey: `['sign']`; else empty */
  readonly openpgpKeyUsage: readonly string[];
};

/** Kept with a version of a key. Made once, returned verbatim from then on. */
export type OpenpgpRecord = {
  /** upper-case hexadecimal; the version's own key, or every signing key of an imported certificate */
  readonly fingerprints: readonly string[];
  /** seconds since 1970 in the key packet: part of the fingerprint, never computed again */
  readonly created: number;
  /** earliest second a signature by this key may carry */
  readonly notBefore: number;
  /** primary key ‖ User ID ‖ self-signature; of a subkey: its primary's, as last certified; of an imported key: all of it */
  readonly certificate: Uint8Array;
  /** a subkey: subkey packet ‖ binding signature, and the primary version that made it */
  readonly subkey?: { readonly packets: Uint8Array; readonly primaryVersion: number; readonly primaryFingerprint: string };
  /** an imported block, as it was given */
  readonly imported?: string;
};

export type OpenpgpDefinition = KeyDefinition<OpenpgpFields>;
export type OpenpgpKey = TransitKey<OpenpgpFields, OpenpgpRecord>;
export type OpenpgpVersion = TransitKeyVersion<OpenpgpRecord>;
export type OpenpgpKeys = AttachedKeys<OpenpgpFields, OpenpgpRecord>;
export type OpenpgpAttachment = KeyAttachment<OpenpgpFields, OpenpgpRecord>;

/** A User ID in a request; gpg refuses one of 2,048 octets or more (api 19). */
export const userIdSchema = shownText({ minCharacters: 1, maxCharacters: 1_024, maxOctets: 1_024 });

/** The fields as requests give them, and as they are kept; earlier versions stored User IDs with blanks at the ends. */
export const openpgpFields: OpenpgpAttachment['fields'] = {
  openpgpUserId: {
    schema: userIdSchema
      .optional()
      .meta({ description: 'Makes the key an OpenPGP primary key with this User ID.', example: 'Releases <releases@example.com>' }),
    stored: z.string().trim().optional(),
    // The primary key signs the new certificate.
    setsLike: 'certify-subkey',
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

/** Tells whether the key has a role in OpenPGP at present. */
export function hasRole({ openpgpUserId, openpgpPrimary }: OpenpgpFields): boolean {
  return openpgpUserId !== undefined || openpgpPrimary !== undefined;
}
