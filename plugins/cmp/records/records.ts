// Transactions of CMP: what a device has asked for under a transactionID, until it is confirmed and for a day after that.
import { hash } from 'node:crypto';
import type { Store, StoreKey, Table } from '../../../core/store/store.ts';
import type { CertificateAuthority } from '../../../core/plugin/services/certificate-authority.ts';

/** Bodies that ask for a certificate. */
export type Asking = 'ir' | 'cr' | 'kur' | 'p10cr';

/** Key: [tenant uuid, CA id, SHA-256 of the transactionID, hexadecimal]. */
export type CmpTransaction = {
  /**
   * `waiting`: for a person; `unconfirmed`: the device has been sent its certificate, which is revoked unless it confirms until `until`; `rejected`: it did
   * not want it
   */
  readonly state: 'waiting' | 'unconfirmed' | 'confirmed' | 'rejected';
  readonly asking: Asking;
  /** name of the sender that has begun it, and alone goes on */
  readonly sender: string;
  /** senderNonce of the message that has begun it, hexadecimal: the same message again is a repetition, another one is not */
  readonly begunBy: string;
  /** name of the CA, which is never given to another id */
  readonly ca: string;
  /** the part of the key of transactions at the CA */
  readonly transaction: string;
  /** DER SubjectPublicKeyInfo */
  readonly publicKey: Uint8Array;
  /** the sender has asked to be spared the confirmation */
  readonly isImplicit: boolean;
  /** key of the nonces that answers of the transaction have, 16 octets */
  readonly nonceKey: Uint8Array;
  /** serial number of the certificate, once there is one */
  readonly serial?: string;
  /** senderNonce of the message that has confirmed, hexadecimal: the same message again gets the same answer */
  readonly confirmedBy?: string;
  readonly until: string;
};

/**
 * A transaction that is waiting or unconfirmed: its end, and all that the revocation of its certificate needs, also where the record of the transaction does not
 * open. Key as of transactions.
 */
export type OpenTransaction = Pick<CmpTransaction, 'until' | 'ca' | 'transaction' | 'publicKey' | 'serial'>;

export type CmpTables = {
  readonly transactions: Table<CmpTransaction>;
  /** earlier versions wrote the end alone */
  readonly open: Table<OpenTransaction | string>;
};

export function openCmpTables(store: Store): CmpTables {
  return { transactions: store.tenantTable('transactions'), open: store.tenantTable('open') };
}

export function placeOf({ tenantId, id }: Pick<CertificateAuthority, 'tenantId' | 'id'>, transactionId: Uint8Array): StoreKey {
  return [tenantId, id, hash('sha256', transactionId)];
}

/** Hours for which transactions live: until a device has confirmed, while a person may decide, and once they are over. */
export const livesInHours = { unconfirmed: 1, waiting: 8 * 24, over: 24 } as const;
