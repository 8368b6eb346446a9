// Certificate extensions, one function each: the encodings of RFC 5280 4.2 that our certificates and CRLs carry.
import { createHash } from 'node:crypto';
import { bitStringOfPublicKey } from './public-key.ts';
import {
  boolean,
  encode,
  explicit,
  implicit,
  integer,
  namedBits,
  objectIdentifier,
  octetString,
  sequence,
  tag,
} from '../../../core/der/der.ts';
import { accessMethod, extensionId, keyPurpose, ocspId } from '../../../core/der/oids.ts';

/** One Extension: `SEQUENCE { extnID, critical DEFAULT FALSE, extnValue OCTET STRING }`. */
function encodeExtension(id: string, critical: boolean, value: Uint8Array): Uint8Array {
  return critical ? sequence(objectIdentifier(id), boolean(true), octetString(value)) : sequence(objectIdentifier(id), octetString(value));
}

/** basicConstraints, critical (RFC 5280 4.2.1.9). A leaf's is the empty sequence: cA is FALSE by default. */
export function basicConstraints(ca: { readonly pathLength?: number } | 'leaf'): Uint8Array {
  const content = ca === 'leaf' ? [] : [boolean(true), ...(ca.pathLength === undefined ? [] : [integer(ca.pathLength)])];
  return encodeExtension(extensionId.basicConstraints, true, sequence(...content));
}

/** Bits of KeyUsage (RFC 5280 4.2.1.3). */
export const keyUsageBit = { digitalSignature: 0, keyEncipherment: 2, keyCertSign: 5, crlSign: 6 } as const;

/** keyUsage, critical. */
export function keyUsage(...usages: readonly (keyof typeof keyUsageBit)[]): Uint8Array {
  return encodeExtension(extensionId.keyUsage, true, namedBits(usages.map((usage) => keyUsageBit[usage])));
}

/** extKeyUsage, not critical. */
export function extKeyUsage(...purposes: readonly (keyof typeof keyPurpose)[]): Uint8Array {
  return encodeExtension(extensionId.extKeyUsage, false, sequence(...purposes.map((purpose) => objectIdentifier(keyPurpose[purpose]))));
}

/** Key identifier of a SubjectPublicKeyInfo: the leftmost 160 bits of SHA-256 over the key's bits (RFC 7093 2, method 1). */
export function keyIdentifierOf(publicKey: Uint8Array): Uint8Array {
  return createHash('sha256').update(bitStringOfPublicKey(publicKey)).digest().subarray(0, 20);
}

export function subjectKeyIdentifier(identifier: Uint8Array): Uint8Array {
  return encodeExtension(extensionId.subjectKeyIdentifier, false, octetString(identifier));
}

/** authorityKeyIdentifier with the issuer's own key identifier, never a recomputed one. */
export function authorityKeyIdentifier(identifier: Uint8Array): Uint8Array {
  return encodeExtension(extensionId.authorityKeyIdentifier, false, sequence(implicit(0, identifier)));
}

/** subjectAltName of encoded GeneralName entries; critical when the subject is empty (RFC 5280 4.2.1.6). */
export function subjectAltName(entries: readonly Uint8Array[], subjectIsEmpty: boolean): Uint8Array {
  return encodeExtension(extensionId.subjectAltName, subjectIsEmpty, sequence(...entries));
}

/** nameConstraints, critical (RFC 5280 4.2.1.10), of encoded GeneralName bases; without a base there is no extension. */
export function nameConstraints(permitted: readonly Uint8Array[], excluded: readonly Uint8Array[]): readonly Uint8Array[] {
  const subtrees = [permitted, excluded].flatMap((bases, n) =>
    bases.length === 0 ? [] : [explicit(n, ...bases.map((base) => sequence(base)))],
  );
  return subtrees.length === 0 ? [] : [encodeExtension(extensionId.nameConstraints, true, sequence(...subtrees))];
}

/** One DistributionPoint with the URL as its full name. */
export function crlDistributionPoint(url: string): Uint8Array {
  return encodeExtension(extensionId.crlDistributionPoints, false, distributionPoint(url));
}

/** Address of the delta CRL (RFC 5280 4.2.1.15, 5.2.6). */
export function freshestCrl(url: string): Uint8Array {
  return encodeExtension(extensionId.freshestCrl, false, distributionPoint(url));
}

const distributionPoint = (url: string): Uint8Array => sequence(sequence(explicit(0, explicit(0, uri(url)))));

/** deltaCRLIndicator, critical (RFC 5280 5.2.4): the number of the list that it goes on from. */
export function deltaCrlIndicator(base: number): Uint8Array {
  return encodeExtension(extensionId.deltaCrlIndicator, true, integer(base));
}

/** Encodes authorityInfoAccess with the URL of the issuer's OCSP responder. */
export function authorityInfoAccess(ocspUrl: string): Uint8Array {
  const description = sequence(objectIdentifier(accessMethod.ocsp), uri(ocspUrl));
  return encodeExtension(extensionId.authorityInfoAccess, false, sequence(description));
}

/** cRLNumber (RFC 5280 5.2.3). */
export function crlNumber(value: number): Uint8Array {
  return encodeExtension(extensionId.crlNumber, false, integer(value));
}

/** reasonCode of a CRL entry (RFC 5280 5.3.1). */
export function reasonCode(reason: number): Uint8Array {
  return encodeExtension(extensionId.reasonCode, false, encode(tag.enumerated, Uint8Array.of(reason)));
}

/** The nonce of an OCSP request, in the answer to it (RFC 9654 2.1). */
export function ocspNonce(nonce: Uint8Array): Uint8Array {
  return encodeExtension(ocspId.nonce, false, octetString(nonce));
}

/** GeneralName entries we make ourselves: dNSName [2], iPAddress [7] (4 or 16 octets). */
export const dnsName = (name: string): Uint8Array => implicit(2, Buffer.from(name, 'latin1'));
export const ipAddress = (octets: Uint8Array): Uint8Array => implicit(7, octets);

/** rfc822Name [1] in ASCII. */
export const email = (mailbox: string): Uint8Array => implicit(1, Buffer.from(mailbox, 'latin1'));

export const uri = (url: string): Uint8Array => implicit(6, Buffer.from(url, 'latin1'));
