// Certificate revocation lists (RFC 5280 5), one per key generation, signed in the token when something changed or time passed.
import { defined } from '../../../core/base/defined.ts';
import { fail } from '../../../core/base/errors.ts';
import type { Asker } from '../../../hsm/api.ts';
import { getIfOpen, getOrDrop, type WriteTransaction } from '../../../core/store/store.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { readCertificate } from '../der/certificate.ts';
import { encode, explicit, integer, sequence, tag, time } from '../../../core/der/der.ts';
import { authorityKeyIdentifier, crlNumber, deltaCrlIndicator, freshestCrl, reasonCode } from '../der/extensions.ts';
import { backdateSeconds, referenceOf } from '../authority/generation.ts';
import { type CaContext, publicUrls } from '../context.ts';
import { type FoundCa } from '../authority/lookup.ts';
import { issuerKeyIdentifier } from '../der/read-extensions.ts';
import {
  type CaGeneration,
  type CaRecord,
  type PublishedCrl,
  type Revocation,
  revocationReasons,
  type SignedCrl,
} from '../records/records.ts';
import { signStructure, unlessDeleted } from '../authority/signer.ts';

/** Validity of a CRL, and the age at which a new one replaces it. */
const lives = {
  complete: { lifeSeconds: 7 * 86_400, refreshSeconds: 86_400 },
  delta: { lifeSeconds: 86_400, refreshSeconds: 3_600 },
} as const;

/** A delta CRL has what was revoked since a complete one that may still be in use (RFC 5280 5.2.4). */
type Which = keyof typeof lives;

/**
 * The CRL of a generation, DER: the published one while it is fresh and covers every revocation, else a new one. When the token
 * cannot sign, the published one is answered for as long as it may be used, unless the caller needs `every` revocation and it lacks one:
 * throws HsmError then.
 */
export async function currentCrl(
  context: CaContext,
  ca: FoundCa,
  generation: CaGeneration,
  { needs, askedBy }: { readonly needs?: 'every'; readonly askedBy?: Asker } = {},
): Promise<Uint8Array> {
  const key = crlKey(ca, generation);
  const published = getIfOpen(context.tables.crls, key);
  const newest = published?.newest;
  const now = context.clock.now();
  const isWhole = newest?.covers === published?.changes;
  if (newest !== undefined && isWhole && isFresh(ageSeconds(newest.thisUpdate, now), 'complete')) return newest.crl;
  try {
    return await publishOnce(context, ca, generation, 'complete', askedBy);
  } catch (error) {
    const isUsable = newest !== undefined && Temporal.Instant.compare(newest.nextUpdate, now) > 0;
    if (isUsable && (isWhole || needs === undefined)) return newest.crl;
    throw error;
  }
}

/**
 * The delta CRL of a generation, DER, as currentCrl. It goes on from a list of a week ago, so that relying parties with any list that has not ended can use it, and
 * its number is above those of all complete lists: OpenSSL asks for that.
 */
export async function currentDeltaCrl(context: CaContext, ca: FoundCa, generation: CaGeneration, askedBy: Asker): Promise<Uint8Array> {
  const key = crlKey(ca, generation);
  if (getIfOpen(context.tables.crls, key)?.bases === undefined) await publishOnce(context, ca, generation, 'complete', askedBy);
  const published = getIfOpen(context.tables.crls, key);
  const delta = published?.newestDelta;
  const now = context.clock.now();
  const isNewest = delta?.covers === published?.changes && (delta?.number ?? 0) > (published?.newest?.number ?? 0);
  if (delta !== undefined && isNewest && isFresh(ageSeconds(delta.thisUpdate, now), 'delta')) return delta.crl;
  try {
    return await publishOnce(context, ca, generation, 'delta', askedBy);
  } catch (error) {
    if (delta !== undefined && Temporal.Instant.compare(delta.nextUpdate, now) > 0) return delta.crl;
    throw error;
  }
}

/**
 * Time after a failure for unauthenticated callers in which others are refused: each attempt takes a number, which is a change in the
 * store.
 */
const failureMs = 1_000;

/** Tells whether a list is fresh. One that was made while the clock was ahead has not begun yet. */
function isFresh(age: number, which: Which): boolean {
  return age >= -backdateSeconds && age < lives[which].refreshSeconds;
}

/** Concurrent requests share one signature, and its failure: a CRL is served without authentication. */
const publishing = new WeakMap<CaContext, Map<string, Promise<Uint8Array>>>();

function publishOnce(context: CaContext, ca: FoundCa, generation: CaGeneration, which: Which, askedBy?: Asker): Promise<Uint8Array> {
  const running = publishing.get(context) ?? new Map<string, Promise<Uint8Array>>();
  publishing.set(context, running);
  const name = [...crlKey(ca, generation), which].join('/');
  const present = running.get(name);
  if (present !== undefined) return present;
  const started = publish(context, ca, generation, which, askedBy);
  running.set(name, started);
  const forget = (): boolean => running.delete(name);
  started.then(forget, () => (askedBy === undefined ? forget() : setTimeout(forget, failureMs).unref()));
  return started;
}

async function publish(
  context: CaContext,
  ca: FoundCa,
  generation: CaGeneration,
  which: Which,
  askedBy: Asker | undefined,
): Promise<Uint8Array> {
  const key = crlKey(ca, generation);
  const nextUpdate = context.clock.now().add({ seconds: lives[which].lifeSeconds });
  const made = await signCrl(context, ca, generation, nextUpdate, { which, ...defined({ askedBy }) });
  return context.store.write((transaction) => {
    const published = getOrDrop(transaction, context.tables.crls, key);
    // The CA may have been deleted.
    if (published === undefined) return made.crl;
    const before = which === 'delta' ? published.newestDelta : published.newest;
    // Relying parties may have the higher number of another process already, and take no list below it.
    if (before !== undefined && before.number >= made.number) return before.crl;
    const now = context.clock.now();
    const kept = which === 'delta' ? { newestDelta: made } : { newest: made, ...basesWith(published, ca.record, made, now) };
    transaction.put(context.tables.crls, key, { ...published, ...kept });
    return made.crl;
  });
}

/** The lists from which deltas go on, with a new one: each list that has not ended is above the first of them. */
function basesWith(
  { bases = [] }: PublishedCrl,
  { deltaCrl }: Pick<CaRecord, 'deltaCrl'>,
  { number, covers, thisUpdate }: SignedCrl,
  now: Temporal.Instant,
): Pick<PublishedCrl, 'bases'> {
  if (deltaCrl !== true) return {};
  const isOver = (base: { readonly at: string } | undefined): boolean =>
    base !== undefined && ageSeconds(base.at, now) > lives.complete.lifeSeconds;
  const kept = bases.filter((_, index) => !isOver(bases[index + 1]));
  const last = kept.at(-1);
  const isDue = last === undefined || ageSeconds(last.at, now) >= lives.complete.refreshSeconds;
  return { bases: isDue ? [...kept, { number, covers, at: thisUpdate }] : kept };
}

/** Signs a CRL of the present revocations, with the next number, valid until `nextUpdate`. `which`: absent for a last one, which no delta follows. */
export async function signCrl(
  context: CaContext,
  ca: FoundCa,
  generation: CaGeneration,
  nextUpdate: Temporal.Instant,
  { which, askedBy }: { readonly which?: Which; readonly askedBy?: Asker } = {},
): Promise<SignedCrl> {
  const key = crlKey(ca, generation);
  const thisUpdate = context.clock.now();
  const draft = await context.store.write((transaction) => {
    // The list of a deleted CA would never be removed.
    if (transaction.get(context.tables.cas, [ca.tenantId, ca.record.name])?.id !== ca.record.id) throw fail('not-found');
    return takeNumber(context, transaction, key, which ?? 'complete');
  });
  const own = { tenantId: ca.tenantId, caId: ca.record.id };
  const deltaUrl = which === 'complete' ? publicUrls(context, ca.tenantId, ca.record, generation.generation)?.delta : undefined;
  const list = { ...draft, generation, thisUpdate, nextUpdate, ...defined({ deltaUrl }) };
  const encodeTbs = (algorithm: Uint8Array): Uint8Array => encodeTbsCertList(list, algorithm);
  const crl = await unlessDeleted(context, own, () =>
    signStructure(context.hsm, referenceOf(own, generation), { kind: 'crl', issuer: generation.certificate }, encodeTbs, askedBy),
  );
  const { number, covers } = draft;
  return { crl, number, covers, thisUpdate: formatTimestamp(thisUpdate), nextUpdate: formatTimestamp(nextUpdate) };
}

/** The CRL that was published last. */
export function newestCrl(context: CaContext, ca: FoundCa, generation: CaGeneration): PublishedCrl['newest'] {
  return getIfOpen(context.tables.crls, crlKey(ca, generation))?.newest;
}

type Draft = {
  readonly number: number;
  readonly covers: number;
  /** of a delta CRL: the number of the list that it goes on from */
  readonly base?: number;
  readonly entries: readonly (readonly [serial: string, revocation: Revocation])[];
};

/** Takes the next CRL number together with exactly the revocations that this CRL will cover. */
function takeNumber(context: CaContext, transaction: WriteTransaction, key: readonly (string | number)[], which: Which): Draft {
  const published: PublishedCrl = getOrDrop(transaction, context.tables.crls, key) ?? { lastNumber: 0, changes: 0 };
  // The number is from the time, so that a restored appliance, which has forgotten the last ones, repeats none and stays below none (RFC
  // 5280 5.2.3): in milliseconds, because no key signs lists as fast as that, and so none is ahead of the time for long.
  const number = Math.max(published.lastNumber + 1, context.clock.now().epochMilliseconds);
  transaction.put(context.tables.crls, key, { ...published, lastNumber: number });
  const { revocations } = context.tables;
  const known = new Map(Array.from(transaction.entries(revocations, key), ([path, entry]) => [String(path.at(-1)), entry]));
  // A revocation that does not open still counts: its key has the serial number.
  const lost: Revocation = { at: formatTimestamp(context.clock.now()), reason: 'unspecified', notAfter: '' };
  const entries = Array.from(transaction.keys(revocations, key), (path) => {
    const serial = String(path.at(-1));
    return [serial, known.get(serial) ?? lost] as const;
  });
  const whole = { number, covers: published.changes, entries };
  if (which === 'complete') return whole;
  const [base] = published.bases ?? [];
  if (base === undefined) throw new Error('a delta CRL without a list that it goes on from');
  // One of which the count of changes is not known may be new.
  return { ...whole, base: base.number, entries: entries.filter(([, { change = Infinity }]) => change > base.covers) };
}

type CertListContent = Draft & {
  readonly generation: CaGeneration;
  readonly thisUpdate: Temporal.Instant;
  readonly nextUpdate: Temporal.Instant;
  /** address of its delta CRL */
  readonly deltaUrl?: string;
};

/** Encodes tbsCertList, version 2. revokedCertificates is absent if no certificate is revoked (RFC 5280 5.1.2.6). */
function encodeTbsCertList(content: CertListContent, algorithmIdentifier: Uint8Array): Uint8Array {
  const issuer = readCertificate(content.generation.certificate);
  // A little before now, for relying parties whose clocks are slow.
  const begin = content.thisUpdate.subtract({ seconds: backdateSeconds });
  const entries = content.entries.map(([serial, entry]) => encodeEntry(serial, entry, begin));
  return sequence(
    integer(1),
    algorithmIdentifier,
    issuer.subject,
    time(begin),
    time(content.nextUpdate),
    ...(entries.length === 0 ? [] : [sequence(...entries)]),
    explicit(
      0,
      sequence(
        authorityKeyIdentifier(issuerKeyIdentifier(issuer)),
        crlNumber(content.number),
        ...(content.base === undefined ? [] : [deltaCrlIndicator(content.base)]),
        ...(content.deltaUrl === undefined ? [] : [freshestCrl(content.deltaUrl)]),
      ),
    ),
  );
}

/**
 * A reason of `unspecified` is left out (RFC 5280 5.3.1). No revocation date is later than thisUpdate: a later one, of the last minute or
 * from before the clock was set back, is replaced by it.
 */
function encodeEntry(serial: string, { at, reason }: Revocation, begin: Temporal.Instant): Uint8Array {
  const number = encode(tag.integer, Buffer.from(serial, 'hex'));
  const revoked = Temporal.Instant.from(at);
  const date = time(Temporal.Instant.compare(revoked, begin) > 0 ? begin : revoked);
  return reason === 'unspecified' ? sequence(number, date) : sequence(number, date, sequence(reasonCode(revocationReasons[reason])));
}

function crlKey(ca: FoundCa, { generation }: CaGeneration): [string, string, number] {
  return [ca.tenantId, ca.record.id, generation];
}

function ageSeconds(timestamp: string, now: Temporal.Instant): number {
  return now.since(Temporal.Instant.from(timestamp)).total('seconds');
}
