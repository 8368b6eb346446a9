// Certificates of our own keys: a primary key with its User IDs, and a subkey bound to a primary (RFC 9580, 10.1).
import { fail } from '../../../core/base/errors.ts';
import { concat, decodeUtf8, encodeUtf8, uint32 } from '../../../core/base/bytes.ts';
import { eachPacket, framedKey, framedUserId, packet, packetTag, splitPacket, subpacket } from '../format/packets.ts';
import { makeSignature, readSignature, signatureType, subpacketType } from '../format/signature.ts';
import type { PublicKeyBody, Signer } from '../format/signer.ts';

// Key flags (RFC 9580, 5.2.3.29): a primary that only certifies would not be accepted as a signer.
const certifyAndSign = Uint8Array.of(0x03);
const signOnly = Uint8Array.of(0x02);
const sha512Sha384Sha256 = Uint8Array.of(10, 9, 8);
/** User ID no longer valid (RFC 9580, 5.2.3.31) */
const noLongerValid = Uint8Array.of(32);

/** Statements of the self-signatures of a primary key. */
export type Statement = {
  /** the primary User ID first */
  readonly userIds: readonly string[];
  readonly revokedUserIds: readonly string[];
  /** seconds after the creation of the key; undefined: it does not expire */
  readonly lifetime: number | undefined;
};

/** Self-signatures that are there already. */
export type Earlier = {
  /** primary key ‖ direct-key signatures ‖ User IDs with their signatures */
  readonly certificate: Uint8Array;
  /** date of those that were made last, which new ones replace; undefined: none is replaced */
  readonly certified?: number;
  /** User IDs that came with an imported key: they stay beside those of the statement */
  readonly brought: readonly string[];
};

/** A certificate, and the date of the self-signatures in force when it is not that of the key. */
export type Certificate = { readonly certificate: Uint8Array; readonly certified?: number };

/**
 * primary key ‖ direct-key signatures ‖ User IDs with their self-signatures, the primary one first ‖ revoked User IDs.
 *
 * The primary User ID always has a self-signature dated at the creation of the key: verifiers refuse signatures that are older than every
 * self-signature they see. A later statement is dated a second after the newest before it, so that a program that merges blocks takes the
 * newer one, and what was signed before holds with it. The last one replaces those between. The caller waits until its date has come.
 */
export async function certifyPrimary(primary: Signer, statement: Statement, now: number, earlier?: Earlier): Promise<Certificate> {
  const { created } = primary;
  const present: Groups = earlier === undefined ? { direct: [], users: new Map() } : readGroups(earlier.certificate, earlier.certified);
  const [first] = statement.userIds;
  const named = new Set([...statement.userIds, ...statement.revokedUserIds]);
  const brought = (earlier?.brought ?? []).filter((text) => !named.has(text) && isCertified(present.users.get(text)));
  const date = nextDate([...present.direct, ...Array.from(present.users.values()).flat()], created, earlier?.certified);
  const older = (signatures: readonly SelfSignature[] = []): readonly SelfSignature[] =>
    signatures.filter((one) => one.created < date && !isRevocation(one));
  const isDirect = primary.version === 6 || present.direct.length > 0;
  const packets = [
    packet(packetTag.publicKey, primary.body),
    ...(isDirect ? [...older(present.direct).map(({ whole }) => whole), await directSignature(primary, statement, date)] : []),
  ];
  for (const text of [...statement.userIds, ...brought]) {
    const kept = older(present.users.get(text));
    const isOldest = text === first && date > created && !kept.some((one) => one.created === created);
    const oldest = isOldest ? [await selfSignature(primary, text, statement, created, true)] : [];
    const newest = await selfSignature(primary, text, statement, date, text === first);
    packets.push(userIdPacket(text), ...oldest, ...kept.map(({ whole }) => whole), newest);
  }
  for (const text of requireFew(present, revokedIn(present, statement))) {
    const kept = present.users.get(text) ?? [];
    const isNew = !kept.some((one) => isRevocation(one));
    const isBare = kept.every((one) => isRevocation(one));
    packets.push(
      userIdPacket(text),
      ...(isNew ? [await revokeUserId(primary, text, Math.max(date, now))] : []),
      ...kept.map(({ whole }) => whole),
      ...(isBare ? [await selfSignature(primary, text, statement, created, false)] : []),
    );
  }
  const certificate = concat(...packets);
  return date === created ? { certificate } : { certificate, certified: date };
}

/** Revocations stay; of a new key nobody knows a User ID that was revoked before. */
function revokedIn({ direct, users }: Groups, { userIds, revokedUserIds }: Statement): ReadonlySet<string> {
  const before = [...users].filter(([, signatures]) => signatures.some((one) => isRevocation(one))).map(([text]) => text);
  const named = direct.length === 0 && users.size === 0 ? [] : revokedUserIds;
  return new Set([...named, ...before].filter((text) => !userIds.includes(text)));
}

/** Revoked User IDs in a certificate, as they never leave it: those of the field, and as many that it has forgotten or that came with a key. */
const mostRevoked = 64;

/** Throws `conflict` when more User IDs are to be revoked than a certificate keeps. */
function requireFew({ users }: Groups, revoked: ReadonlySet<string>): ReadonlySet<string> {
  const isMore = Array.from(revoked).some((text) => isCertified(users.get(text)));
  if (revoked.size <= mostRevoked || !isMore) return revoked;
  const detail = `A block keeps ${mostRevoked} revoked User IDs at most, for good, and this one would have ${revoked.size}. Revoke fewer, or rotate the key: a new version starts without them.`;
  throw fail('conflict', { detail });
}

/** Date of a statement: that of the key for the first, else a second after the newest before, which may not have come yet. */
function nextDate(before: readonly SelfSignature[], first: number, certified = 0): number {
  const dates = before.filter((one) => !isRevocation(one)).map(({ created }) => created);
  if (dates.length === 0 && certified === 0) return first;
  return Math.max(first, certified, ...dates) + 1;
}

/** A signature packet of a certificate. */
type SelfSignature = { readonly whole: Uint8Array; readonly type: number; readonly created: number };

/** Signatures, by what they are about. */
type Groups = { readonly direct: readonly SelfSignature[]; readonly users: ReadonlyMap<string, readonly SelfSignature[]> };

/** Reads a certificate that this file has written, without the signatures of one date. */
function readGroups(certificate: Uint8Array, replaced: number | undefined): Groups {
  const direct: SelfSignature[] = [];
  const users = new Map<string, SelfSignature[]>();
  let current: SelfSignature[] = direct;
  for (const { tag, body, whole } of eachPacket(splitPacket(certificate).rest)) {
    if (tag === packetTag.userId) users.set(decodeUtf8(body) ?? '', (current = []));
    const read = tag === packetTag.signature ? readSignature(body) : undefined;
    if (read === undefined) continue;
    const signature = { whole, type: read.type, created: read.created };
    if (read.created !== replaced || isRevocation(signature)) current.push(signature);
  }
  return { direct, users };
}

/** The User IDs of a certificate that this file has written, without the revoked ones. */
export function userIdsOf(certificate: Uint8Array): readonly string[] {
  return [...readGroups(certificate, undefined).users].filter(([, signatures]) => isCertified(signatures)).map(([text]) => text);
}

function isCertified(signatures: readonly SelfSignature[] = []): boolean {
  return !signatures.some((one) => isRevocation(one));
}

function isRevocation({ type }: SelfSignature): boolean {
  return type === signatureType.certificationRevocation;
}

function userIdPacket(text: string): Uint8Array {
  return packet(packetTag.userId, encodeUtf8(text));
}

function statementSubpackets({ lifetime }: Statement): readonly Uint8Array[] {
  return [
    subpacket(subpacketType.keyFlags, certifyAndSign, { critical: true }),
    ...keyExpiry(lifetime),
    subpacket(subpacketType.preferredHashes, sha512Sha384Sha256),
  ];
}

function keyExpiry(lifetime: number | undefined): readonly Uint8Array[] {
  return lifetime === undefined ? [] : [subpacket(subpacketType.keyExpirationTime, uint32(lifetime), { critical: true })];
}

function selfSignature(primary: Signer, text: string, statement: Statement, date: number, isPrimary: boolean): Promise<Uint8Array> {
  const marks = isPrimary ? [subpacket(subpacketType.primaryUserId, Uint8Array.of(1))] : [];
  const parts = [framedKey(primary.body), framedUserId(encodeUtf8(text))];
  return makeSignature(primary, signatureType.positiveCertification, date, parts, [...statementSubpackets(statement), ...marks]);
}

/** Version 6 has its statements here (RFC 9580, 10.1.1); of version 4, gpg takes an expiry from here before any other. */
function directSignature(primary: Signer, statement: Statement, date: number): Promise<Uint8Array> {
  return makeSignature(primary, signatureType.directKey, date, [framedKey(primary.body)], statementSubpackets(statement));
}

function revokeUserId(primary: Signer, text: string, date: number): Promise<Uint8Array> {
  const parts = [framedKey(primary.body), framedUserId(encodeUtf8(text))];
  const why = subpacket(subpacketType.revocationReason, noLongerValid);
  return makeSignature(primary, signatureType.certificationRevocation, date, parts, [why]);
}

/** Binding signatures of a subkey that are there already: subkey ‖ signatures, and the date of the one in force. */
export type EarlierBinding = { readonly packets: Uint8Array; readonly certified?: number };

/**
 * subkey ‖ binding signatures with the embedded back-signature of the subkey. Without that, anyone could claim the key of somebody else as
 * a subkey, and verifiers refuse the binding (RFC 9580, 5.2.1.9). There is always one dated at the later creation; a later one is dated as a
 * later statement of a primary key is.
 */
export async function bindSubkey(
  primary: Signer,
  subkey: Signer,
  lifetime: number | undefined,
  earlier?: EarlierBinding,
): Promise<{ readonly packets: Uint8Array; readonly certified?: number }> {
  const first = bindingTime(primary, subkey);
  const parts = [framedKey(primary.body), framedKey(subkey.body)];
  const bind = async (date: number): Promise<Uint8Array> => {
    const backSignature = await makeSignature(subkey, signatureType.primaryKeyBinding, date, parts);
    return makeSignature(primary, signatureType.subkeyBinding, date, parts, [
      subpacket(subpacketType.keyFlags, signOnly, { critical: true }),
      ...keyExpiry(lifetime),
      subpacket(subpacketType.embeddedSignature, splitPacket(backSignature).body),
    ]);
  };
  const present = earlier === undefined ? [] : readGroups(earlier.packets, earlier.certified).direct;
  const date = nextDate(present, first, earlier?.certified);
  const kept = present.filter(({ created }) => created < date);
  const oldest = date > first && !kept.some(({ created }) => created === first) ? [await bind(first)] : [];
  const packets = concat(packet(packetTag.publicSubkey, subkey.body), ...oldest, ...kept.map(({ whole }) => whole), await bind(date));
  return date === first ? { packets } : { packets, certified: date };
}

/** Date of the binding of a subkey: the later of the two creation times. */
export function bindingTime(primary: Pick<PublicKeyBody, 'created'>, subkey: Pick<PublicKeyBody, 'created'>): number {
  return Math.max(primary.created, subkey.created);
}
