// Issued certificates by the public key that they are for: who has the key finds its certificates without reading all that the CA has issued.
import { hash } from 'node:crypto';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import type { Store, StoreKey, WriteTransaction } from '../../../core/store/store.ts';
import { parseCertificate } from '../der/certificate.ts';
import type { CaTables, IssuedCertificate } from './records.ts';

/** Records that are read at a time. */
const stepRecords = 1_000;

/** SHA-256 of the SubjectPublicKeyInfo of a certificate in DER, hexadecimal. */
function keyDigestOf(certificate: Uint8Array): string {
  return hash('sha256', parseCertificate(certificate).publicKey);
}

/** Stores the record of a certificate, and finds it by its key from then on. */
export function putByKey(transaction: WriteTransaction, tables: CaTables, key: StoreKey, record: IssuedCertificate): void {
  transaction.put(tables.certificates, key, { ...record, byKey: true });
  transaction.put(tables.certificateKeys, placeOf(key, record), true);
}

/** Deletes the record of a certificate, and its place among those of its key. */
export function deleteByKey(transaction: WriteTransaction, tables: CaTables, key: StoreKey, record: IssuedCertificate): void {
  transaction.delete(tables.certificates, key);
  transaction.delete(tables.certificateKeys, placeOf(key, record));
}

/** The place of a certificate, by the key of its record, among those of its public key. */
export function placeOf([tenantId = '', caId = '', serial = '']: StoreKey, { certificate }: IssuedCertificate): StoreKey {
  return [tenantId, caId, keyDigestOf(certificate), serial];
}

/** Serial numbers of the certificates of a CA for any of these keys, in their order. `own`: tenant uuid and CA id. */
export function serialsByKey({ certificateKeys }: CaTables, own: StoreKey, digests: readonly string[]): readonly string[] {
  const found = digests.flatMap((digest) => Array.from(certificateKeys.keys([...own, digest]), (key) => String(key.at(-1))));
  return [...new Set(found)].toSorted();
}

/** Makes certificates of earlier versions found by their keys. `own` as above. */
export async function addByKey(store: Store, tables: CaTables, own: StoreKey): Promise<void> {
  const missing = (): readonly StoreKey[] =>
    Array.from(
      Iterator.from(tables.certificates.entries(own))
        .filter(([, { byKey }]) => byKey === undefined)
        .take(stepRecords),
      ([key]) => key,
    );
  for (let keys = missing(); keys.length > 0; keys = missing()) {
    await writeInPieces(store, keys, (transaction, key) => {
      const present = transaction.get(tables.certificates, key);
      if (present !== undefined) putByKey(transaction, tables, key, present);
    });
    store.refresh();
  }
}
