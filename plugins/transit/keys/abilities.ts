// What a key can do as it is: the actions that its cipher, its parts and its settings allow. Policies, and the life of versions, decide besides.
import { cipherOf } from '../ciphers.ts';
import type { Transit } from '../context.ts';
import type { Key, Version } from '../records/keyring.ts';
import type { KeyRecord } from '../records/records.ts';
import { keyView } from '../versions/views.ts';

/** What the actions of this plugin ask of a key. */
type Parts = {
  readonly record: KeyRecord;
  readonly encrypts: boolean;
  /** private or secret key material */
  readonly hasSecret: boolean;
  /** whether version 1 was never used, and is the only one there was */
  readonly isUnused: boolean;
};

type Asks = (parts: Parts) => boolean;

const anyKey: Asks = () => true;
const encrypts: Asks = (parts) => parts.encrypts;
const hasSecret: Asks = (parts) => parts.hasSecret;

/** Batches of an action ask what it asks itself. */
const abilities: Readonly<Record<string, Asks>> = {
  encrypt: encrypts,
  decrypt: encrypts,
  rewrap: encrypts,
  'generate-data-key': encrypts,
  sign: (parts) => !parts.encrypts && parts.hasSecret,
  verify: anyKey,
  hmac: hasSecret,
  rotate: hasSecret,
  trim: anyKey,
  import: anyKey,
  export: (parts) => parts.hasSecret && parts.record.exportable,
  backup: (parts) => parts.hasSecret && parts.record.allowPlaintextBackup,
  restore: ({ record, isUnused }) => record.deletionAllowed || isUnused,
};

/** Names of the actions, those of attachments after our own. */
export function actionsOf({ attachments, tables }: Transit, key: Key, versions: readonly Version[]): readonly string[] {
  const { record, tenantId } = key;
  const parts: Parts = {
    record,
    encrypts: cipherOf(record).kind === 'aead',
    hasSecret: !record.verificationOnly,
    isUnused: record.latest === 1 && !tables.usage.has([tenantId, record.id, 1]),
  };
  const own = Object.entries(abilities).flatMap(([action, asks]) => (asks(parts) ? [action] : []));
  return [...own, ...Array.from(attachments).flatMap((attachment) => attachment.actions(keyView(attachment, key, () => versions)))];
}
