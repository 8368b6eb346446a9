// Revocation certificates: made in advance or in an emergency, and published by their holder (RFC 9580, 5.2.1.11 and 5.2.1.12).
import { concat, encodeUtf8 } from '../../../core/base/bytes.ts';
import type { OpenpgpRecord } from '../records.ts';
import { formatArmor } from '../format/keyblock.ts';
import { framedKey, splitPacket, subpacket } from '../format/packets.ts';
import { makeSignature, signatureType, subpacketType } from '../format/signature.ts';
import { openpgpSeconds, type PublicKeyBody, type Signer } from '../format/signer.ts';

// Reasons and their codes (RFC 9580, 5.2.3.31). The first and the third invalidate all signatures, earlier ones too.
const revocationReasons = { 'no-reason': 0, superseded: 1, compromised: 2, retired: 3 } as const;

export type Revocation = { readonly reason: keyof typeof revocationReasons; readonly comment: string; readonly at: Temporal.Instant };

/** Revokes a primary key: a lone revocation signature, which `gpg --import` and `sq` merge into the certificate they have. */
export async function revokePrimary(primary: Signer, revocation: Revocation): Promise<string> {
  const parts = [framedKey(primary.body)];
  const signature = await revocationSignature(primary, signatureType.keyRevocation, primary.created, parts, revocation);
  return formatArmor('public', signature, primary.version);
}

/** Revokes a subkey, by its primary: the whole block with the revocation in it, because programs cannot merge a lone one. */
export async function revokeSubkey(
  primary: Signer,
  subkey: PublicKeyBody,
  record: OpenpgpRecord & Required<Pick<OpenpgpRecord, 'subkey'>>,
  revocation: Revocation,
): Promise<string> {
  const parts = [framedKey(primary.body), framedKey(subkey.body)];
  const signature = await revocationSignature(primary, signatureType.subkeyRevocation, record.notBefore, parts, revocation);
  const binding = splitPacket(record.subkey.packets).rest;
  const subkeyPacket = record.subkey.packets.subarray(0, record.subkey.packets.length - binding.length);
  return formatArmor('public', concat(record.certificate, subkeyPacket, signature, binding), primary.version);
}

function revocationSignature(
  primary: Signer,
  type: number,
  notBefore: number,
  parts: readonly Uint8Array[],
  { reason, comment, at }: Revocation,
): Promise<Uint8Array> {
  const why = concat(Uint8Array.of(revocationReasons[reason]), encodeUtf8(comment));
  return makeSignature(primary, type, Math.max(openpgpSeconds(at), notBefore), parts, [subpacket(subpacketType.revocationReason, why)]);
}
