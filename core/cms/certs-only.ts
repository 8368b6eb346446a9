// The certs-only CMS message, in which enrolment protocols hand out certificates (RFC 5272 4.1; RFC 7030 4.1.3, RFC 8894 3.4): SignedData without content and without signers. One of revocation lists alone has the same form.
import { encode, explicit, integer, objectIdentifier, sequence, setOf, tag } from '../der/der.ts';
import { contentType } from '../der/oids.ts';

/** ContentInfo of these certificates; DER sorts them (X.690 11.6), so order carries no meaning. eContent is absent (RFC 5652 5.2). */
export function encodeCertsOnly(certificates: readonly Uint8Array[]): Uint8Array {
  return encodeDegenerate(encode(tag.constructed(0), ...certificates.toSorted((left, right) => Buffer.compare(left, right))));
}

/** As encodeCertsOnly, in the given order, which is not DER: clients of SCEP take the first for the one to encrypt for. */
export function encodeCertsInOrder(certificates: readonly Uint8Array[]): Uint8Array {
  return encodeDegenerate(encode(tag.constructed(0), ...certificates));
}

/** ContentInfo of one revocation list (DER), without certificates. */
export function encodeListOnly(list: Uint8Array): Uint8Array {
  return encodeDegenerate(encode(tag.constructed(1), list));
}

function encodeDegenerate(part: Uint8Array): Uint8Array {
  return sequence(
    objectIdentifier(contentType.signedData),
    explicit(0, sequence(integer(1), setOf(), sequence(objectIdentifier(contentType.data)), part, setOf())),
  );
}
