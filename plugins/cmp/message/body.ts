// Bodies of requests (RFC 9810 section 5.3): requests for certificates, confirmations, questions for news, revocations.
import { DerError, Reader, readObjectIdentifier, readOnly, tag } from '../../../core/der/der.ts';
import { extensionId } from '../../../core/der/oids.ts';
import { messageLimits } from './limits.ts';
import { control } from './oids.ts';
import { CmpRefusal, reading } from './refusal.ts';

/** Numbers of the bodies that a server takes or writes. */
export const bodyType = {
  ...{ ir: 0, ip: 1, cr: 2, cp: 3, p10cr: 4, kur: 7, kup: 8, rr: 11, rp: 12 },
  ...{ pkiconf: 19, nested: 20, genm: 21, genp: 22, error: 23, certConf: 24, pollReq: 25, pollRep: 26 },
} as const;

/** Names a certificate by its issuer (DER Name) and serial number, lower-case hexadecimal. */
export type CertificateId = { readonly issuer: Uint8Array; readonly serial: string };

/** The one request of ir, cr and kur. */
export type CertificateRequest = {
  /** DER CertReqMsg */
  readonly message: Uint8Array;
  /** control oldCertID; undefined without it */
  readonly oldCertificate: CertificateId | undefined;
};

/**
 * Reads CertReqMessages of one request, and requires of it what its signature says nothing of: number, form of proof and what the profile forbids (RFC 9483
 * section 4.1). `takesRaVerified`: its sender may vouch for the key. Throws CmpRefusal.
 */
export function readCertificateRequest(body: Uint8Array, takesRaVerified: boolean): CertificateRequest {
  return reading('the body', () => {
    const [message, ...more] = readOnly(body, tag.sequence).rest();
    if (message === undefined) throw new CmpRefusal('badRequest', 'the body has no request');
    if (more.length > 0) throw new CmpRefusal('badRequest', 'the body has more than one request: send one for each message');
    const fields = readOnly(message.whole, tag.sequence);
    const request = new Reader(fields.next(tag.sequence).content);
    const proof = fields.more ? fields.next() : undefined;
    if (Buffer.compare(request.next(tag.integer).content, Uint8Array.of(0)) !== 0)
      throw new CmpRefusal('badRequest', 'the certReqId is not 0');
    const template = request.next(tag.sequence);
    requireTemplate(template.content);
    const controls = request.optional(tag.sequence);
    request.end();
    requireProof(proof?.tag, takesRaVerified);
    return { message: message.whole, oldCertificate: controls === undefined ? undefined : readOldCertificate(controls.whole) };
  });
}

const [raVerified, signature] = [tag.primitive(0), tag.constructed(1)];

function requireProof(kind: number | undefined, takesRaVerified: boolean): void {
  if (kind === signature || (kind === raVerified && takesRaVerified)) return;
  if (kind === raVerified)
    throw new CmpRefusal(
      'notAuthorized',
      'raVerified is for the registration authorities that the CA names in "cmp/ra-certs": sign the request with its own key',
    );
  throw new CmpRefusal('badPOP', 'the request has no signature as proof of possession: sign it with its own key');
}

function requireTemplate(content: Uint8Array): void {
  const fields = new Map(Array.from(new Reader(content).rest(), (field) => [field.tag, field.content]));
  if ([tag.primitive(0), tag.primitive(1), tag.constructed(2)].some((one) => fields.has(one)))
    throw new CmpRefusal('badCertTemplate', 'the template has a version, a serial number or a signature algorithm, which the CA chooses');
  // OpenSSL leaves it out where it asks for alternative names alone (RFC 9483 section 4.1.1 wants an empty one).
  if (!fields.has(tag.constructed(5)) && !hasNames(fields.get(tag.constructed(9))))
    throw new CmpRefusal('badCertTemplate', 'the template has neither a subject nor alternative names');
  if (!fields.has(tag.constructed(6))) throw new CmpRefusal('badCertTemplate', 'the template has no public key: make one on the device');
}

function hasNames(extensions: Uint8Array = new Uint8Array(0)): boolean {
  const idOf = (extension: Uint8Array): string => readObjectIdentifier(readOnly(extension, tag.sequence).next(tag.oid).content);
  return Array.from(new Reader(extensions).rest(), ({ whole }) => idOf(whole)).includes(extensionId.subjectAltName);
}

/** The control oldCertID; others are not looked at. */
function readOldCertificate(whole: Uint8Array): CertificateId | undefined {
  for (const entry of readOnly(whole, tag.sequence).rest()) {
    const fields = readOnly(entry.whole, tag.sequence);
    if (readObjectIdentifier(fields.next(tag.oid).content) !== control.oldCertId) continue;
    const id = fields.enter(tag.sequence);
    const issuer = id.enter(tag.constructed(4)).next(tag.sequence).whole;
    const serial = Buffer.from(id.next(tag.integer).content).toString('hex');
    id.end();
    return { issuer, serial };
  }
  return undefined;
}

/** Reads NestedMessageContent: DER of each message. Throws CmpRefusal. */
export function readNested(body: Uint8Array): readonly Uint8Array[] {
  return reading('the body', () => {
    const messages = Array.from(readOnly(body, tag.sequence).rest(), ({ whole }) => whole);
    if (messages.length <= messageLimits.nested) return messages;
    throw new CmpRefusal('badRequest', `the body has more than ${messageLimits.nested} messages: send fewer at a time`, true);
  });
}

/** Judgement of a device about a certificate that it got. */
export type Confirmation =
  /** none is accepted */
  | { readonly isAccepted: false }
  | { readonly isAccepted: true; readonly hash: Uint8Array; readonly hashAlgorithm: string | undefined; readonly requestId: number };

/** Reads CertConfirmContent of at most one certificate. Throws CmpRefusal. */
export function readConfirmation(body: Uint8Array): Confirmation {
  return reading('the body', () => {
    const [status, ...more] = readOnly(body, tag.sequence).rest();
    if (more.length > 0) throw new CmpRefusal('badRequest', 'the body confirms more than one certificate');
    if (status === undefined) return { isAccepted: false };
    const fields = readOnly(status.whole, tag.sequence);
    const hash = fields.next(tag.octetString).content;
    const requestId = readRequestId(fields.next(tag.integer).content);
    const info = fields.optional(tag.sequence);
    const algorithm = fields.optional(tag.constructed(0));
    fields.end();
    const given = info === undefined ? 0 : readStatus(info.whole);
    if (given === 2) return { isAccepted: false };
    if (given > 1) throw new CmpRefusal('badRequest', 'the status of a confirmation is neither accepted nor rejection');
    const hashAlgorithm =
      algorithm === undefined ? undefined : readObjectIdentifier(new Reader(algorithm.content).enter(tag.sequence).next(tag.oid).content);
    return { isAccepted: true, hash, hashAlgorithm, requestId };
  });
}

function readStatus(info: Uint8Array): number {
  const { content } = readOnly(info, tag.sequence).next(tag.integer);
  if (content.length !== 1) throw new DerError('status out of range');
  return content[0] ?? 0;
}

/** 0, or -1 for a PKCS#10. */
function readRequestId(content: Uint8Array): number {
  const [octet] = content;
  if (content.length !== 1 || (octet !== 0 && octet !== 0xff)) throw new CmpRefusal('badRequest', 'the certReqId is neither 0 nor -1');
  return octet === 0 ? 0 : -1;
}

/** Reads PollReqContent of one request. Throws CmpRefusal. */
export function readPollRequest(body: Uint8Array): number {
  return reading('the body', () => {
    const [asked, ...more] = readOnly(body, tag.sequence).rest();
    if (asked === undefined || more.length > 0) throw new CmpRefusal('badRequest', 'the body does not ask for one certificate');
    const fields = readOnly(asked.whole, tag.sequence);
    const id = readRequestId(fields.next(tag.integer).content);
    fields.end();
    return id;
  });
}

export type RevocationRequest = CertificateId & {
  /** CRLReason; 0 without one */
  readonly reason: number;
};

const reasonCode = '2.5.29.21';

/** Reads RevReqContent of one certificate, named by issuer and serial number. Throws CmpRefusal. */
export function readRevocation(body: Uint8Array): RevocationRequest {
  return reading('the body', () => {
    const [details, ...more] = readOnly(body, tag.sequence).rest();
    if (details === undefined || more.length > 0) throw new CmpRefusal('badRequest', 'the body does not revoke one certificate');
    const fields = readOnly(details.whole, tag.sequence);
    const template = fields.enter(tag.sequence);
    const entry = fields.optional(tag.sequence);
    fields.end();
    let [serial, issuer]: [Uint8Array | undefined, Uint8Array | undefined] = [undefined, undefined];
    for (const { tag: one, content } of template.rest()) {
      if (one === tag.primitive(1)) serial = content;
      if (one === tag.constructed(3)) issuer = new Reader(content).next(tag.sequence).whole;
    }
    if (serial === undefined || issuer === undefined)
      throw new CmpRefusal('badCertTemplate', 'the template does not name the certificate by issuer and serial number');
    return { issuer, serial: Buffer.from(serial).toString('hex'), reason: entry === undefined ? 0 : readReason(entry.whole) };
  });
}

function readReason(extensions: Uint8Array): number {
  for (const { whole } of readOnly(extensions, tag.sequence).rest()) {
    const fields = readOnly(whole, tag.sequence);
    if (readObjectIdentifier(fields.next(tag.oid).content) !== reasonCode) continue;
    fields.optional(tag.boolean);
    const value = new Reader(fields.next(tag.octetString).content).next(tag.enumerated).content;
    if (value.length !== 1) throw new DerError('reason out of range');
    return value[0] ?? 0;
  }
  return 0;
}
