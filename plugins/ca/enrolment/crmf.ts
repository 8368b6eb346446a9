// Certification requests in the form of CMP (CertReqMsg, RFC 4211): the template, and the signature with which its sender proves the key.
import { DerError, encode, Reader, readBitString, readOnly, sequence, tag } from '../../../core/der/der.ts';
import { readExtensions } from '../der/certificate.ts';
import type { KeyFamily } from '../der/public-key.ts';
import { refuseOn, type SignedParts, type VerifiedCsr, verifySigned } from '../issuing/csr.ts';

type TemplateParts = SignedParts & {
  /** content of the field extensions; undefined without it */
  readonly extensions: Uint8Array | undefined;
};

/**
 * Reads one DER CertReqMsg that fills the octets and verifies its proof of possession, a signature over the CertRequest (RFC 4211 section 4.1). Throws
 * `invalid-csr` as verifyCsr. The issuer and the validity that it wishes for are not looked at. `takesRaVerified`: a registration authority has sent it, whose
 * word stands for the signature where it says so.
 */
export function verifyTemplate(der: Uint8Array, certifies: readonly KeyFamily[], takesRaVerified = false): VerifiedCsr {
  return verifySigned(
    refuseOn('is not a well-formed DER CertReqMsg with subject, public key and a signature as proof of possession', () =>
      readParts(der, takesRaVerified),
    ),
    certifies,
    ({ extensions }) => ({
      extensions: refuseOn('has extensions that are not well-formed, or one of them twice', () =>
        extensions === undefined ? new Map() : readExtensions(encode(tag.sequence, extensions)),
      ),
      challengePassword: undefined,
      changesSubject: false,
    }),
  );
}

function readParts(der: Uint8Array, takesRaVerified: boolean): TemplateParts {
  const message = readOnly(der, tag.sequence);
  const request = message.next(tag.sequence);
  const isRaVerified = takesRaVerified && message.optional(tag.primitive(0)) !== undefined;
  const proof = isRaVerified ? 'ra-verified' : readProof(message.next(tag.constructed(1)).content);
  const fields = new Reader(request.content);
  fields.next(tag.integer);
  const template = fields.enter(tag.sequence);
  return { der, form: isRaVerified ? 'crmf-ra' : 'crmf', info: request.whole, proof, ...readTemplate(template) };
}

function readProof(content: Uint8Array): Exclude<SignedParts['proof'], 'ra-verified'> {
  const fields = new Reader(content);
  const algorithm = fields.next(tag.sequence).whole;
  const signature = readBitString(fields.next(tag.bitString).content);
  fields.end();
  return { algorithm, signature };
}

/** CertTemplate (RFC 4211 section 5); without a subject it has an empty one. version, serialNumber, signingAlg and the unique identifiers are for the CA to choose. */
function readTemplate(template: Reader): Pick<TemplateParts, 'subject' | 'publicKey' | 'extensions'> {
  for (const field of [tag.primitive(0), tag.primitive(1), tag.constructed(2)])
    if (template.optional(field) !== undefined) throw new DerError('field that the CA chooses');
  template.optional(tag.constructed(3));
  template.optional(tag.constructed(4));
  const wished = template.optional(tag.constructed(5));
  const subject = wished === undefined ? sequence() : readName(wished.content);
  const publicKey = encode(tag.sequence, template.next(tag.constructed(6)).content);
  const extensions = template.optional(tag.constructed(9))?.content;
  template.end();
  return { subject, publicKey, extensions };
}

function readName(content: Uint8Array): Uint8Array {
  const fields = new Reader(content);
  const { whole } = fields.next(tag.sequence);
  fields.end();
  return whole;
}
