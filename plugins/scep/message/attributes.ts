// The signed attributes of SCEP (RFC 8894 section 3.2.1), and the message types that a server takes.
import { Reader, readObjectIdentifier, readOnly, tag } from '../../../core/der/der.ts';
import type { MessageLimits } from './limits.ts';
import { type AnswerableFields, ScepMalformed } from './malformed.ts';

export const scepAttribute = {
  messageType: '2.16.840.1.113733.1.9.2',
  pkiStatus: '2.16.840.1.113733.1.9.3',
  failInfo: '2.16.840.1.113733.1.9.4',
  senderNonce: '2.16.840.1.113733.1.9.5',
  recipientNonce: '2.16.840.1.113733.1.9.6',
  transactionId: '2.16.840.1.113733.1.9.7',
  failInfoText: '1.3.6.1.5.5.7.24.1',
} as const;

/** Messages that a server takes, by their number (RFC 8894 section 3.2.1.2), and the answer to each of them. */
export const messageType = { certRep: 3, renewalReq: 17, pkcsReq: 19, certPoll: 20, getCert: 21, getCrl: 22 } as const;

/** Every other type is refused before anything else of a message is read (CVE-2026-30836). */
const takenTypes: ReadonlySet<number> = new Set([
  ...[messageType.renewalReq, messageType.pkcsReq],
  ...[messageType.certPoll, messageType.getCert, messageType.getCrl],
]);

const nonceOctets = 16;

/** DER of the one value of each attribute, by its type. */
export type Attributes = ReadonlyMap<string, Uint8Array>;

/** Reads the content of signedAttrs: each attribute once, with one value. Throws ScepMalformed and DerError. */
export function readAttributes(content: Uint8Array, limits: Pick<MessageLimits, 'attributes'>): Attributes {
  const attributes = new Map<string, Uint8Array>();
  for (const { whole } of new Reader(content).rest()) {
    if (attributes.size === limits.attributes)
      throw new ScepMalformed('badRequest', `the message has more than ${limits.attributes} signed attributes`);
    const fields = readOnly(whole, tag.sequence);
    const type = readObjectIdentifier(fields.next(tag.oid).content);
    const values = fields.enter(tag.set);
    fields.end();
    const value = values.next().whole;
    values.end();
    if (attributes.has(type)) throw new ScepMalformed('badRequest', `the signed attribute ${type} is repeated`);
    attributes.set(type, value);
  }
  return attributes;
}

/** The value of an attribute that must be there. */
export function requireAttribute(attributes: Attributes, type: string, name: string): Uint8Array {
  const value = attributes.get(type);
  if (value === undefined) throw new ScepMalformed('badRequest', `the signed attribute ${name} (${type}) is missing`);
  return value;
}

export function readMessageType(attributes: Attributes): number {
  const text = textOf(requireAttribute(attributes, scepAttribute.messageType, 'messageType'));
  const type = /^[1-9]\d?$/.test(text) ? Number(text) : 0;
  if (!takenTypes.has(type))
    throw new ScepMalformed('badRequest', 'the messageType is not taken: send 17, 19, 20, 21 or 22 (RFC 8894 section 3.2.1.2)');
  return type;
}

/** Reads what an answer repeats. */
export function readAnswerable(attributes: Attributes, limits: Pick<MessageLimits, 'transactionId'>): AnswerableFields {
  const transactionId = textOf(requireAttribute(attributes, scepAttribute.transactionId, 'transactionID'));
  // Some clients write characters that PrintableString does not have.
  if (!/^[\u0020-\u007e]+$/.test(transactionId) || transactionId.length > limits.transactionId)
    throw new ScepMalformed('badRequest', `the transactionID is not 1 to ${limits.transactionId} printable characters of ASCII`);
  const nonce = new Reader(requireAttribute(attributes, scepAttribute.senderNonce, 'senderNonce'));
  const senderNonce = nonce.next(tag.octetString).content;
  nonce.end();
  if (senderNonce.length !== nonceOctets) throw new ScepMalformed('badRequest', `the senderNonce is not ${nonceOctets} octets`);
  return { transactionId, senderNonce };
}

const textTags: ReadonlySet<number> = new Set([tag.printableString, tag.utf8String, tag.ia5String]);

/** Text of a value, each octet a character; empty for a value of another type. */
function textOf(value: Uint8Array): string {
  const { tag: found, content } = new Reader(value).next();
  return textTags.has(found) ? Buffer.from(content.buffer, content.byteOffset, content.length).toString('latin1') : '';
}
