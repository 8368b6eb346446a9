// The content of a request once it is decrypted: a PKCS#10 (RFC 8894 section 3.3.1), or the name of a certificate (3.3.2, 3.3.3).
import { Reader, readBitString, readObjectIdentifier, readOnly, tag } from '../../../core/der/der.ts';
import { requestAttribute } from '../../../core/der/oids.ts';
import { decodeUtf8 } from '../../../core/base/bytes.ts';
import { readSignature } from './algorithms.ts';
import { ScepMalformed } from './malformed.ts';
import { isSignedBy, readKey, type Signer } from './key.ts';

/** A certification request whose self-signature holds. */
export type CertificationRequest = {
  readonly der: Uint8Array;
  /** DER Name */
  readonly subject: Uint8Array;
  /** DER SubjectPublicKeyInfo */
  readonly publicKey: Uint8Array;
  /** text of the attribute; undefined without it */
  readonly challengePassword: string | undefined;
  /** requested extensions by type */
  readonly extensions: ReadonlyMap<string, { readonly critical: boolean; readonly value: Uint8Array }>;
};

export type IssuerAndSerial = {
  /** DER Name */
  readonly issuer: Uint8Array;
  /** lower-case hexadecimal of the content of the INTEGER, as records have it */
  readonly serial: string;
};

/**
 * Reads a PKCS#10 and verifies its signature under its own key. Until that holds, one refusal for everything, which is that of a content that
 * was not decrypted: what differs tells the sender of a forged ciphertext about the plain one. After that, refusals say what is wrong. `signer`: of the message,
 * whose key is not judged again if it is that of the request. Throws ScepMalformed.
 */
export function readCertificationRequest(der: Uint8Array, signer?: Pick<Signer, 'publicKey' | 'key'>): CertificationRequest {
  const parts = orUndecryptable(() => readSelfSigned(der, signer));
  try {
    const attributes = readRequestAttributes(parts.attributes);
    return {
      der,
      subject: parts.subject,
      publicKey: parts.publicKey,
      challengePassword: readChallenge(attributes.get(requestAttribute.challengePassword)),
      extensions: readRequestedExtensions(attributes),
    };
  } catch (error) {
    if (error instanceof ScepMalformed) throw error;
    throw new ScepMalformed('badRequest', 'the certification request has attributes that are not well-formed');
  }
}

/** Reads the content of GetCert. Throws ScepMalformed, the same for everything. */
export function readIssuerAndSerial(der: Uint8Array): IssuerAndSerial {
  return orUndecryptable(() => {
    const fields = readOnly(der, tag.sequence);
    const issuer = fields.next(tag.sequence).whole;
    const { content } = fields.next(tag.integer);
    fields.end();
    return { issuer, serial: Buffer.from(content).toString('hex') };
  });
}

/** The one refusal of a content that cannot be decrypted, or is not what it should be. */
function undecryptable(): ScepMalformed {
  return new ScepMalformed(
    'badMessageCheck',
    'the content cannot be decrypted, or is not what its messageType says: encrypt it for the certificate of GetCACert, and sign a request with its own key',
  );
}

function orUndecryptable<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw undecryptable();
  }
}

type RequestParts = Pick<CertificationRequest, 'subject' | 'publicKey'> & { readonly attributes: Uint8Array };

/** CertificationRequest (RFC 2986 section 4). */
function readSelfSigned(der: Uint8Array, signer: Pick<Signer, 'publicKey' | 'key'> | undefined): RequestParts {
  const outer = readOnly(der, tag.sequence);
  const info = outer.next(tag.sequence);
  const { scheme, digest } = readSignature(outer.next(tag.sequence).whole);
  const signature = readBitString(outer.next(tag.bitString).content);
  outer.end();
  const fields = new Reader(info.content);
  fields.next(tag.integer);
  const subject = fields.next(tag.sequence).whole;
  const publicKey = fields.next(tag.sequence).whole;
  // Some clients omit the empty set.
  const attributes = fields.optional(tag.constructed(0))?.content ?? new Uint8Array(0);
  fields.end();
  const isSame = signer !== undefined && Buffer.compare(signer.publicKey, publicKey) === 0;
  const key = isSame ? signer.key : readKey(publicKey);
  if (digest === undefined || !isSignedBy(key, { scheme, digest }, info.whole, signature)) throw undecryptable();
  return { subject, publicKey, attributes };
}

/** Most attributes and extensions of a request. */
const mostEntries = 64;

/** The one value of each attribute, by type. */
function readRequestAttributes(content: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const attributes = new Map<string, Uint8Array>();
  for (const { whole } of new Reader(content).rest()) {
    const fields = readOnly(whole, tag.sequence);
    const type = readObjectIdentifier(fields.next(tag.oid).content);
    const values = fields.enter(tag.set);
    fields.end();
    const value = values.next().whole;
    if (attributes.has(type) || values.more || attributes.size === mostEntries)
      throw new ScepMalformed(
        'badRequest',
        'the certification request has an attribute twice, or with two values, or more than 64 of them',
      );
    attributes.set(type, value);
  }
  return attributes;
}

const longestChallenge = 1_024;

/** challengePassword (RFC 2985 section 5.4.1), a DirectoryString; some write IA5String. */
function readChallenge(value: Uint8Array | undefined): string | undefined {
  if (value === undefined) return undefined;
  const { tag: kind, content } = new Reader(value).next();
  const text = content.length > longestChallenge ? undefined : textOf(kind, content);
  if (text === undefined)
    throw new ScepMalformed('badRequest', 'the challengePassword is not a text of at most 1024 octets: write it as UTF8String');
  return text;
}

const latin: ReadonlySet<number> = new Set([tag.printableString, tag.ia5String, 0x14]);
const bmpString = 0x1e;

function textOf(kind: number, content: Uint8Array): string | undefined {
  if (kind === tag.utf8String) return decodeUtf8(content);
  if (latin.has(kind)) return Buffer.from(content).toString('latin1');
  if (kind === bmpString && content.length % 2 === 0) return Buffer.from(content).swap16().toString('utf16le');
  return undefined;
}

/** Microsoft's name of extensionRequest (MS-WCCE 2.2.2.7.7.1). */
const microsoftExtensions = '1.3.6.1.4.1.311.2.1.14';

function readRequestedExtensions(attributes: ReadonlyMap<string, Uint8Array>): CertificationRequest['extensions'] {
  const extensions = new Map<string, { readonly critical: boolean; readonly value: Uint8Array }>();
  for (const type of [requestAttribute.extensionRequest, microsoftExtensions]) {
    const list = attributes.get(type);
    if (list === undefined) continue;
    for (const { whole } of readOnly(list, tag.sequence).rest()) {
      const fields = readOnly(whole, tag.sequence);
      const id = readObjectIdentifier(fields.next(tag.oid).content);
      const critical = fields.optional(tag.boolean)?.content[0] === 0xff;
      const value = fields.next(tag.octetString).content;
      fields.end();
      if (extensions.has(id) || extensions.size === mostEntries)
        throw new ScepMalformed('badRequest', 'the certification request asks for an extension twice, or for more than 64');
      extensions.set(id, { critical, value });
    }
  }
  return extensions;
}
