// Fields of the issuer's certificate that the rules need: its name and its key identifier.
import { readCertificate } from '../der/certificate.ts';
import { readOnly, tag } from '../../../core/der/der.ts';
import { extensionId } from '../../../core/der/oids.ts';

export type IssuerFields = {
  /** DER Name */
  readonly subject: Uint8Array;
  /** undefined: the certificate carries none */
  readonly keyIdentifier: Uint8Array | undefined;
};

const remembered = new WeakMap<Uint8Array, IssuerFields>();

/** Fields of a DER certificate. Remembered for as long as the caller keeps the same array: a CA signs with one certificate for years. */
export function issuerFieldsOf(certificate: Uint8Array): IssuerFields {
  const known = remembered.get(certificate);
  if (known !== undefined) return known;
  const { subject, extensions } = readCertificate(certificate);
  const identifier = extensions.get(extensionId.subjectKeyIdentifier);
  const keyIdentifier = identifier === undefined ? undefined : readOnly(identifier.value, tag.octetString).remaining;
  const fields = { subject, keyIdentifier };
  remembered.set(certificate, fields);
  return fields;
}
