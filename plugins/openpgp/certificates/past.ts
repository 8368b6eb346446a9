// The certificate that an imported key had elsewhere: its User IDs, subkeys and self-signatures, as far as they verify.
import type { AnyKeyPacket, Key, PublicKeyPacket, PublicSubkeyPacket, SignaturePacket, Subkey } from 'openpgp';
import { concat, decodeUtf8 } from '../../../core/base/bytes.ts';
import { openpgp } from '../format/library.ts';
import { packet, packetTag } from '../format/packets.ts';
import { readSignature, signatureType } from '../format/signature.ts';

/** Past of a primary key: primary key ‖ direct-key signatures ‖ User IDs with signatures; and its subkeys with theirs. */
export type PastPrimary = { readonly certificate: Uint8Array; readonly userIds: readonly string[]; readonly subkeys: Uint8Array };

/** Past of a subkey: subkey ‖ bindings, by the primary key with that fingerprint in upper-case hexadecimal. */
export type PastSubkey = { readonly primaryFingerprint: string; readonly packets: Uint8Array };

/** User IDs and subkeys of a block that are kept, and the newest signatures of each. */
const most = { userIds: 32, subkeys: 16, signatures: 8 };
const mostUserIdOctets = 1024;

/** Reads a block; `usable` tells which User IDs may be published here. */
export async function pastOfPrimary(block: Key, usable: (userId: string) => boolean): Promise<PastPrimary> {
  const certificate = block.toPublic();
  const primary = certificate.keyPacket as PublicKeyPacket;
  // The types leave the direct-key signatures out.
  const { directSignatures } = certificate as unknown as { readonly directSignatures: readonly SignaturePacket[] };
  const direct = await verified(primary, directSignatures, { key: primary });
  const users: Uint8Array[] = [];
  const userIds: string[] = [];
  for (const { userID, selfCertifications, revocationSignatures } of certificate.users.slice(0, most.userIds)) {
    const octets = userID?.write();
    const text = octets === undefined ? undefined : decodeUtf8(octets);
    if (userID === null || octets === undefined || text === undefined || octets.length > mostUserIdOctets || !usable(text)) continue;
    const signatures = await verified(primary, [...revocationSignatures, ...selfCertifications], { key: primary, userID });
    if (signatures.length === 0 || userIds.includes(text)) continue;
    users.push(packet(packetTag.userId, octets), ...signatures);
    userIds.push(text);
  }
  const subkeys: Uint8Array[] = [];
  for (const subkey of certificate.subkeys.slice(0, most.subkeys)) subkeys.push(await boundSubkey(primary, subkey));
  const packets = concat(packet(packetTag.publicKey, primary.write()), ...direct, ...users);
  return { certificate: packets, userIds, subkeys: concat(...subkeys) };
}

/** The past of one subkey of a block. */
export async function pastOfSubkey(block: Key, fingerprint: string): Promise<PastSubkey | undefined> {
  const certificate = block.toPublic();
  const subkey = certificate.subkeys.find((one) => one.getFingerprint().toUpperCase() === fingerprint);
  if (subkey === undefined) return undefined;
  const packets = await boundSubkey(certificate.keyPacket as PublicKeyPacket, subkey);
  return packets.length === 0 ? undefined : { primaryFingerprint: certificate.getFingerprint().toUpperCase(), packets };
}

async function boundSubkey(primary: PublicKeyPacket, { keyPacket, bindingSignatures, revocationSignatures }: Subkey): Promise<Uint8Array> {
  const subkey = keyPacket as PublicSubkeyPacket;
  const signatures = await verified(primary, [...revocationSignatures, ...bindingSignatures], { key: primary, bind: subkey });
  return signatures.length === 0 ? new Uint8Array(0) : concat(packet(packetTag.publicSubkey, subkey.write()), ...signatures);
}

/** The newest signatures of the primary key that verify; those by SHA-1 are left out, as verifiers refuse them. */
async function verified(primary: AnyKeyPacket, signatures: readonly SignaturePacket[], about: object): Promise<readonly Uint8Array[]> {
  const { sha256, sha384, sha512 } = openpgp().enums.hash;
  const good: { readonly created: number; readonly isRevocation: boolean; readonly whole: Uint8Array }[] = [];
  for (const signature of signatures) {
    const { created, version, hashAlgorithm, signatureType: type } = signature;
    if (version !== 4 || created === null || created.getTime() > Date.now()) continue;
    if (![sha256, sha384, sha512].some((one) => one === hashAlgorithm) || type === null) continue;
    const isGood = await signature.verify(primary, type, about, created, false).then(
      () => true,
      () => false,
    );
    const body = signature.write();
    if (!isGood || readSignature(body) === undefined) continue;
    const code: number = type;
    const isRevocation = code === signatureType.certificationRevocation || code === signatureType.subkeyRevocation;
    good.push({ created: created.getTime(), isRevocation, whole: packet(packetTag.signature, body) });
  }
  // Revocations first: a program that reads few of them reads those.
  const rank = (one: (typeof good)[number]): number => (one.isRevocation ? 1 : 0);
  return good
    .toSorted((one, other) => rank(other) - rank(one) || other.created - one.created)
    .slice(0, most.signatures)
    .map(({ whole }) => whole);
}
