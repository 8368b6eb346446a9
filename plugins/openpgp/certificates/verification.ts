// Verifies detached signatures: matches each packet to a key version by its issuer, then verifies it with openpgp.js.
import type { SignaturePacket } from 'openpgp';
import type { OpenpgpRecord, OpenpgpVersion } from '../records.ts';
import { signingFingerprints } from './import-public-key.ts';
import { parsedCertificate } from '../format/keyblock.ts';
import { openpgp } from '../format/library.ts';
import { keyIdOf } from '../format/packets.ts';
import { inPieces, pieceOctets, piecesOf } from '../format/pieces.ts';
import { readingConfig } from '../format/reading.ts';
import { certificateAt, hasRevocations } from './revoked.ts';

/** A valid signature: by which key and version, and when. */
export type GoodSignature = {
  readonly version: number;
  readonly fingerprint: string;
  readonly keyId: string;
  readonly signedAt: Temporal.Instant;
};

// Time by which the clock of a signer may be ahead.
const clockSkewSeconds = 300;

/** A signature packet and the key version that its issuer fields name. */
export type MatchedSignature = { readonly packet: SignaturePacket; readonly version: OpenpgpVersion };

/** The packets whose issuer is one of the versions: by fingerprint, or by key ID when a packet has no fingerprint. */
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

/** Fingerprints of the keys whose signatures count. Records imported by earlier versions of the service lack those of retired subkeys. */
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
 * The first valid signature: made over `data` by a key that was valid at its date, which means not expired, not superseded or retired
 * before it, and never revoked for compromise or without a reason. Undefined without such a signature.
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
  const { createMessage, PacketList, Signature, verify } = openpgp();
  const list = new PacketList<SignaturePacket>();
  list.push(packet);
  // `binary`, because a text message would be re-encoded, and the signature is over the octets.
  const result = await verify({
    message: await createMessage({ binary: data.length > pieceOctets ? inPieces(data) : data }),
    signature: new Signature(list),
    verificationKeys: certificate,
    format: 'binary',
    date: verificationDate(created, now),
    config: readingConfig,
  }).catch(() => undefined);
  // openpgp.js hashes the data while it is read, so it must be read to the end.
  if (result?.data instanceof ReadableStream) await piecesOf(result.data);
  // Signatures without an entry are of a type that is not over data.
  const [entry] = result?.signatures ?? [];
  if (entry === undefined || !(await entry.verified.catch(() => false))) return undefined;
  const fingerprint = certificate.getKeys(entry.keyID)[0]?.getFingerprint().toUpperCase();
  if (fingerprint === undefined || !(await signersOf(record)).includes(fingerprint)) return undefined;
  const signedAt = Temporal.Instant.fromEpochMilliseconds(created.getTime());
  return { version: version.version, fingerprint, keyId: keyIdOf(fingerprint), signedAt };
}

// A signature dated slightly in the future is verified as of its own date; any other as of now.
function verificationDate(created: Date, now: Temporal.Instant): Date {
  const aheadMs = created.getTime() - now.epochMilliseconds;
  return aheadMs > 0 && aheadMs <= clockSkewSeconds * 1000 ? created : new Date(now.epochMilliseconds);
}
