// Revocation lists of CAs elsewhere (RFC 5280 5 and 6.3): complete lists that the CA itself has signed, judged strictly. What is not understood is no
// list, so that a certificate below it is refused.
import { hash } from 'node:crypto';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { Reader, readBitString, readOnly, tag } from '../../../core/der/der.ts';
import { extensionId } from '../../../core/der/oids.ts';
import { findRequestSignature, holdsFor } from '../authority/algorithms.ts';
import { type Certificate, readExtensions, readTime } from '../der/certificate.ts';
import { keyUsageBit } from '../der/extensions.ts';
import { checkKey } from '../der/public-key.ts';
import { readKeyUsage } from '../der/read-extensions.ts';
import type { CertificatePath } from '../issuing/chain.ts';
import { isCurrent, readForeignAnswer } from './foreign-ocsp.ts';

/** A list whose signature verifies under the key of a CA. Serial numbers in lower-case hexadecimal. */
type ForeignCrl = {
  readonly thisUpdate: Temporal.Instant;
  readonly nextUpdate: Temporal.Instant;
  readonly revoked: ReadonlySet<string>;
};

/**
 * Reason for which a path is not known to be free of revocations: each certificate below the anchor needs a current list of its issuer, or an answer of a
 * responder about it. Undefined if it is.
 */
export function findRevocationProblem(
  path: CertificatePath,
  lists: readonly Uint8Array[],
  answers: readonly Uint8Array[],
  now: Temporal.Instant,
): 'revoked' | 'no-revocation-list' | undefined {
  for (const [index, issuer] of path.slice(1).entries()) {
    const subject = path[index];
    if (subject === undefined) return 'no-revocation-list';
    const current = lists.flatMap((der) => readCurrent(der, issuer, now));
    if (current.some(({ revoked }) => revoked.has(subject.serial))) return 'revoked';
    const said = answers.flatMap((der) => readForeignAnswer(der, subject, issuer) ?? []).filter((answer) => isCurrent(answer, now));
    const trusted = said.filter(
      ({ responder }) => !current.some(({ revoked }) => responder !== undefined && revoked.has(responder.serial)),
    );
    if (trusted.some(({ isRevoked }) => isRevoked)) return 'revoked';
    if (current.length === 0 && trusted.length === 0) return 'no-revocation-list';
  }
  return undefined;
}

function readCurrent(der: Uint8Array, issuer: Certificate, now: Temporal.Instant): readonly ForeignCrl[] {
  const list = readForeignCrl(der, issuer);
  if (list === undefined) return [];
  const isCurrent = Temporal.Instant.compare(list.thisUpdate, now) <= 0 && Temporal.Instant.compare(now, list.nextUpdate) <= 0;
  return isCurrent ? [list] : [];
}

/** Lists that were read, by the digest of list and issuer: a large one costs more than a login. */
const read = new Map<string, ForeignCrl | undefined>();
const mostRead = 64;

/** Reads a list of a CA; undefined unless it is complete and the CA has signed it. */
export function readForeignCrl(der: Uint8Array, issuer: Certificate): ForeignCrl | undefined {
  const key = hash('sha256', Buffer.concat([hash('sha256', der, 'buffer'), issuer.der]), 'hex');
  if (read.has(key)) return read.get(key);
  const [oldest] = read.keys();
  if (read.size >= mostRead && oldest !== undefined) read.delete(oldest);
  let list: ForeignCrl | undefined;
  try {
    list = parse(der, issuer);
  } catch {
    list = undefined;
  }
  read.set(key, list);
  return list;
}

function parse(der: Uint8Array, issuer: Certificate): ForeignCrl | undefined {
  if (readKeyUsage(issuer.extensions.get(extensionId.keyUsage), keyUsageBit.crlSign) === false) return undefined;
  const outer = readOnly(der, tag.sequence);
  const tbs = outer.next(tag.sequence);
  const algorithm = outer.next(tag.sequence).whole;
  const signature = readBitString(outer.next(tag.bitString).content);
  outer.end();
  const fields = new Reader(tbs.content);
  fields.optional(tag.integer);
  if (Buffer.compare(fields.next(tag.sequence).whole, algorithm) !== 0) return undefined;
  if (Buffer.compare(fields.next(tag.sequence).whole, issuer.subject) !== 0) return undefined;
  const key = checkKey(issuer.publicKey);
  if ('problem' in key) return undefined;
  const how = findRequestSignature(algorithm, key);
  if (how === undefined || !cleanly(() => holdsFor(key.keyObject, how, tbs.whole, signature))) return undefined;
  const thisUpdate = readTime(fields.next());
  const nextUpdate = readTime(fields.next());
  const entries = fields.optional(tag.sequence);
  const extensions = fields.optional(tag.constructed(0));
  fields.end();
  // Also lists of changes, of some reasons, and of certificates of others: their extensions are critical.
  if (extensions !== undefined && hasCritical(new Reader(extensions.content).next(tag.sequence).whole)) return undefined;
  const revoked = new Set<string>();
  for (const { whole } of entries === undefined ? [] : new Reader(entries.content).rest()) {
    const entry = readOnly(whole, tag.sequence);
    const serial = entry.next(tag.integer).content;
    readTime(entry.next());
    const ofEntry = entry.optional(tag.sequence);
    entry.end();
    if (ofEntry !== undefined && hasCritical(ofEntry.whole)) return undefined;
    revoked.add(Buffer.from(serial).toString('hex'));
  }
  return { thisUpdate, nextUpdate, revoked };
}

function hasCritical(extensions: Uint8Array): boolean {
  return [...readExtensions(extensions).values()].some(({ critical }) => critical);
}
