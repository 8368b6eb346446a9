// Converts the document of a key into the fields of its record, and back.
import { defined } from '../../../core/base/defined.ts';
import type { KeyDocument } from './document.ts';
import { defaultUse } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { microsecondsOf } from '../instants.ts';
import { deletionSecondsOf, timersOf } from './field-rules.ts';
import type { Attachments } from '../records/attachments.ts';
import { kdfOf, type KeyRecord } from '../records/records.ts';

/** The fields of a new record that come from the document; `anchor` is where rotate-after counts from. */
export function draftOf(attachments: Attachments, document: KeyDocument, anchor: number) {
  return {
    ...fieldsOf(attachments, document, anchor),
    id: '',
    cipher: document.cipher,
    derived: document.derived,
    convergentEncryption: document.convergentEncryption,
    ...defined({ publicKey: document.publicKey, use: document.use, allowSharedSecret: document.allowSharedSecret }),
  };
}

/** The fields that may change at any time, as the record holds them; `anchor` is where rotate-after counts from. */
export function fieldsOf(attachments: Attachments, document: KeyDocument, anchor: number) {
  const { autoRotate } = document;
  const timers = timersOf(autoRotate);
  return {
    distribute: document.distribute.to,
    exportable: document.exportable,
    allowPlaintextBackup: document.allowPlaintextBackup,
    deletionAllowed: document.deletionAllowed,
    publish: document.publish,
    minEncryptionVersion: document.minEncryptionVersion,
    minDecryptionVersion: document.minDecryptionVersion,
    disabled: document.disabled,
    disabledVersions: document.disabledVersions,
    ...attachments.fieldsIn(document),
    ...(autoRotate === undefined || timers === undefined ? {} : { autoRotate, timers, rotatesAt: anchor + timers.rotate }),
  };
}

/** The deletion that a document asks for, as the record holds it: it begins now unless it has begun with the same time before. */
export function deletionOf({ deleteAfter }: KeyDocument, current: KeyRecord, now: number): Pick<KeyRecord, 'deleteAfter' | 'deletesAt'> {
  if (deleteAfter === undefined) return {};
  if (deleteAfter === current.deleteAfter) return defined({ deleteAfter, deletesAt: current.deletesAt });
  return { deleteAfter, deletesAt: now + microsecondsOf(deletionSecondsOf(deleteAfter)) };
}

/** Throws operation-not-supported for auto-rotate on a key without private part. */
export function requireRotatable(record: KeyRecord): void {
  if (record.verificationOnly && record.timers !== undefined) {
    throw fail('operation-not-supported', { detail: 'A key without private part cannot rotate: leave auto-rotate out.' });
  }
}

/** The document of a record: what the user wrote, defaults filled in. */
export function documentOf(attachments: Attachments, record: KeyRecord): KeyDocument {
  return {
    cipher: record.cipher,
    use: record.use ?? defaultUse(record.cipher),
    distribute: { to: record.distribute },
    exportable: record.exportable,
    allowPlaintextBackup: record.allowPlaintextBackup,
    allowSharedSecret: record.allowSharedSecret,
    deletionAllowed: record.deletionAllowed,
    derived: record.derived,
    kdf: kdfOf(record.kdf),
    convergentEncryption: record.convergentEncryption,
    custody: record.custody,
    publicKey: record.publicKey,
    publish: record.publish ?? false,
    minEncryptionVersion: record.minEncryptionVersion,
    minDecryptionVersion: record.minDecryptionVersion,
    disabled: record.disabled ?? false,
    disabledVersions: [...(record.disabledVersions ?? [])],
    deleteAfter: record.deleteAfter,
    autoRotate: record.autoRotate,
    ...attachments.fieldsIn(record),
  };
}
