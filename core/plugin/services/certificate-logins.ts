// Parts that a plugin by which clients log in with certificates gives the plugin `ca`.
import type { WriteTransaction } from '../../store/store.ts';

/** Tells whether a login of the tenant names a CA. Reads the state of the last refresh of the store. */
export type NamesCa = (tenantId: string, name: string) => boolean;

/** Called inside the transaction that ends a certificate, or a CA with all of its certificates. */
export type CertificateEnds = {
  /** `certificate`: DER */
  revoked(transaction: WriteTransaction, tenantId: string, caId: string, certificate: Uint8Array): void;
  /** also for a CA elsewhere that gets another certificate */
  removed(transaction: WriteTransaction, tenantId: string, caId: string): void;
};
