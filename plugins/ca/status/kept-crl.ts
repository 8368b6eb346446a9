// Reads a revocation list that this appliance has published and somebody has kept: what it says of certificates, once its signature verifies.
import { formatTimestamp } from '../../../core/base/time.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { Reader, readBitString, readOnly, tag } from '../../../core/der/der.ts';
import { extensionId } from '../../../core/der/oids.ts';
import { requireCaAlgorithm } from '../authority/algorithms.ts';
import type { FoundCa } from '../authority/lookup.ts';
import { readExtensions, readTime } from '../der/certificate.ts';
import { publicKeyObject } from '../der/public-key.ts';
import { type CaGeneration, type RevocationReason, revocationReasons } from '../records/records.ts';

/** A line of the list. */
export type KeptRevocation = { readonly serial: string; readonly at: string; readonly reason: RevocationReason };

/** `generation`: the key of the CA that signed it. */
export type KeptCrl = { readonly generation: CaGeneration; readonly number: number; readonly entries: readonly KeptRevocation[] };

/** Reads a kept list; undefined unless a key of this CA has signed it. */
export function readKeptCrl(ca: FoundCa, der: Uint8Array): KeptCrl | undefined {
  try {
    const outer = readOnly(der, tag.sequence);
    const tbs = outer.next(tag.sequence);
    const algorithm = outer.next(tag.sequence).whole;
    const signature = readBitString(outer.next(tag.bitString).content);
    outer.end();
    const generation = ca.record.generations.find((one) => hasSigned(one, tbs.whole, algorithm, signature));
    return generation === undefined ? undefined : { generation, ...readList(tbs.content) };
  } catch {
    return undefined;
  }
}

function hasSigned({ key }: CaGeneration, tbs: Uint8Array, identifier: Uint8Array, signature: Uint8Array): boolean {
  const algorithm = requireCaAlgorithm(key);
  if (Buffer.compare(algorithm.identifier, identifier) !== 0) return false;
  return cleanly(() => algorithm.holds(publicKeyObject(key.publicKey), tbs, signature));
}

/** RFC 5280 5.1: we make no other than version 2, with nextUpdate and extensions. */
function readList(content: Uint8Array): Omit<KeptCrl, 'generation'> {
  const fields = new Reader(content);
  fields.next(tag.integer);
  fields.next(tag.sequence);
  fields.next(tag.sequence);
  fields.next();
  fields.next();
  const entries = fields.optional(tag.sequence);
  const extensions = readExtensions(fields.enter(tag.constructed(0)).next(tag.sequence).whole);
  fields.end();
  const number = readOnly(extensions.get(extensionId.crlNumber)?.value ?? new Uint8Array(), tag.integer).remaining;
  return {
    number: Number(`0x${Buffer.from(number).toString('hex')}`),
    entries: entries === undefined ? [] : Array.from(new Reader(entries.content).rest(), ({ whole }) => readEntry(whole)),
  };
}

const reasonsByCode = new Map(Object.entries(revocationReasons).map(([reason, code]) => [code as number, reason as RevocationReason]));

function readEntry(whole: Uint8Array): KeptRevocation {
  const fields = readOnly(whole, tag.sequence);
  const serial = Buffer.from(fields.next(tag.integer).content).toString('hex');
  const at = formatTimestamp(readTime(fields.next()));
  const extensions = fields.optional(tag.sequence);
  const code = extensions === undefined ? undefined : readExtensions(extensions.whole).get(extensionId.reasonCode)?.value;
  const reason = code === undefined ? undefined : reasonsByCode.get(readOnly(code, tag.enumerated).remaining[0] ?? 0);
  return { serial, at, reason: reason ?? 'unspecified' };
}
