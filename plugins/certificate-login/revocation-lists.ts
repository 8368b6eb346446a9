// Revocation lists of CAs elsewhere that are fetched: again and again by one process for all, and by a login that has none that is current. Who has signed
// them, and until when they count, is judged with the certificate.
import { hash } from 'node:crypto';
import type { Clock } from '../../core/base/context.ts';
import { readDer } from '../../core/base/texts/pem.ts';
import { DerError, readOnly, tag } from '../../core/der/der.ts';
import type { Destinations } from '../../core/outbound/destinations.ts';
import { writeInPieces } from '../../core/store/records/pieces.ts';
import { getIfOpen, getOrDrop, type Store, type StoreKey, type Table } from '../../core/store/store.ts';
import { fetchOctets, safely } from './fetching.ts';

/** Knowledge of a URL. */
export type ListRecord = {
  readonly url: string;
  readonly triedMs: number;
  /** DER; the last one that could be fetched */
  readonly list?: Uint8Array;
  /** reason for which the last attempt failed, as a clause */
  readonly problem?: string;
};

/** As records of keys of issuers: [tenant uuid, SHA-256 of the URL]. */
export type ListTable = Table<ListRecord>;

type Parts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly table: ListTable;
  readonly destinations: Destinations;
};

const mostOctets = 1 << 20;

export class RevocationLists {
  readonly #parts: Parts;
  readonly #running = new Map<string, Promise<boolean>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns the knowledge of URLs. */
  known(tenantId: string, urls: readonly string[]): readonly ListRecord[] {
    return urls.flatMap((url) => getIfOpen(this.#parts.table, keyOf(tenantId, url)) ?? []);
  }

  /** Returns the lists that were fetched, DER. */
  of(tenantId: string, urls: readonly string[]): readonly Uint8Array[] {
    return this.known(tenantId, urls).flatMap(({ list }) => list ?? []);
  }

  /** Fetches lists, unless an attempt is younger than this; callers at the same time share one. Returns whether there is one that was not there. */
  async fetch(tenantId: string, urls: readonly string[], notWithinSeconds: number): Promise<boolean> {
    const news = await Promise.all(
      urls.map((url) => {
        const name = JSON.stringify(keyOf(tenantId, url));
        const running = this.#running.get(name) ?? this.#attempt(tenantId, url, notWithinSeconds).finally(() => this.#running.delete(name));
        this.#running.set(name, running);
        return running;
      }),
    );
    return news.includes(true);
  }

  async #attempt(tenantId: string, url: string, notWithinSeconds: number): Promise<boolean> {
    const { store, clock, table } = this.#parts;
    const key = keyOf(tenantId, url);
    const nowMs = clock.now().epochMilliseconds;
    const isClaimed = await store.write((transaction) => {
      const kept = getOrDrop(transaction, table, key);
      // A time ahead of the clock, which was set back since, is as old as can be.
      if (kept !== undefined && kept.triedMs <= nowMs && nowMs - kept.triedMs < notWithinSeconds * 1_000) return false;
      transaction.put(table, key, { ...kept, url, triedMs: nowMs });
      return true;
    });
    if (!isClaimed) return false;
    const outcome = await safely('the answer is not a revocation list', () => this.#fetch(new URL(url)));
    return store.write((transaction) => {
      const kept = getOrDrop(transaction, table, key);
      if (kept === undefined) return false;
      const { problem: _, ...rest } = kept;
      transaction.put(table, key, { ...rest, ...outcome });
      return 'list' in outcome && (kept.list === undefined || Buffer.compare(kept.list, outcome.list) !== 0);
    });
  }

  async #fetch(url: URL): Promise<{ readonly list: Uint8Array }> {
    const octets = await fetchOctets(this.#parts.destinations, url, { accept: 'application/pkix-crl', maxBytes: mostOctets });
    const list = octets[0] === tag.sequence ? octets : readDer(Buffer.from(octets).toString('latin1'), 'X509 CRL')?.[0];
    if (list === undefined) throw new DerError('neither DER nor PEM');
    readOnly(list, tag.sequence);
    return { list };
  }
}

function keyOf(tenantId: string, url: string): StoreKey {
  return [tenantId, hash('sha256', url, 'base64url')];
}

/** Drops what is known of URLs that no role names any longer. */
export async function dropUnnamed(
  { store, table }: Pick<Parts, 'store' | 'table'>,
  named: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  const over = Array.from(table.entries([])).flatMap(([key, { url }]) => (named.has(JSON.stringify([key[0], url])) ? [] : [key]));
  await writeInPieces(store, over, (transaction, key) => void transaction.delete(table, key), signal);
}
