// Reads a PKIMessage (RFC 9810 section 5.1), in strict DER: its header, the kind of its body, its protection and certificates.
import { DerError, type Element, Reader, readBitString, readObjectIdentifier, readOnly, sequence, tag } from '../../../core/der/der.ts';
import { messageLimits } from './limits.ts';
import { infoType } from './oids.ts';
import { CmpRefusal, reading } from './refusal.ts';

/** Header of a message as read. Nothing is proven before the protection is verified. */
export type Header = {
  /** pvno; 0 for one of several octets */
  readonly version: number;
  /** DER GeneralName */
  readonly sender: Uint8Array;
  readonly recipient: Uint8Array;
  readonly messageTime: Temporal.Instant | undefined;
  /** DER AlgorithmIdentifier */
  readonly protectionAlgorithm: Uint8Array | undefined;
  readonly senderKeyId: Uint8Array | undefined;
  readonly transactionId: Uint8Array | undefined;
  readonly senderNonce: Uint8Array | undefined;
  readonly recipientNonce: Uint8Array | undefined;
  /** generalInfo: DER of the value by its type; undefined without a value */
  readonly info: ReadonlyMap<string, Uint8Array | undefined>;
};

export type Message = {
  readonly header: Header;
  /** number of the choice of the body */
  readonly type: number;
  /** content of its explicit tag */
  readonly body: Uint8Array;
  /** DER of ProtectedPart, which a protection covers */
  readonly protectedPart: Uint8Array;
  readonly protection: Uint8Array | undefined;
  /** extraCerts, DER each */
  readonly certificates: readonly Uint8Array[];
};

/** Reads a message that fills the octets. Throws CmpRefusal. */
export function readMessage(octets: Uint8Array): Message {
  return reading('the message', () => {
    const outer = readOnly(octets, tag.sequence);
    const header = outer.next(tag.sequence);
    const body = outer.next();
    if ((body.tag & 0xe0) !== 0xa0) throw new DerError('body without its tag');
    const protection = outer.optional(tag.constructed(0));
    const certificates = outer.optional(tag.constructed(1));
    outer.end();
    return {
      header: readHeader(header.content),
      type: body.tag & 0x1f,
      body: body.content,
      protectedPart: sequence(header.whole, body.whole),
      protection: protection === undefined ? undefined : readBitString(only(protection, tag.bitString).content),
      certificates: certificates === undefined ? [] : readCertificates(certificates.content),
    };
  });
}

function readHeader(content: Uint8Array): Header {
  const fields = new Reader(content);
  const version = fields.next(tag.integer).content;
  const sender = fields.next().whole;
  const recipient = fields.next().whole;
  const explicit = (n: number, expected: number): Element | undefined => {
    const field = fields.optional(tag.constructed(n));
    return field === undefined ? undefined : only(field, expected);
  };
  const time = explicit(0, tag.generalizedTime);
  const algorithm = explicit(1, tag.sequence);
  const [senderKeyId, , transactionId, senderNonce, recipientNonce] = [2, 3, 4, 5, 6].map((n) => identifier(explicit(n, tag.octetString)));
  explicit(7, tag.sequence);
  const info = explicit(8, tag.sequence);
  fields.end();
  return {
    version: version.length === 1 ? (version[0] ?? 0) : 0,
    ...{ sender, recipient },
    messageTime: time === undefined ? undefined : readGeneralizedTime(time.content),
    protectionAlgorithm: algorithm?.whole,
    ...{ senderKeyId, transactionId, senderNonce, recipientNonce },
    info: info === undefined ? new Map() : readInformation(info.whole),
  };
}

/** The one element of an explicit tag. */
function only(field: Element, expected?: number): Element {
  const inner = new Reader(field.content);
  const element = inner.next(expected);
  inner.end();
  return element;
}

function identifier(element: Element | undefined): Uint8Array | undefined {
  if (element !== undefined && element.content.length > messageLimits.identifier)
    throw new DerError(`identifier of more than ${messageLimits.identifier} octets`);
  return element?.content;
}

/** GeneralizedTime of X.690 11.7, with fractions of seconds. */
function readGeneralizedTime(content: Uint8Array): Temporal.Instant {
  const [, year, month, day, hour, minute, second, fraction = ''] =
    /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\.\d{1,9})?Z$/.exec(Buffer.from(content).toString('latin1')) ?? [];
  try {
    return Temporal.Instant.from(`${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}Z`);
  } catch {
    throw new DerError('not a time');
  }
}

/** SEQUENCE OF InfoTypeAndValue, each type once. */
export function readInformation(whole: Uint8Array): ReadonlyMap<string, Uint8Array | undefined> {
  const information = new Map<string, Uint8Array | undefined>();
  for (const entry of readOnly(whole, tag.sequence).rest()) {
    const fields = readOnly(entry.whole, tag.sequence);
    const type = readObjectIdentifier(fields.next(tag.oid).content);
    const value = fields.more ? fields.next().whole : undefined;
    fields.end();
    if (information.has(type) || information.size === messageLimits.information)
      throw new DerError(`information twice, or more than ${messageLimits.information} of it`);
    information.set(type, value);
  }
  return information;
}

function readCertificates(content: Uint8Array): readonly Uint8Array[] {
  const certificates: Uint8Array[] = [];
  for (const { whole } of readOnly(content, tag.sequence).rest()) {
    if (certificates.length === messageLimits.certificates) throw new DerError(`more than ${messageLimits.certificates} certificates`);
    certificates.push(whole);
  }
  return certificates;
}

/** A header that says who has sent it. */
export type SignedHeader = Header & { readonly protectionAlgorithm: Uint8Array };

/** A header with all that the profile wants (RFC 9483 section 3.1). */
export type SoundHeader = SignedHeader & { readonly transactionId: Uint8Array; readonly senderNonce: Uint8Array };

const leastNonce = 16;
const directoryName = tag.constructed(4);

/** Requires what the judgement of the protection needs. Throws CmpRefusal. */
export function requireSender(header: Header): asserts header is SignedHeader {
  if (header.version !== 2 && header.version !== 3) throw new CmpRefusal('unsupportedVersion', 'pvno is neither 2 nor 3');
  if (header.protectionAlgorithm === undefined)
    throw new CmpRefusal('badMessageCheck', 'the message is not protected: use a MAC or a signature');
  if (header.sender[0] !== directoryName) throw new CmpRefusal('badMessageCheck', 'the sender is not a directoryName');
}

/** Requires the other fields, of a header whose sender is known. Throws CmpRefusal. */
export function requireSound(header: SignedHeader): asserts header is SoundHeader {
  if (header.transactionId === undefined || header.transactionId.length === 0)
    throw new CmpRefusal('badDataFormat', 'the header has no transactionID', true);
  if (header.senderNonce === undefined || header.senderNonce.length < leastNonce)
    throw new CmpRefusal('badSenderNonce', `the header has no senderNonce of ${leastNonce} octets or more`, true);
  requireInformation(header);
}

function requireInformation({ info }: Header): void {
  const [implicit, wait] = [info.get(infoType.implicitConfirm), info.get(infoType.confirmWaitTime)];
  if (info.has(infoType.implicitConfirm) && info.has(infoType.confirmWaitTime))
    throw new CmpRefusal('badRequest', 'generalInfo has implicitConfirm and confirmWaitTime, of which one excludes the other', true);
  if (implicit !== undefined && Buffer.compare(implicit, Uint8Array.of(tag.null, 0)) !== 0)
    throw new CmpRefusal('badRequest', 'implicitConfirm has a value other than NULL', true);
  if (info.has(infoType.confirmWaitTime) && wait?.[0] !== tag.generalizedTime)
    throw new CmpRefusal('badDataFormat', 'confirmWaitTime is not a GeneralizedTime', true);
}

/** Tells whether the sender asks to be spared the confirmation. */
export const wantsImplicitConfirm = ({ info }: Header): boolean => info.has(infoType.implicitConfirm);
