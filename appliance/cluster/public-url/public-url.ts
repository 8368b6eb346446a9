// The URL that certificates, links and people are given: one for all appliances of a cluster where that was set, else that of the
// configuration.
import type { Configuration } from '../../../core/config/config.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { TableKinds } from '../../../core/store/records/table-kinds.ts';
import type { Store, Table } from '../../../core/store/store.ts';

/** URL that all appliances of a cluster name in place of the `public-url` of their configurations, with its author and time. */
export type SharedUrl = { readonly url: string; readonly at: string; readonly by: string };

type Configured = Pick<Configuration, 'publicUrl' | 'publicUrlIsOwn' | 'hosts'>;

/** ['all'] */
const table = (store: Store): Table<SharedUrl> => store.table<SharedUrl>('public-url');
/** Table of the shared URL; certificates contain the URL, so a restore keeps it. */
export const urlTableKinds: TableKinds = { 'public-url': { of: 'all' } };
const key = ['all'] as const;

export function findSharedUrl(store: Store): SharedUrl | undefined {
  return table(store).get(key);
}

/** `url` undefined: each goes by its configuration again. */
export async function setSharedUrl(store: Store, url: string | undefined, by: string, now: Temporal.Instant): Promise<void> {
  await store.write((transaction) => {
    if (url === undefined) transaction.delete(table(store), key);
    else transaction.put(table(store), key, { url, at: formatTimestamp(now), by });
  });
}

/**
 * The URL that this appliance names now. One that stands alone after a restore uses that of its configuration, and without it the one that
 * its certificates named in the cluster. `isGiven`: a person chose it; false if it is made of the own name of this appliance.
 */
export function publicUrlInUse(
  store: Store,
  { publicUrl, publicUrlIsOwn }: Configured,
): { readonly url: string; readonly isGiven: boolean } {
  const shared = findSharedUrl(store)?.url;
  if (shared !== undefined && (store.appliance !== undefined || publicUrlIsOwn)) return { url: shared, isGiven: true };
  return { url: publicUrl, isGiven: !publicUrlIsOwn };
}

/** Recommended changes to the configuration of an appliance of a cluster, in sentences. */
export function publicUrlWarnings(store: Store, configured: Configured): readonly string[] {
  const { url, isGiven } = publicUrlInUse(store, configured);
  if (!isGiven) {
    return [
      `Certificates, links for sign-in and messages of this appliance name ${url}, which is this appliance alone: when it is away, nobody ` +
        'finds the CRL and OCSP of what it has issued. Give all appliances one URL that leads to all of them: keystorectl cluster set-public-url URL.',
    ];
  }
  const { hostname } = new URL(url);
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  return [
    ...(configured.publicUrlIsOwn || configured.publicUrl === url
      ? []
      : [
          `The configuration of this appliance says public-url ${configured.publicUrl}, which is not used: ${url} was set for all appliances. Remove it there, or make both equal.`,
        ]),
    ...(configured.hosts.some((one) => one.toLowerCase() === host)
      ? []
      : [
          `The certificates of this appliance do not have the name ${host} of ${url}: who comes by it does not trust this appliance. Add it to "hosts" of the configuration.`,
        ]),
  ];
}
