// The context of all CA code: token, clock, store, tables, and the public URLs that certificates carry.
import type { Clock, Log } from '../../core/base/context.ts';
import { KeyLedger } from '../../core/plugin/key-ledger.ts';
import type { CertificateEnds } from '../../core/plugin/services/certificate-authority.ts';
import type { WrappingKeyRotation } from '../../core/plugin/services/wrapping-keys.ts';
import type { Store } from '../../core/store/store.ts';
import type { Hsm } from '../../hsm/api.ts';
import { type CaTables, openCaTables } from './records/records.ts';
import { SerialNumbers } from './records/serial.ts';

export type CaContext = {
  readonly hsm: Hsm;
  readonly clock: Clock;
  readonly store: Store;
  readonly tables: CaTables;
  readonly serials: SerialNumbers;
  /** CA keys in tokens that no CA owns */
  readonly ledger: KeyLedger;
  readonly rotation: WrappingKeyRotation;
  /** called with the ends of certificates and CAs */
  readonly ends: CertificateEnds[];
  /** base URL of the management API as others reach it now, `https://keystore.example:4646`; undefined: certificates name no URLs */
  readonly publicUrl: () => string | undefined;
};

/** Opens the tables in the plugin's part of the store. */
export function openCaContext({
  log,
  ...parts
}: Omit<CaContext, 'tables' | 'serials' | 'ledger' | 'ends'> & { readonly log: Log }): CaContext {
  const { hsm, clock, store, rotation } = parts;
  const tables = openCaTables(store);
  return {
    ...parts,
    tables,
    ends: [],
    serials: new SerialNumbers(hsm),
    ledger: new KeyLedger({ store, table: tables.pendingKeys, hsm, clock, log, rotation }),
  };
}

/** URLs of a CA's CRL and OCSP responder (api 2), without token; each key generation has its own CRL. */
export function publicUrls(context: CaContext, tenantId: string, caName: string, generation: number): PublicUrls | undefined {
  const publicUrl = context.publicUrl();
  if (publicUrl === undefined) return undefined;
  const base = `${publicUrl}/v1/ca/${tenantId}/${caName}`;
  return { crl: `${base}/crl/${generation}`, ocsp: `${base}/ocsp` };
}

export type PublicUrls = { readonly crl: string; readonly ocsp: string };
