// Writes answers (RFC 9810): the message around a body, and the bodies.
import {
  bitString,
  encode,
  explicit,
  generalizedTime,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  tag,
  utf8String,
} from '../../../core/der/der.ts';
import { type FailInfo, failInfos } from './refusal.ts';

/** Header and body of an answer. */
export type Answer = {
  readonly version: number;
  /** DER GeneralName */
  readonly recipient: Uint8Array;
  readonly messageTime: Temporal.Instant;
  readonly recipientKeyId?: Uint8Array | undefined;
  readonly transactionId?: Uint8Array | undefined;
  readonly senderNonce: Uint8Array;
  /** senderNonce of the request */
  readonly recipientNonce?: Uint8Array | undefined;
  /** DER InfoTypeAndValue */
  readonly info?: readonly Uint8Array[];
  /** number of the body, and the content of its tag */
  readonly type: number;
  readonly body: Uint8Array;
};

/** Protection of an answer. */
export type Protector = {
  /** DER GeneralName of the sender */
  readonly sender: Uint8Array;
  readonly keyId: Uint8Array | undefined;
  /** DER AlgorithmIdentifier */
  readonly algorithm: Uint8Array;
  /** extraCerts, DER each */
  readonly certificates: readonly Uint8Array[];
  protect(octets: Uint8Array): Promise<Uint8Array>;
};

/** DER GeneralName of a DER Name. */
export const directoryName = (name: Uint8Array): Uint8Array => explicit(4, name);

/** A name that names nobody. */
export const nobody = directoryName(sequence());

/** DER PKIMessage; without a protector it is not protected. Rejects as `protect`. */
export async function writeMessage(answer: Answer, protector: Protector | undefined): Promise<Uint8Array> {
  const { info = [] } = answer;
  const field = (n: number, octets: Uint8Array | undefined): readonly Uint8Array[] =>
    octets === undefined ? [] : [explicit(n, octetString(octets))];
  const header = sequence(
    integer(answer.version),
    protector?.sender ?? nobody,
    answer.recipient,
    explicit(0, generalizedTime(answer.messageTime)),
    ...(protector === undefined ? [] : [explicit(1, protector.algorithm)]),
    ...field(2, protector?.keyId),
    ...field(3, answer.recipientKeyId),
    ...field(4, answer.transactionId),
    ...field(5, answer.senderNonce),
    ...field(6, answer.recipientNonce),
    ...(info.length === 0 ? [] : [explicit(8, sequence(...info))]),
  );
  const body = explicit(answer.type, answer.body);
  if (protector === undefined) return sequence(header, body);
  const protection = explicit(0, bitString(await protector.protect(sequence(header, body))));
  const certificates = protector.certificates.length === 0 ? [] : [explicit(1, sequence(...protector.certificates))];
  return sequence(header, body, protection, ...certificates);
}

/** InfoTypeAndValue. */
export const information = (type: string, value?: Uint8Array): Uint8Array =>
  sequence(objectIdentifier(type), ...(value === undefined ? [] : [value]));

/** Statuses (RFC 9810 section 5.2.3). */
const statuses = { accepted: 0, rejection: 2, waiting: 3 } as const;

export type Failure = { readonly failInfo: FailInfo; readonly reason: string };

/** PKIStatusInfo; a failure has its reason as text. */
function encodeStatus(status: keyof typeof statuses, failure?: Failure): Uint8Array {
  return sequence(
    integer(statuses[status]),
    ...(failure === undefined ? [] : [sequence(utf8String(failure.reason)), namedBit(failInfos[failure.failInfo])]),
  );
}

function namedBit(bit: number): Uint8Array {
  const octets = new Uint8Array((bit >> 3) + 1);
  octets[bit >> 3] = 0x80 >> (bit & 7);
  return encode(tag.bitString, Uint8Array.of(7 - (bit & 7)), octets);
}

/** The answer to a request for a certificate. `requestId`: 0, or -1 for a PKCS#10. */
export type Certified = {
  readonly requestId: number;
  readonly outcome: { readonly certificate: Uint8Array; readonly trusted: readonly Uint8Array[] } | 'waiting' | Failure;
};

/** CertRepMessage. */
export function encodeCertified({ requestId, outcome }: Certified): Uint8Array {
  const id = encodeRequestId(requestId);
  if (outcome === 'waiting') return sequence(sequence(sequence(id, encodeStatus('waiting'))));
  if ('failInfo' in outcome) return sequence(sequence(sequence(id, encodeStatus('rejection', outcome))));
  const { certificate, trusted } = outcome;
  const response = sequence(id, encodeStatus('accepted'), sequence(explicit(0, certificate)));
  return sequence(...(trusted.length === 0 ? [] : [explicit(1, sequence(...trusted))]), sequence(response));
}

function encodeRequestId(id: number): Uint8Array {
  return encode(tag.integer, Uint8Array.of(id & 0xff));
}

/** PollRepContent. */
export function encodePollReply(requestId: number, checkAfterSeconds: number): Uint8Array {
  return sequence(sequence(encodeRequestId(requestId), integer(checkAfterSeconds)));
}

/** RevRepContent of one revocation. */
export const encodeRevoked = (failure?: Failure): Uint8Array =>
  sequence(sequence(encodeStatus(failure === undefined ? 'accepted' : 'rejection', failure)));

/** ErrorMsgContent. */
export const encodeError = (failure: Failure): Uint8Array => sequence(encodeStatus('rejection', failure));
