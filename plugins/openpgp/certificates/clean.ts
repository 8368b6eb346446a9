// A certificate without what others have certified in it, as "gpg --export-options export-minimal" leaves it out: those of well-known people have
// thousands of such signatures.
import { concat } from '../../../core/base/bytes.ts';
import { fingerprintOf, formatFingerprint, keyIdOf, packetTag } from '../format/packets.ts';
import { splitForeign } from '../format/reading.ts';
import { issuersOf } from '../format/signature.ts';

/** Most packets that are looked at. */
const mostPackets = 50_000;

const userAttribute = 17;

/**
 * The packets of a certificate without signatures of other keys, and without pictures. Undefined where it does not begin with a public key or has
 * too many packets. Reads headers alone: what is left is judged by the reader of certificates.
 */
export function withoutOthers(packets: Uint8Array): Uint8Array | undefined {
  const all = splitForeign(packets, mostPackets);
  const [primary] = all ?? [];
  if (all === undefined || primary?.tag !== packetTag.publicKey) return undefined;
  const own = formatFingerprint(fingerprintOf(primary.body));
  const ids = new Set([own, keyIdOf(own)]);
  let isPicture = false;
  const kept = all.filter(({ tag, body }) => {
    if (tag === userAttribute || tag === packetTag.userId || tag === packetTag.publicSubkey) isPicture = tag === userAttribute;
    if (tag === packetTag.signature) return !isPicture && issuersOf(body).some((issuer) => ids.has(issuer));
    return !isPicture;
  });
  return concat(...kept.map(({ whole }) => whole));
}
