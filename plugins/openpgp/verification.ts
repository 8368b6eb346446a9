// Checking detached signatures: each packet is matched to a key version by its issuer, then verified by openpgp.js.
import { createMessage, PacketList, Signature, type SignaturePacket, verify } from 'openpgp';
import type { TransitKeyVersion } from '../../core/services/transit-keys.ts';
import { parsedCertificate } from './keyblock.ts';
import { readingConfig } from './reading.ts';

/** A good signature: who made it, with which version, when. */
export type GoodSignature = {
  readonly version: number;
  readonly fingerprint: string;
  readonly keyId: string;
  readonly signedAt: Temporal.Instant;
};

// How far a signer's clock may run ahead of ours.
const clockSkewSeconds = 300;

/** A signature packet and the key version that its issuer fields name. */
export type MatchedSignature = { readonly packet: SignaturePacket; readonly version: TransitKeyVersion };

/** Those of the packets whose issuer is one of the versions: by fingerprint, or by key ID where a packet has nothing better. */
export function matchVersions(packets: readonly SignaturePacket[], versions: readonly TransitKeyVersion[]): readonly MatchedSignature[] {
  return packets.flatMap((packet) => {
    const named = packet.issuerFingerprint?.toHex().toUpperCase();
    const keyId = packet.issuerKeyID.toHex().toUpperCase();
    const issued = (fingerprint: string): boolean => (named === undefined ? keyIdOf(fingerprint) === keyId : fingerprint === named);
    const version = versions.find(({ openpgp }) => openpgp?.fingerprints.some(issued));
    return version === undefined ? [] : [{ packet, version }];
  });
}

/**
 * The first signature that is good: made over `data` by a key that was valid at its date, not expired, not revoked for compromise.
 * Undefined when none is.
 */
export async function findGoodSignature(
  matched: readonly MatchedSignature[],
  data: Uint8Array,
  now: Temporal.Instant,
): Promise<GoodSignature | undefined> {
  for (const { packet, version } of matched) {
    const good = await verifyOne(packet, version, data, now);
    if (good !== undefined) return good;
  }
  return undefined;
}

async function verifyOne(
  packet: SignaturePacket,
  version: TransitKeyVersion,
  data: Uint8Array,
  now: Temporal.Instant,
): Promise<GoodSignature | undefined> {
  const { openpgp: record } = version;
  const { created } = packet;
  if (record === undefined || created === null) return undefined;
  const certificate = await parsedCertificate(record);
  const list = new PacketList<SignaturePacket>();
  list.push(packet);
  // `binary` throughout: a text message would be re-encoded, and the signature is over the octets.
  const result = await verify({
    message: await createMessage({ binary: data }),
    signature: new Signature(list),
    verificationKeys: certificate,
    format: 'binary',
    date: verificationDate(created, now),
    config: readingConfig,
  }).catch(() => undefined);
  // No entry at all means a signature type that is not over data.
  const [entry] = result?.signatures ?? [];
  if (entry === undefined || !(await entry.verified.catch(() => false))) return undefined;
  const fingerprint = certificate.getKeys(entry.keyID)[0]?.getFingerprint().toUpperCase();
  if (fingerprint === undefined || !record.fingerprints.includes(fingerprint)) return undefined;
  const signedAt = Temporal.Instant.fromEpochMilliseconds(created.getTime());
  return { version: version.version, fingerprint, keyId: keyIdOf(fingerprint), signedAt };
}

// A signature dated slightly ahead of us is looked at with its own date; everything else as of now.
function verificationDate(created: Date, now: Temporal.Instant): Date {
  const aheadMs = created.getTime() - now.epochMilliseconds;
  return aheadMs > 0 && aheadMs <= clockSkewSeconds * 1000 ? created : new Date(now.epochMilliseconds);
}

/** The key ID inside a fingerprint: the last eight octets, of a version 6 key the first (RFC 9580, 5.5.4). */
function keyIdOf(fingerprint: string): string {
  return fingerprint.length > 40 ? fingerprint.slice(0, 16) : fingerprint.slice(-16);
}
