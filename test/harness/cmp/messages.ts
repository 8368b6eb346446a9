// Messages of CMP as a device writes them, and as one that lies does: every field may be another one, or be left out.
import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import {
  bitString,
  encode,
  explicit,
  generalizedTime,
  integer,
  nullValue,
  objectIdentifier,
  octetString,
  Reader,
  sequence,
  setOf,
  tag,
  utf8String,
} from '../../../core/der/der.ts';

export const bodies = {
  ir: 0,
  ip: 1,
  cr: 2,
  cp: 3,
  p10cr: 4,
  kur: 7,
  kup: 8,
  rr: 11,
  rp: 12,
  pkiconf: 19,
  nested: 20,
  genm: 21,
  genp: 22,
  error: 23,
  certConf: 24,
  pollReq: 25,
  pollRep: 26,
} as const;

/** A field that may be left out: null. */
type Field<T> = T | null | undefined;

export type MessageParts = {
  readonly type: number;
  readonly body: Uint8Array;
  readonly protect: Protect;
  readonly version?: number;
  /** DER GeneralName */
  readonly sender?: Uint8Array;
  readonly time?: Field<Temporal.Instant>;
  readonly algorithm?: Field<Uint8Array>;
  readonly keyId?: Field<Uint8Array>;
  readonly transactionId?: Field<Uint8Array>;
  readonly senderNonce?: Field<Uint8Array>;
  readonly recipientNonce?: Field<Uint8Array>;
  readonly info?: readonly Uint8Array[];
  readonly protection?: Field<Uint8Array>;
  readonly certificates?: readonly Uint8Array[];
};

export type Protect = {
  readonly algorithm: Uint8Array;
  readonly sender: Uint8Array;
  readonly keyId: Uint8Array | undefined;
  readonly certificates: readonly Uint8Array[];
  sign(octets: Uint8Array): Uint8Array;
};

export const nameOf = (commonName: string): Uint8Array => sequence(setOf(sequence(objectIdentifier('2.5.4.3'), utf8String(commonName))));
export const general = (name: Uint8Array): Uint8Array => explicit(4, name);

const oid = objectIdentifier;
export const implicitConfirm = sequence(oid('1.3.6.1.5.5.7.4.13'), nullValue);

/** DER PKIMessage. */
export function writeMessage(parts: MessageParts): Buffer {
  const { type, body, protect, version = 2, sender = protect.sender, info = [] } = parts;
  const field = (n: number, value: Field<Uint8Array>, byDefault?: Uint8Array): readonly Uint8Array[] => {
    const chosen = value === undefined ? byDefault : value;
    return chosen === undefined || chosen === null ? [] : [explicit(n, octetString(chosen))];
  };
  const time = parts.time === undefined ? Temporal.Now.instant() : parts.time;
  const algorithm = parts.algorithm === undefined ? protect.algorithm : parts.algorithm;
  const header = sequence(
    integer(version),
    sender,
    general(nameOf('CA')),
    ...(time === null ? [] : [explicit(0, generalizedTime(time))]),
    ...(algorithm === null ? [] : [explicit(1, algorithm)]),
    ...field(2, parts.keyId, protect.keyId),
    ...field(4, parts.transactionId, randomBytes(16)),
    ...field(5, parts.senderNonce, randomBytes(16)),
    ...field(6, parts.recipientNonce),
    ...(info.length === 0 ? [] : [explicit(8, sequence(...info))]),
  );
  const content = explicit(type, body);
  const protection = parts.protection === undefined ? protect.sign(sequence(header, content)) : parts.protection;
  const certificates = parts.certificates ?? protect.certificates;
  return Buffer.from(
    sequence(
      header,
      content,
      ...(protection === null ? [] : [explicit(0, bitString(protection))]),
      ...(certificates.length === 0 ? [] : [explicit(1, sequence(...certificates))]),
    ),
  );
}

const hashIds = { sha1: '1.3.14.3.2.26', sha256: '2.16.840.1.101.3.4.2.1' } as const;

export type MacOptions = {
  readonly reference?: string;
  readonly subject?: string;
  readonly iterations?: number;
  readonly owf?: 'sha1' | 'sha256';
  readonly salt?: Uint8Array;
};

/** PasswordBasedMac as OpenSSL writes it: HMAC with SHA-1. */
export function byMac(secret: string, options: MacOptions = {}): Protect {
  const { reference = '1234', subject = 'dev.example.test', iterations = 500, owf = 'sha256', salt = randomBytes(16) } = options;
  const parameters = sequence(
    octetString(salt),
    sequence(oid(hashIds[owf])),
    integer(iterations),
    sequence(oid('1.3.6.1.5.5.8.1.2'), nullValue),
  );
  return {
    algorithm: sequence(oid('1.2.840.113533.7.66.13'), parameters),
    sender: general(nameOf(subject)),
    keyId: Buffer.from(reference),
    certificates: [],
    sign: (octets) =>
      createHmac('sha1', passwordKey(secret, salt, owf, Math.min(iterations, 100_000)))
        .update(octets)
        .digest(),
  };
}

function passwordKey(secret: string, salt: Uint8Array, owf: string, iterations: number): Buffer {
  let key = createHash(owf).update(secret).update(salt).digest();
  for (let round = 1; round < iterations; round++) key = createHash(owf).update(key).digest();
  return key;
}

/** The signature of a key on P-256 with its certificate. */
export function byCertificate(
  key: KeyObject,
  certificate: { readonly der: Uint8Array; readonly subject: Uint8Array; readonly keyId: Uint8Array | undefined },
): Protect {
  return {
    algorithm: sequence(oid('1.2.840.10045.4.3.2')),
    sender: general(certificate.subject),
    keyId: certificate.keyId,
    certificates: [certificate.der],
    sign: (octets) => sign('sha256', octets, key),
  };
}

export type Pair = { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
export const newKeys = (): Pair => generateKeyPairSync('ec', { namedCurve: 'P-256' });

export type TemplateOptions = {
  readonly keys: Pair;
  /** null: left out */
  readonly subject?: string | null;
  readonly names?: readonly string[];
  readonly requestId?: number;
  /** DER of the proof; null: none */
  readonly proof?: Uint8Array | null;
  /** DER of controls */
  readonly controls?: readonly Uint8Array[];
  /** DER in front of the other fields of the template */
  readonly fields?: readonly Uint8Array[];
};

/** CertReqMsg. */
export function requestOf({
  keys,
  subject = 'dev.example.test',
  names = ['dev.example.test'],
  requestId = 0,
  proof,
  controls = [],
  fields = [],
}: TemplateOptions): Uint8Array {
  const spki = new Reader(keys.publicKey.export({ type: 'spki', format: 'der' })).next(tag.sequence).content;
  const san = sequence(...names.map((name) => encode(tag.primitive(2), Buffer.from(name))));
  const extensions = names.length === 0 ? [] : [encode(tag.constructed(9), sequence(oid('2.5.29.17'), octetString(san)))];
  const template = sequence(
    ...fields,
    ...(subject === null ? [] : [explicit(5, nameOf(subject))]),
    encode(tag.constructed(6), spki),
    ...extensions,
  );
  const request = sequence(integer(requestId), template, ...(controls.length === 0 ? [] : [sequence(...controls)]));
  const own = encode(tag.constructed(1), sequence(oid('1.2.840.10045.4.3.2')), bitString(sign('sha256', request, keys.privateKey)));
  return sequence(request, ...(proof === null ? [] : [proof ?? own]));
}

export const raVerified = Uint8Array.of(tag.primitive(0), 0);

export const oldCertificate = (issuer: Uint8Array, serial: Uint8Array): Uint8Array =>
  sequence(oid('1.3.6.1.5.5.7.5.1.5'), sequence(general(issuer), encode(tag.integer, serial)));

/** RevReqContent. */
export const revocationOf = (issuer: Uint8Array, serial: Uint8Array, reason?: number): Uint8Array =>
  sequence(
    sequence(
      sequence(encode(tag.primitive(1), serial), explicit(3, issuer)),
      ...(reason === undefined ? [] : [sequence(sequence(oid('2.5.29.21'), octetString(encode(tag.enumerated, Uint8Array.of(reason)))))]),
    ),
  );

/** CertConfirmContent of a certificate signed with SHA-256. */
export const confirmationOf = (
  certificate: Uint8Array,
  hash = createHash('sha256').update(certificate).digest(),
  status?: number,
): Uint8Array => sequence(sequence(octetString(hash), integer(0), ...(status === undefined ? [] : [sequence(integer(status))])));

export const pollOf = (requestId = 0): Uint8Array => sequence(sequence(encode(tag.integer, Uint8Array.of(requestId & 0xff))));
