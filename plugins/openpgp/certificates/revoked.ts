// Imported certificates with revocations: earlier signatures of superseded and retired keys stay valid, those of compromised keys do not.
import type { Key, SignaturePacket, Subkey, User } from 'openpgp';
import { once } from '../../../core/base/async/once.ts';
import type { OpenpgpRecord } from '../records.ts';
import { parseCertificate, parsedCertificate } from '../format/keyblock.ts';
import { openpgp } from '../format/library.ts';

/** Reasons after which earlier signatures stay valid (RFC 9580, 5.2.3.31); the last one concerns a User ID, not the key. */
const softReasons = once((): ReadonlySet<number | null> => {
  const { keySuperseded, keyRetired, userIDInvalid } = openpgp().enums.reasonForRevocation;
  return new Set([keySuperseded, keyRetired, userIDInvalid]);
});

/**
 * The certificate of a record at a time: without later soft revocations; without a time, without any. A certificate with revocations is
 * parsed at each call, because openpgp.js remembers what it has found revoked.
 */
export async function certificateAt(record: OpenpgpRecord, at: Date | undefined): Promise<Key> {
  const known = await parsedCertificate(record);
  if (!hasRevocations(known)) return known;
  return withoutSoftRevocations(await parseCertificate(record), at);
}

/** Removes the soft revocations after a time, or all of them, from a certificate; returns it. */
export function withoutSoftRevocations(certificate: Key, at: Date | undefined): Key {
  for (const holder of holdersOf(certificate)) {
    holder.revocationSignatures = holder.revocationSignatures.filter((revocation) => {
      const isLater = at === undefined || (revocation.created?.getTime() ?? 0) > at.getTime();
      return !(isLater && softReasons().has(revocation.reasonForRevocationFlag));
    });
  }
  return certificate;
}

/** Tells whether the certificate has any revocation. */
export function hasRevocations(certificate: Key): boolean {
  return holdersOf(certificate).some(({ revocationSignatures }) => revocationSignatures.length > 0);
}

type Holder = (Key | Subkey | User) & { revocationSignatures: SignaturePacket[] };

function holdersOf(certificate: Key): readonly Holder[] {
  return [certificate, ...certificate.subkeys, ...certificate.users] as Holder[];
}
