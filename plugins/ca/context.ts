// The context of all CA code: token, clock, store, tables, and the public URLs that certificates carry.
import type { Clock, Log } from '../../core/base/context.ts';
import { KeyLedger } from '../../core/plugin/key-ledger.ts';
import type { CertificateEnds, NamesCa } from '../../core/plugin/services/certificate-logins.ts';
import type { WrappingKeyRotation } from '../../core/plugin/services/wrapping-keys.ts';
import type { Store } from '../../core/store/store.ts';
import type { Hsm } from '../../hsm/api.ts';
import { authorityInfoAccess, crlDistributionPoint, freshestCrl } from './der/extensions.ts';
import { type CaRecord, type CaTables, openCaTables } from './records/records.ts';
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
  /** tell whether a login names a CA of a tenant */
  readonly logins: NamesCa[];
  /** base URL at which relying parties reach revocation lists and OCSP now, `https://keystore.example:4646`; undefined: certificates name no URLs */
  readonly statusUrl: () => string | undefined;
};

/** Opens the tables in the plugin's part of the store. */
export function openCaContext({
  log,
  ...parts
}: Omit<CaContext, 'tables' | 'serials' | 'ledger' | 'ends' | 'logins'> & { readonly log: Log }): CaContext {
  const { hsm, clock, store, rotation } = parts;
  const tables = openCaTables(store);
  return {
    ...parts,
    tables,
    ends: [],
    logins: [],
    serials: new SerialNumbers(hsm),
    ledger: new KeyLedger({ store, table: tables.pendingKeys, hsm, clock, log, rotation }),
  };
}

/** URLs of a CA's CRL and OCSP responder, without token; each key generation has its own CRL, and its own delta CRL where the CA has them. */
export function publicUrls(
  context: CaContext,
  tenantId: string,
  { name, deltaCrl }: Pick<CaRecord, 'name' | 'deltaCrl'>,
  generation: number,
): PublicUrls | undefined {
  const statusUrl = context.statusUrl();
  if (statusUrl === undefined) return undefined;
  const base = `${statusUrl}/v1/ca/${tenantId}/${name}`;
  const crl = `${base}/crl/${generation}`;
  return { crl, ocsp: `${base}/ocsp`, ...(deltaCrl === true ? { delta: `${crl}/delta` } : {}) };
}

export type PublicUrls = { readonly crl: string; readonly ocsp: string; readonly delta?: string };

/** The extensions by which a certificate names them (RFC 5280 4.2.1.13, 4.2.1.15, 4.2.2.1); none without URLs. */
export function locationsOf(urls: PublicUrls | undefined): readonly Uint8Array[] {
  if (urls === undefined) return [];
  return [crlDistributionPoint(urls.crl), ...(urls.delta === undefined ? [] : [freshestCrl(urls.delta)]), authorityInfoAccess(urls.ocsp)];
}
