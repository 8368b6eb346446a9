// A device that speaks CMP: it sends messages, verifies what protects the answers, and reads them.
import { createHash, createHmac, verify, X509Certificate } from 'node:crypto';
import { Reader, readObjectIdentifier, sequence, tag } from '../../../core/der/der.ts';
import { byCertificate, type MessageParts, type Pair, type Protect, writeMessage } from './messages.ts';

const failNames = [
  ...['badAlg', 'badMessageCheck', 'badRequest', 'badTime', 'badCertId', 'badDataFormat', 'wrongAuthority', 'incorrectData'],
  ...['missingTimeStamp', 'badPOP', 'certRevoked', 'certConfirmed', 'wrongIntegrity', 'badRecipientNonce', 'timeNotAvailable'],
  ...['unacceptedPolicy', 'unacceptedExtension', 'addInfoNotAvailable', 'badSenderNonce', 'badCertTemplate', 'signerNotTrusted'],
  ...['transactionIdInUse', 'unsupportedVersion', 'notAuthorized'],
];

export type CmpReply = {
  readonly http: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
  readonly version: number;
  readonly type: number;
  readonly body: Uint8Array;
  readonly transactionId: Buffer | undefined;
  readonly senderNonce: Buffer | undefined;
  readonly recipientNonce: Buffer | undefined;
  readonly isImplicit: boolean;
  /** `mac` or `signature`, verified; undefined: none */
  readonly protectedBy: 'mac' | 'signature' | undefined;
  readonly extraCerts: readonly Uint8Array[];
  /** PKIStatus of the first thing that has one */
  readonly status: number | undefined;
  readonly failInfo: string | undefined;
  readonly reason: string | undefined;
  readonly certificate: X509Certificate | undefined;
};

/** Sends octets as a message. `secret`: with which a MAC of the answer is verified. */
export async function post(url: string, message: Uint8Array, secret?: string): Promise<CmpReply> {
  // A connection of its own: many rounds of a MAC keep this process longer than the server keeps a connection that nobody uses.
  const headers = { 'content-type': 'application/pkixcmp', connection: 'close' };
  const response = await fetch(url, { method: 'POST', body: Buffer.from(message), headers });
  const octets = Buffer.from(await response.arrayBuffer());
  const http = { http: response.status, retryAfter: response.headers.get('retry-after') ?? undefined };
  if (response.headers.get('content-type') !== 'application/pkixcmp') return { ...nothing, ...http, text: octets.toString() };
  return { ...http, text: '', ...readReply(octets, secret) };
}

/** The answers inside a nested one. */
export function innerOf({ body }: CmpReply, secret?: string): readonly CmpReply[] {
  return Array.from(new Reader(body).enter(tag.sequence).rest(), ({ whole }) => ({
    ...{ http: 200, text: '', retryAfter: undefined },
    ...readReply(whole, secret),
  }));
}

export const send = (url: string, parts: MessageParts, secret?: string): Promise<CmpReply> => post(url, writeMessage(parts), secret);

const nothing = {
  ...{ version: 0, type: -1, body: new Uint8Array(0), transactionId: undefined, senderNonce: undefined, recipientNonce: undefined },
  ...{ isImplicit: false, protectedBy: undefined, extraCerts: [], status: undefined, failInfo: undefined, reason: undefined },
  certificate: undefined,
};

function readReply(octets: Uint8Array, secret: string | undefined): Omit<CmpReply, 'http' | 'text' | 'retryAfter'> {
  const outer = new Reader(octets).enter(tag.sequence);
  const header = outer.next(tag.sequence);
  const body = outer.next();
  const protection = outer.optional(tag.constructed(0));
  const certificates = outer.optional(tag.constructed(1));
  outer.end();
  const fields = new Reader(header.content);
  const version = fields.next(tag.integer).content[0] ?? 0;
  fields.next();
  fields.next();
  const found = new Map(Array.from(fields.rest(), (field) => [field.tag & 0x1f, new Reader(field.content).next()]));
  const octetsOf = (n: number): Buffer | undefined => (found.has(n) ? Buffer.from(found.get(n)?.content ?? []) : undefined);
  const extraCerts =
    certificates === undefined ? [] : Array.from(new Reader(certificates.content).enter(tag.sequence).rest(), ({ whole }) => whole);
  const algorithm = found.get(1)?.whole;
  const bits = protection === undefined ? undefined : new Reader(protection.content).next(tag.bitString).content.subarray(1);
  return {
    ...{ version, extraCerts, type: body.tag & 0x1f, body: body.content },
    transactionId: octetsOf(4),
    senderNonce: octetsOf(5),
    recipientNonce: octetsOf(6),
    isImplicit: Buffer.from(found.get(8)?.whole ?? []).includes(Buffer.from('2b06010505070400'.slice(0, 14) + '0d', 'hex')),
    protectedBy:
      algorithm === undefined || bits === undefined
        ? undefined
        : verified(algorithm, sequence(header.whole, body.whole), bits, extraCerts, secret),
    ...readStatus(body.tag & 0x1f, body.content),
  };
}

function verified(
  algorithm: Uint8Array,
  octets: Uint8Array,
  bits: Uint8Array,
  certificates: readonly Uint8Array[],
  secret = '',
): 'mac' | 'signature' {
  const fields = new Reader(algorithm).enter(tag.sequence);
  const id = readObjectIdentifier(fields.next(tag.oid).content);
  if (id === '1.2.840.113533.7.66.13') {
    const parameters = fields.enter(tag.sequence);
    const salt = parameters.next(tag.octetString).content;
    const owf = readObjectIdentifier(parameters.enter(tag.sequence).next(tag.oid).content) === '1.3.14.3.2.26' ? 'sha1' : 'sha256';
    const rounds = Number(`0x${Buffer.from(parameters.next(tag.integer).content).toString('hex')}`);
    let key = createHash(owf).update(secret).update(salt).digest();
    for (let round = 1; round < rounds; round++) key = createHash(owf).update(key).digest();
    if (!createHmac('sha1', key).update(octets).digest().equals(Buffer.from(bits))) throw new Error('the MAC of the answer is wrong');
    return 'mac';
  }
  const hash = { '1.2.840.113549.1.1.11': 'sha256' }[id] ?? null;
  const signer = new X509Certificate(Buffer.from(certificates[0] ?? []));
  if (!verify(hash, octets, signer.publicKey, bits)) throw new Error('the signature of the answer does not verify');
  return 'signature';
}

type Status = Pick<CmpReply, 'status' | 'failInfo' | 'reason' | 'certificate'>;

function readStatus(type: number, body: Uint8Array): Status {
  const none = { status: undefined, failInfo: undefined, reason: undefined, certificate: undefined };
  if (type === 23) return { ...none, ...statusOf(new Reader(body).enter(tag.sequence).next(tag.sequence).content) };
  if (type === 12) return { ...none, ...statusOf(new Reader(body).enter(tag.sequence).enter(tag.sequence).next(tag.sequence).content) };
  if (![1, 3, 8].includes(type)) return none;
  const message = new Reader(body).enter(tag.sequence);
  message.optional(tag.constructed(1));
  const response = message.enter(tag.sequence).enter(tag.sequence);
  response.next(tag.integer);
  const status = statusOf(response.next(tag.sequence).content);
  const pair = response.optional(tag.sequence);
  const certificate =
    pair === undefined ? undefined : new X509Certificate(Buffer.from(new Reader(pair.content).next(tag.constructed(0)).content));
  return { ...status, certificate };
}

function statusOf(content: Uint8Array): Pick<CmpReply, 'status' | 'failInfo' | 'reason'> {
  const fields = new Reader(content);
  const status = fields.next(tag.integer).content[0] ?? -1;
  const text = fields.optional(tag.sequence);
  const bits = fields.optional(tag.bitString)?.content.subarray(1) ?? new Uint8Array(0);
  const set = failNames.filter((_name, bit) => ((bits[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0);
  return {
    status,
    failInfo: set.length === 0 ? undefined : set.join(','),
    reason: text === undefined ? undefined : Buffer.from(new Reader(text.content).next(tag.utf8String).content).toString(),
  };
}

/** Parts of a certificate that its holder names it by. */
export function partsOf(certificate: X509Certificate): {
  readonly der: Uint8Array;
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly serial: Uint8Array;
  readonly keyId: Uint8Array | undefined;
} {
  const tbs = new Reader(certificate.raw).enter(tag.sequence).enter(tag.sequence);
  tbs.optional(tag.constructed(0));
  const serial = tbs.next(tag.integer).content;
  tbs.next(tag.sequence);
  const issuer = tbs.next(tag.sequence).whole;
  tbs.next(tag.sequence);
  const subject = tbs.next(tag.sequence).whole;
  const marker = Buffer.from('0603551d0e0416', 'hex');
  const at = certificate.raw.indexOf(marker);
  const keyId =
    at < 0
      ? undefined
      : new Reader(new Reader(certificate.raw.subarray(at + 5)).next(tag.octetString).content).next(tag.octetString).content;
  return { der: certificate.raw, issuer, subject, serial, keyId };
}

/** The protection of a device with the certificate that it got. */
export const holding = (keys: Pair, certificate: X509Certificate): Protect => byCertificate(keys.privateKey, partsOf(certificate));
