// Abilities of a key as it is: the actions that its cipher, its parts and its settings allow. Policies, and the life of versions, decide
// besides.
import { besideOf, cipherOf, useOf } from '../ciphers.ts';
import type { Transit } from '../context.ts';
import type { Key, Version } from '../records/keyring.ts';
import { hkdf, type KeyRecord } from '../records/records.ts';
import { keyView } from '../versions/views.ts';

/** Properties of a key that the actions of this plugin depend on. */
type Parts = {
  readonly record: KeyRecord;
  readonly encrypts: boolean;
  readonly decrypts: boolean;
  readonly signs: boolean;
  readonly hasPublicKey: boolean;
  readonly authenticates: boolean;
  readonly encapsulates: boolean;
  /** false of a key whose versions are two private keys, for which others have a seed */
  readonly takesMaterial: boolean;
  /** private or secret key material */
  readonly hasSecret: boolean;
  /** true if version 1 was never used, and is the only one there was */
  readonly isUnused: boolean;
};

/** `tellsAbout`: the fields of the key (wire form) that decide whether it can do so. */
type Ability = { readonly asks: (parts: Parts) => boolean; readonly tellsAbout: readonly string[] };

const anyKey: Ability = { asks: () => true, tellsAbout: [] };
const encrypts: Ability = { asks: (parts) => parts.encrypts, tellsAbout: ['supports-encryption'] };
const reseals: Ability = { asks: (parts) => parts.encrypts && parts.hasSecret, tellsAbout: ['supports-decryption'] };
const takesMaterial: Ability = { asks: (parts) => parts.takesMaterial, tellsAbout: ['cipher'] };
const hasSecret: Ability = { asks: (parts) => parts.hasSecret, tellsAbout: ['public-key'] };

/** Batches of an action ask what it asks itself. */
const abilities: Readonly<Record<string, Ability>> = {
  encrypt: encrypts,
  decrypt: { asks: (parts) => parts.decrypts && parts.hasSecret, tellsAbout: ['supports-decryption'] },
  rewrap: reseals,
  'generate-data-key': encrypts,
  sign: { asks: (parts) => parts.signs && parts.hasSecret, tellsAbout: ['supports-signing'] },
  verify: anyKey,
  hmac: hasSecret,
  cmac: { asks: (parts) => parts.authenticates, tellsAbout: ['cipher'] },
  encapsulate: { asks: (parts) => parts.encapsulates, tellsAbout: ['cipher'] },
  decapsulate: {
    asks: (parts) => parts.encapsulates && parts.record.allowSharedSecret === true,
    tellsAbout: ['cipher', 'allow-shared-secret'],
  },
  'generate-csr': { asks: (parts) => parts.signs && parts.hasSecret, tellsAbout: ['supports-signing'] },
  'set-certificate-chain': { asks: (parts) => parts.hasPublicKey, tellsAbout: ['cipher'] },
  rotate: hasSecret,
  trim: anyKey,
  import: takesMaterial,
  'import-wrapping-key': takesMaterial,
  export: {
    asks: ({ hasSecret: isSecret, record }) => isSecret && record.exportable && record.kdf !== hkdf,
    tellsAbout: ['exportable', 'kdf'],
  },
  backup: { asks: (parts) => parts.hasSecret && parts.record.allowPlaintextBackup, tellsAbout: ['allow-plaintext-backup'] },
  restore: { asks: ({ record, isUnused }) => record.deletionAllowed || isUnused, tellsAbout: ['deletion-allowed', 'usage'] },
};

/** Names of the actions, those of attachments after our own, without those that would tell a field that does not show. */
export function actionsOf(
  { attachments, tables }: Transit,
  key: Key,
  versions: readonly Version[],
  shows: (field: string) => boolean,
): readonly string[] {
  const { record, tenantId } = key;
  const { kind } = cipherOf(record);
  const encrypts = kind === 'aead' || kind === 'opening';
  const parts: Parts = {
    record,
    encrypts,
    decrypts: encrypts || kind === 'establishing',
    signs: kind === 'signing',
    hasPublicKey: kind === 'signing' || kind === 'opening' || kind === 'establishing',
    authenticates: kind === 'cmac',
    encapsulates: useOf(record) === 'decapsulate',
    takesMaterial: besideOf(cipherOf(record)) === undefined,
    hasSecret: !record.verificationOnly,
    isUnused: record.latest === 1 && !tables.usage.has([tenantId, record.id, 1]),
  };
  const own = Object.entries(abilities).flatMap(([name, { asks, tellsAbout }]) => (asks(parts) ? [{ name, tellsAbout }] : []));
  const attached = Array.from(attachments).flatMap((attachment) => attachment.actions(keyView(attachment, key, () => versions)));
  return [...own, ...attached].filter(({ tellsAbout }) => tellsAbout.every(shows)).map(({ name }) => name);
}
