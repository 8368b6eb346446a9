// csrattrs: what a request should contain (RFC 7030 4.5, RFC 9908): key type and subjectAltName.
import { encode, integer, objectIdentifier, Reader, readOnly, sequence, setOf, tag } from '../../../core/der/der.ts';
import { extensionId, nameAttributes, requestAttribute } from '../../../core/der/oids.ts';
import type { CertificateAuthority } from '../../../core/plugin/services/certificate-authority.ts';

/**
 * CsrAttrs for devices of this CA: a key like the CA's own, and its names as subjectAltName. Given twice: as the template of
 * RFC 9908 section 3.4 with values to be filled in, and as attributes for older clients, which skip the template.
 */
export function encodeCsrAttributes(ca: Pick<CertificateAuthority, 'publicKey' | 'signatureAlgorithm'>): Uint8Array {
  const keyAlgorithm = readOnly(ca.publicKey, tag.sequence).next(tag.sequence).whole;
  return sequence(
    attribute(requestAttribute.infoTemplate, encodeTemplate(keyAlgorithm)),
    ...keyAttribute(keyAlgorithm),
    new Reader(ca.signatureAlgorithm).enter(tag.sequence).next(tag.oid).whole,
  );
}

/**
 * CertificationRequestInfoTemplate: `SEQUENCE { version, subject, subjectPKInfo [0] { algorithm }, attributes [1] }`. A common name
 * without value and a subjectAltName without value are the client's to fill in.
 */
function encodeTemplate(keyAlgorithm: Uint8Array): Uint8Array {
  const subject = sequence(setOf(sequence(objectIdentifier(nameAttributes.CN))));
  const extensions = sequence(sequence(objectIdentifier(extensionId.subjectAltName)));
  return sequence(
    integer(0),
    subject,
    encode(tag.constructed(0), keyAlgorithm),
    encode(tag.constructed(1), attribute(requestAttribute.extensionRequestTemplate, extensions)),
  );
}

/** An EC key as attribute with its curve; other algorithms are named by the signature algorithm that follows. */
function keyAttribute(keyAlgorithm: Uint8Array): readonly Uint8Array[] {
  const fields = new Reader(keyAlgorithm).enter(tag.sequence);
  const type = fields.next(tag.oid);
  const curve = fields.optional(tag.oid);
  return curve === undefined ? [] : [sequence(type.whole, setOf(curve.whole))];
}

function attribute(type: string, value: Uint8Array): Uint8Array {
  return sequence(objectIdentifier(type), setOf(value));
}
