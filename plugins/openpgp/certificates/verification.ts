// Checking detached signatures: each packet is matched to a key version by its issuer, then verified by openpgp.js.
import { setImmediate } from 'node:timers/promises';
import { createMessage, PacketList, Signature, type SignaturePacket, verify } from 'openpgp';
import type { OpenpgpRecord, OpenpgpVersion } from '../records.ts';
import { signingFingerprints } from './import-public-key.ts';
import { parsedCertificate } from '../format/keyblock.ts';
import { readingConfig } from '../format/reading.ts';
import { certificateAt, hasRevocations } from './revoked.ts';

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
export type MatchedSignature = { readonly packet: SignaturePacket; readonly version: OpenpgpVersion };

/** Those of the packets whose issuer is one of the versions: by fingerprint, or by key ID where a packet has nothing better. */
export async function matchVersions(
  packets: readonly SignaturePacket[],
  versions: readonly OpenpgpVersion[],
): Promise<readonly MatchedSignature[]> {
  const signers = await Promise.all(versions.map(async (version) => ({ version, fingerprints: await signersOf(version.attached) })));
  return packets.flatMap((packet) => {
    const named = packet.issuerFingerprint?.toHex().toUpperCase();
    const keyId = packet.issuerKeyID.toHex().toUpperCase();
    const issued = (fingerprint: string): boolean => (named === undefined ? keyIdOf(fingerprint) === keyId : fingerprint === named);
    const found = signers.find(({ fingerprints }) => fingerprints.some(issued));
    return found === undefined ? [] : [{ packet, version: found.version }];
  });
}

/** Fingerprints of the keys whose signatures count. What earlier versions of the service imported lacks those of retired subkeys. */
async function signersOf(record: OpenpgpRecord | undefined): Promise<readonly string[]> {
  if (record?.imported === undefined) return record?.fingerprints ?? [];
  let signers = importedSigners.get(record);
  if (signers === undefined) {
    const hasRetired = hasRevocations(await parsedCertificate(record));
    signers = hasRetired ? await signingFingerprints(await certificateAt(record, undefined)) : record.fingerprints;
    importedSigners.set(record, signers);
  }
  return signers;
}

const importedSigners = new WeakMap<OpenpgpRecord, readonly string[]>();

/**
 * The first signature that is good: made over `data` by a key that was valid at its date: not expired, not superseded or retired before
 * it, and never revoked for compromise or without a reason.
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
  version: OpenpgpVersion,
  data: Uint8Array,
  now: Temporal.Instant,
): Promise<GoodSignature | undefined> {
  const { attached: record } = version;
  const { created } = packet;
  if (record === undefined || created === null) return undefined;
  const certificate = await certificateAt(record, created);
  const list = new PacketList<SignaturePacket>();
  list.push(packet);
  // `binary` throughout: a text message would be re-encoded, and the signature is over the octets.
  const result = await verify({
    message: await createMessage({ binary: data.length > pieceOctets ? inPieces(data) : data }),
    signature: new Signature(list),
    verificationKeys: certificate,
    format: 'binary',
    date: verificationDate(created, now),
    config: readingConfig,
  }).catch(() => undefined);
  // It hashes what others read: the data has to be read to its end.
  if (result?.data instanceof ReadableStream) await drain(result.data);
  // No entry at all means a signature type that is not over data.
  const [entry] = result?.signatures ?? [];
  if (entry === undefined || !(await entry.verified.catch(() => false))) return undefined;
  const fingerprint = certificate.getKeys(entry.keyID)[0]?.getFingerprint().toUpperCase();
  if (fingerprint === undefined || !(await signersOf(record)).includes(fingerprint)) return undefined;
  const signedAt = Temporal.Instant.fromEpochMilliseconds(created.getTime());
  return { version: version.version, fingerprint, keyId: keyIdOf(fingerprint), signedAt };
}

/** To hash as much takes half a millisecond. */
const pieceOctets = 128 * 1024;

/** Large data as a stream: openpgp.js would copy it whole, and hash it while everybody waits. */
function inPieces(data: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await setImmediate();
      if (at < data.length) controller.enqueue(data.subarray(at, (at += pieceOctets)));
      else controller.close();
    },
  });
}

// openpgp.js gives its stream methods of its own: iterating over it would not use them.
async function drain(stream: ReadableStream<unknown>): Promise<void> {
  const reader = stream.getReader();
  while (!(await reader.read()).done);
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
