// Published keys of a tenant by fingerprint, key ID and address: what a key server and a Web Key Directory are asked for.
import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Semaphore } from '../../../core/base/async/semaphore.ts';
import { userIdsOf } from '../certificates/certificate.ts';
import { keyIdOf } from '../format/packets.ts';
import { isPublished, type OpenpgpKeys } from '../records.ts';
import { wholeRecords } from './whole-certificates.ts';

/** A certificate that can be found: one version of a primary key. */
export type Findable = { readonly key: string; readonly primaryFingerprint: string };

type Found = ReadonlyMap<string, readonly Findable[]>;
type Index = { readonly slot: number; readonly found: Promise<Found> };

/** The newest keys of a primary key and of each of its subkeys that can be found by fingerprint. */
const mostCertificates = 1000;
/** Certificates in one answer. */
const mostFound = 16;
const slotMs = 10_000;
/** Tenants whose indexes are kept in a process. */
const mostKept = 16;
/** Certificates that are read before other requests get their turn. */
const readAtOnce = 50;

/**
 * Indexes of the published keys of tenants. An index holds texts alone, and is read again after ten seconds: however often anybody asks, the
 * records of a tenant's published keys are opened once in that time, and those of other keys never. One index is made at a time, with other requests
 * in between: of however many tenants anybody asks.
 */
export class Lookups {
  readonly #transitKeys: OpenpgpKeys;
  readonly #kept = new Map<string, Index>();
  readonly #making = new Map<string, Promise<Found>>();
  readonly #turns = new Semaphore(1);

  constructor(transitKeys: OpenpgpKeys) {
    this.#transitKeys = transitKeys;
  }

  /** By fingerprint or key ID, of a primary key or of a subkey, in hexadecimal without 0x. */
  byKey(tenantId: string, digits: string, now: Temporal.Instant): Promise<readonly Findable[]> {
    const wanted = digits.toUpperCase();
    return this.#find(tenantId, `key ${wanted}`, now);
  }

  /** By the address in a User ID. */
  byAddress(tenantId: string, address: string, now: Temporal.Instant): Promise<readonly Findable[]> {
    return this.#find(tenantId, `address ${smallLetters(address)}`, now);
  }

  /** By domain and hashed local part, as a Web Key Directory names an address. */
  byHash(tenantId: string, domain: string, hashed: string, now: Temporal.Instant): Promise<readonly Findable[]> {
    return this.#find(tenantId, `directory ${hashed}@${smallLetters(domain)}`, now);
  }

  async #find(tenantId: string, term: string, now: Temporal.Instant): Promise<readonly Findable[]> {
    const slot = Math.floor(now.epochMilliseconds / slotMs);
    const kept = this.#kept.get(tenantId);
    if (kept?.slot === slot) return (await kept.found).get(term) ?? [];
    const names = this.#transitKeys.publishedNames(tenantId);
    this.#kept.delete(tenantId);
    // Nothing is kept for an unknown tenant, or for one that has nothing published.
    if (names.length === 0) return [];
    const found = this.#make(tenantId, names);
    const index: Index = { slot, found };
    this.#kept.set(tenantId, index);
    found.catch(() => this.#kept.get(tenantId) === index && this.#kept.delete(tenantId));
    for (const oldest of this.#kept.keys().take(Math.max(0, this.#kept.size - mostKept))) this.#kept.delete(oldest);
    return (await found).get(term) ?? [];
  }

  /** One index of a tenant is under way, whatever is asked for meanwhile: unauthenticated callers cannot queue more of them. */
  #make(tenantId: string, names: readonly string[]): Promise<Found> {
    const under = this.#making.get(tenantId);
    if (under !== undefined) return under;
    const found = this.#turns
      .run(() => indexOf(this.#transitKeys, tenantId, names), { tenant: tenantId, origin: '' })
      .finally(() => this.#making.delete(tenantId));
    this.#making.set(tenantId, found);
    return found;
  }
}

async function indexOf(transitKeys: OpenpgpKeys, tenantId: string, names: readonly string[]): Promise<Found> {
  const found = new Map<string, Findable[]>();
  let read = 0;
  const add = (term: string, one: Findable): void => {
    const all = found.get(term) ?? [];
    const isThere = all.some(({ key, primaryFingerprint }) => key === one.key && primaryFingerprint === one.primaryFingerprint);
    if (!isThere && all.length < mostFound) found.set(term, [...all, one]);
  };
  for (const name of names) {
    if (++read % readAtOnce === 0) await setImmediate();
    const key = transitKeys.find(tenantId, name);
    if (key === undefined || !isPublished(key.fields)) continue;
    for (const { fingerprints, subkey, certificate } of wholeRecords(transitKeys, key).slice(0, mostCertificates)) {
      if (++read % readAtOnce === 0) await setImmediate();
      const [fingerprint = ''] = fingerprints;
      const one = { key: name, primaryFingerprint: subkey?.primaryFingerprint ?? fingerprint };
      for (const term of [fingerprint, keyIdOf(fingerprint)]) add(`key ${term}`, one);
      for (const [local, domain] of subkey === undefined ? userIdsOf(certificate).flatMap((userId) => addressIn(userId)) : []) {
        add(`address ${local}@${domain}`, one);
        add(`directory ${directoryHash(local)}@${domain}`, one);
      }
    }
  }
  return found;
}

/** The address of a User ID, in small letters: the part in angle brackets at its end, or all of it. */
export function addressIn(userId: string): readonly (readonly [local: string, domain: string])[] {
  const address = /<([^<>]*)>$/.exec(userId)?.[1] ?? userId;
  const [, local, domain] = /^([^\s@<>]+)@([^\s@<>]+)$/.exec(smallLetters(address)) ?? [];
  return local === undefined || domain === undefined ? [] : [[local, domain]];
}

/** A to Z alone (draft-koch-openpgp-webkey-service, 3.1): other letters have small ones that are of another address, as that of the Kelvin sign. */
function smallLetters(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** SHA-1 of the local part in z-base-32: 32 letters (draft-koch-openpgp-webkey-service, 3.1). */
export function directoryHash(local: string): string {
  const bits = Array.from(hash('sha1', local, 'buffer'), (octet) => octet.toString(2).padStart(8, '0')).join('');
  return Array.from({ length: bits.length / 5 }, (_, at) => zBase32[Number.parseInt(bits.slice(at * 5, at * 5 + 5), 2)]).join('');
}

const zBase32 = 'ybndrfg8ejkmcpqxot1uwisza345h769';
