// Writes CertRep, the answer to every request (RFC 8894 section 3.3.2), in DER.
import { encodeCertsOnly, encodeListOnly } from '../../../core/cms/certs-only.ts';
import { encode, octetString, tag, utf8String } from '../../../core/der/der.ts';
import type { Digest } from './algorithms.ts';
import { messageType, scepAttribute } from './attributes.ts';
import { type FailInfo, failInfos } from './malformed.ts';
import { type Sign, writeSignedData } from './signed.ts';
import { type ContentToEncrypt, writeEnvelope } from './write-envelope.ts';

export type Reply = {
  readonly transactionId: string;
  /** senderNonce of the request, 16 octets */
  readonly recipientNonce: Uint8Array;
  /** new, 16 octets */
  readonly senderNonce: Uint8Array;
  /** best that of the request: every client reads it */
  readonly digest: Digest;
  /** DER certificate of the RSA key that signs */
  readonly signer: Uint8Array;
  readonly signingTime?: Temporal.Instant;
} & Outcome;

export type Outcome =
  | ({ readonly pkiStatus: 'success' } & ContentOfReply & Omit<ContentToEncrypt, 'content'>)
  | { readonly pkiStatus: 'pending' }
  | {
      readonly pkiStatus: 'failure';
      readonly failInfo: FailInfo;
      /** for people (RFC 8894 section 3.2.1.4) */
      readonly failInfoText?: string;
    };

/** DER certificates, that of the request first, which goes out in the order of DER; or the revocation list that was asked for. */
export type ContentOfReply = { readonly certificates: readonly Uint8Array[] } | { readonly crl: Uint8Array };

const statusNumbers = { success: '0', failure: '2', pending: '3' } as const;

/**
 * DER of the signed answer; what it grants is encrypted for the recipient, usually the signer of the request. `sign`: RSASSA-PKCS1-v1_5 with the
 * key of the signer's certificate. Rejects as `sign`, and with ScepMalformed `badAlg` for a recipient that has no RSA key.
 */
export async function writeReply(reply: Reply, sign: Sign): Promise<Uint8Array> {
  const { digest, signer, signingTime } = reply;
  // Without eContent some clients verify no signature (certmonger with OpenSSL 3.0): what grants nothing has one of no octets.
  const content = reply.pkiStatus === 'success' ? writeEnvelope({ ...reply, content: degenerate(reply) }) : new Uint8Array(0);
  return writeSignedData({ content, signer, digest, signingTime, attributes: attributesOf(reply) }, sign);
}

function degenerate(content: ContentOfReply): Uint8Array {
  return 'crl' in content ? encodeListOnly(content.crl) : encodeCertsOnly(content.certificates);
}

function attributesOf(reply: Reply): ReadonlyMap<string, Uint8Array> {
  const attributes = new Map<string, Uint8Array>([
    [scepAttribute.messageType, printable(String(messageType.certRep))],
    [scepAttribute.pkiStatus, printable(statusNumbers[reply.pkiStatus])],
    [scepAttribute.transactionId, printable(reply.transactionId)],
    [scepAttribute.senderNonce, octetString(reply.senderNonce)],
    [scepAttribute.recipientNonce, octetString(reply.recipientNonce)],
  ]);
  if (reply.pkiStatus !== 'failure') return attributes;
  attributes.set(scepAttribute.failInfo, printable(String(failInfos[reply.failInfo])));
  if (reply.failInfoText !== undefined) attributes.set(scepAttribute.failInfoText, utf8String(reply.failInfoText));
  return attributes;
}

const printable = (text: string): Uint8Array => encode(tag.printableString, Buffer.from(text, 'latin1'));
