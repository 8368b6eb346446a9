// A key's definition between its document and its record: one becomes the other, and the rules that need more than the fields.
import { defined } from '../../../core/base/defined.ts';
import type { KeyDocument } from './document.ts';
import { fail } from '../errors.ts';
import { misfit, timersOf } from './field-rules.ts';
import type { Key } from '../records/keyring.ts';
import { definitionOf, keyView } from '../versions/views.ts';
import type { KeyRecord } from '../records/records.ts';
import type { Transit } from '../context.ts';

/** The fields of a new record that come from the document; `anchor` is where rotate-after counts from. */
export function draftOf(document: KeyDocument, anchor: number) {
  return {
    ...fieldsOf(document, anchor),
    id: '',
    cipher: document.cipher,
    derived: document.derived,
    convergentEncryption: document.convergentEncryption,
    ...defined({ openpgpPrimary: document.openpgpPrimary, publicKey: document.publicKey }),
  };
}

/** The fields that may change at any time, as the record holds them; `anchor` is where rotate-after counts from. */
export function fieldsOf(document: KeyDocument, anchor: number) {
  const { autoRotate, openpgpUserId } = document;
  const timers = timersOf(autoRotate);
  return {
    distribute: document.distribute.to,
    exportable: document.exportable,
    allowPlaintextBackup: document.allowPlaintextBackup,
    deletionAllowed: document.deletionAllowed,
    minEncryptionVersion: document.minEncryptionVersion,
    minDecryptionVersion: document.minDecryptionVersion,
    openpgpKeyUsage: document.openpgpKeyUsage.slice(0, 1),
    ...defined({ openpgpUserId }),
    ...(autoRotate === undefined || timers === undefined ? {} : { autoRotate, timers, rotatesAt: anchor + timers.rotate }),
  };
}

/** Throws operation-not-supported for auto-rotate on a key without private part. */
export function requireRotatable(record: KeyRecord): void {
  if (record.verificationOnly && record.timers !== undefined) {
    throw fail('operation-not-supported', { detail: 'A key without private part cannot rotate: leave auto-rotate out.' });
  }
}

/** Lets the OpenPGP plugin judge the openpgp-* fields; refuses them where it is not installed. */
export function requireOpenpgpFit(transit: Transit, key: Key, before: Key | undefined): void {
  const { openpgpUserId, openpgpPrimary, openpgpKeyUsage } = key.record;
  if (transit.openpgp === undefined) {
    if (openpgpUserId !== undefined || openpgpPrimary !== undefined || openpgpKeyUsage.length > 0)
      throw misfit('openpgp-user-id', 'needs the OpenPGP plugin');
    return;
  }
  const current = before === undefined ? undefined : keyView(before, () => transit.keyring.versions(before));
  transit.openpgp.requireDefinition(definitionOf(key), current);
}

/** The document of a record: what the user wrote, defaults filled in. */
export function documentOf(record: KeyRecord): KeyDocument {
  return {
    cipher: record.cipher,
    distribute: { to: record.distribute },
    exportable: record.exportable,
    allowPlaintextBackup: record.allowPlaintextBackup,
    deletionAllowed: record.deletionAllowed,
    derived: record.derived,
    convergentEncryption: record.convergentEncryption,
    custody: record.custody,
    // Earlier versions stored the blanks that the certificate has not.
    openpgpUserId: record.openpgpUserId?.trim(),
    openpgpPrimary: record.openpgpPrimary,
    openpgpKeyUsage: [...record.openpgpKeyUsage],
    publicKey: record.publicKey,
    minEncryptionVersion: record.minEncryptionVersion,
    minDecryptionVersion: record.minDecryptionVersion,
    autoRotate: record.autoRotate,
  };
}
