// Foreign certificates with revocations: superseded and retired keys keep what they signed before, compromised ones keep nothing.
import { enums, type Key, type SignaturePacket, type Subkey, type User } from 'openpgp';
import type { OpenpgpRecord } from '../records.ts';
import { parseCertificate, parsedCertificate } from '../format/keyblock.ts';

/** Reasons after which earlier signatures stay good (RFC 9580, 5.2.3.31); of a User ID its own, which says nothing of the key. */
const softReasons: ReadonlySet<number | null> = new Set([
  enums.reasonForRevocation.keySuperseded,
  enums.reasonForRevocation.keyRetired,
  enums.reasonForRevocation.userIDInvalid,
]);

/**
 * The certificate of a record as it was at a time: without the soft revocations that came later; without a time, as it was before all of
 * them. One with revocations is parsed at each call: openpgp.js marks what it has once found revoked, and would stay with that.
 */
export async function certificateAt(record: OpenpgpRecord, at: Date | undefined): Promise<Key> {
  const known = await parsedCertificate(record);
  if (!hasRevocations(known)) return known;
  return withoutSoftRevocations(await parseCertificate(record), at);
}

/** Takes the soft revocations after a time, or all, out of a certificate; answers it. */
export function withoutSoftRevocations(certificate: Key, at: Date | undefined): Key {
  for (const holder of holdersOf(certificate)) {
    holder.revocationSignatures = holder.revocationSignatures.filter((revocation) => {
      const isLater = at === undefined || (revocation.created?.getTime() ?? 0) > at.getTime();
      return !(isLater && softReasons.has(revocation.reasonForRevocationFlag));
    });
  }
  return certificate;
}

/** Whether anything of the certificate was revoked. */
export function hasRevocations(certificate: Key): boolean {
  return holdersOf(certificate).some(({ revocationSignatures }) => revocationSignatures.length > 0);
}

type Holder = (Key | Subkey | User) & { revocationSignatures: SignaturePacket[] };

function holdersOf(certificate: Key): readonly Holder[] {
  return [certificate, ...certificate.subkeys, ...certificate.users] as Holder[];
}
