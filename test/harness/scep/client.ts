// A client of SCEP for tests, right or hostile: it sends what it is given, and reads answers as strictly as it can.
import { constants, createDecipheriv, hash as hashOf, type KeyObject, privateDecrypt, verify, X509Certificate } from 'node:crypto';
import { Reader, readObjectIdentifier, readOnly, tag } from '../../../core/der/der.ts';
import {
  type CipherName,
  cipherOids,
  type DigestName,
  digestOids,
  type EnvelopeParts,
  ids,
  issuerAndSerial,
  makeEnvelope,
  makeRequest,
  type RequestParts,
  type SigningParty,
} from './messages.ts';

/** An answer as HTTP has it. */
export type HttpAnswer = { readonly status: number; readonly contentType: string | null; readonly body: Buffer };

/** How a test sends: the query without `?`, and the body of a POST. */
export type Send = (query: string, body?: Uint8Array) => Promise<HttpAnswer>;

/** Sends to the URL of a CA with fetch, without a Content-Type unless one is given. */
export function sendTo(url: string, contentType?: string): Send {
  return async (query, body) => {
    const headers = contentType === undefined ? {} : { 'content-type': contentType };
    const post = body === undefined ? {} : { method: 'POST', body: new Uint8Array(body), headers };
    const answer = await fetch(`${url}?${query}`, post);
    return { status: answer.status, contentType: answer.headers.get('content-type'), body: Buffer.from(await answer.arrayBuffer()) };
  };
}

/** CertRep as read; its signature holds, and its nonces and transaction are those of the request. */
export type CertRep = {
  readonly status: 'success' | 'failure' | 'pending';
  readonly failInfo: string | undefined;
  readonly failInfoText: string | undefined;
  readonly senderNonce: Buffer;
  /** certificate that has signed */
  readonly signer: X509Certificate;
  readonly digest: DigestName;
  /** of the content; undefined without one */
  readonly cipher: CipherName | undefined;
  readonly certificates: readonly X509Certificate[];
  /** DER */
  readonly lists: readonly Buffer[];
};

export type ScepClientOptions = {
  readonly send: Send;
  readonly signer: SigningParty;
  /** certificates for whom content is encrypted: usually the RA alone */
  readonly recipients: readonly Uint8Array[];
  readonly transactionId: string;
};

/** What a test changes of a message. */
export type Changes = Partial<Omit<RequestParts, 'signer' | 'envelope'>> & {
  readonly encryption?: Partial<Omit<EnvelopeParts, 'content'>>;
  readonly signer?: SigningParty;
  /** changes the octets that are sent */
  readonly octets?: (message: Uint8Array) => Uint8Array;
  /** sends by GET, with the message in this form of base64 */
  readonly get?: (base64: string) => string;
};

export class ScepClient {
  readonly #options: ScepClientOptions;

  constructor(options: ScepClientOptions) {
    this.#options = options;
  }

  /** Lines of GetCACaps. */
  async capabilities(): Promise<readonly string[]> {
    return (await this.#options.send('operation=GetCACaps')).body
      .toString('latin1')
      .split(/\r?\n/)
      .filter((line) => line !== '');
  }

  /** Certificates of GetCACert, in the order of the answer: one bare, or several in a degenerate message. */
  async authorities(message = ''): Promise<readonly X509Certificate[]> {
    const { contentType, body } = await this.#options.send(`operation=GetCACert&message=${message}`);
    return contentType === 'application/x-x509-ca-ra-cert' ? readDegenerate(body).certificates : [new X509Certificate(body)];
  }

  /** Sends a message of this type around the content, and reads CertRep. */
  async ask(messageType: string, content: Uint8Array, changes: Changes = {}): Promise<CertRep> {
    const senderNonce = changes.senderNonce ?? crypto.getRandomValues(new Uint8Array(16));
    const { status, contentType, body } = await this.post(messageType, content, { ...changes, senderNonce });
    if (status !== 200 || contentType !== 'application/x-pki-message')
      throw new Error(`${status} ${contentType}: ${body.toString('latin1', 0, 300)}`);
    const { privateKey } = changes.signer ?? this.#options.signer;
    const transactionId = changes.transactionId ?? this.#options.transactionId;
    return readCertRep(body, { transactionId, senderNonce, privateKey });
  }

  /** The same, with the bare answer. */
  post(messageType: string, content: Uint8Array, changes: Changes = {}): Promise<HttpAnswer> {
    const { encryption, octets = (message: Uint8Array) => message, get, ...parts } = changes;
    const { recipients, signer, transactionId, send } = this.#options;
    const envelope = makeEnvelope({ content, recipients, ...encryption });
    const message = octets(makeRequest({ signer, transactionId, envelope, messageType, ...parts }));
    if (get === undefined) return send('operation=PKIOperation', message);
    return send(`operation=PKIOperation&message=${get(Buffer.from(message).toString('base64'))}`);
  }

  enrol(csr: Uint8Array, changes?: Changes): Promise<CertRep> {
    return this.ask('19', csr, changes);
  }

  renew(csr: Uint8Array, changes?: Changes): Promise<CertRep> {
    return this.ask('17', csr, changes);
  }

  /** `content`: IssuerAndSubject. */
  poll(content: Uint8Array, changes?: Changes): Promise<CertRep> {
    return this.ask('20', content, changes);
  }

  /** GetCert for a certificate of which issuer and serial number are those of this one. */
  certificate(like: Uint8Array, changes?: Changes): Promise<CertRep> {
    return this.ask('21', issuerAndSerial(like), changes);
  }

  revocationList(like: Uint8Array, changes?: Changes): Promise<CertRep> {
    return this.ask('22', issuerAndSerial(like), changes);
  }
}

export type Expected = { readonly transactionId: string; readonly senderNonce: Uint8Array; readonly privateKey: KeyObject };

/** Reads and verifies CertRep (RFC 8894 section 3.3.2). Throws what is wrong with it. */
function readCertRep(message: Uint8Array, { transactionId, senderNonce, privateKey }: Expected): CertRep {
  const signed = readSigned(message);
  const text = (type: string): string | undefined => {
    const value = signed.attributes.get(type);
    return value === undefined ? undefined : Buffer.from(new Reader(value).next().content).toString('utf8');
  };
  const octets = (type: string): Buffer => Buffer.from(readAttribute(signed.attributes, type).next(tag.octetString).content);
  if (text(ids.messageType) !== '3') throw new Error(`messageType ${text(ids.messageType)}`);
  if (text(ids.transactionId) !== transactionId) throw new Error('another transaction');
  if (!octets(ids.recipientNonce).equals(Buffer.from(senderNonce))) throw new Error('another recipientNonce');
  const status = ({ '0': 'success', '2': 'failure', '3': 'pending' } as const)[text(ids.pkiStatus) ?? ''];
  if (status === undefined) throw new Error(`pkiStatus ${text(ids.pkiStatus)}`);
  const content = signed.content?.length === 0 ? undefined : signed.content;
  if ((status === 'success') !== (content !== undefined)) throw new Error('content where none belongs, or none');
  if ((status === 'failure') !== (text(ids.failInfo) !== undefined)) throw new Error('failInfo where none belongs, or none');
  const failInfo = ['badAlg', 'badMessageCheck', 'badRequest', 'badTime', 'badCertId'][Number(text(ids.failInfo))];
  const opened = content === undefined ? undefined : openEnvelope(content, privateKey);
  const inside = opened === undefined ? { certificates: [], lists: [] } : readDegenerate(opened.content);
  const { signer, digest } = signed;
  return {
    status,
    failInfo,
    failInfoText: text('1.3.6.1.5.5.7.24.1'),
    senderNonce: octets(ids.senderNonce),
    signer,
    digest,
    cipher: opened?.cipher,
    ...inside,
  };
}

type Signed = {
  readonly content: Uint8Array | undefined;
  readonly attributes: ReadonlyMap<string, Uint8Array>;
  readonly signer: X509Certificate;
  readonly digest: DigestName;
};

/** Reads a SignedData of one RSA signer, which must hold. */
function readSigned(message: Uint8Array): Signed {
  const fields = enterContentInfo(message, ids.signedData);
  fields.next(tag.integer);
  fields.next(tag.set);
  const encapsulated = fields.enter(tag.sequence);
  encapsulated.next(tag.oid);
  const content = encapsulated.optional(tag.constructed(0));
  const octets = content === undefined ? undefined : new Reader(content.content).next(tag.octetString).content;
  const certificates = Array.from(fields.enter(tag.constructed(0)).rest(), ({ whole }) => Buffer.from(whole));
  const info = fields.enter(tag.set).enter(tag.sequence);
  info.next(tag.integer);
  const name = info.next(tag.sequence).whole;
  const digestId = readObjectIdentifier(info.enter(tag.sequence).next(tag.oid).content);
  const digest = (Object.keys(digestOids) as DigestName[]).find((one) => digestOids[one] === digestId);
  const attributes = info.next(tag.constructed(0)).whole;
  info.next(tag.sequence);
  const signature = info.next(tag.octetString).content;
  const signer = certificates.find((one) => Buffer.compare(issuerAndSerial(one), name) === 0);
  if (digest === undefined || signer === undefined) throw new Error('no digest or no signer that is known');
  const asSet = Buffer.from(attributes);
  asSet[0] = tag.set;
  if (!verify(digest, asSet, new X509Certificate(signer).publicKey, signature)) throw new Error('the signature does not hold');
  const read = new Map<string, Uint8Array>();
  for (const { content: one } of readOnly(asSet, tag.set).rest()) {
    const parts = new Reader(one);
    read.set(readObjectIdentifier(parts.next(tag.oid).content), parts.next(tag.set).content);
  }
  const signedDigest = Buffer.from(readAttribute(read, ids.messageDigest).next(tag.octetString).content);
  if (!signedDigest.equals(hashOf(digest, octets ?? new Uint8Array(0), 'buffer'))) throw new Error('the content is another one');
  return { content: octets, attributes: read, signer: new X509Certificate(signer), digest };
}

function readAttribute(attributes: ReadonlyMap<string, Uint8Array>, type: string): Reader {
  const value = attributes.get(type);
  if (value === undefined) throw new Error(`no attribute ${type}`);
  return new Reader(value);
}

function enterContentInfo(octets: Uint8Array, type: string): Reader {
  const info = readOnly(octets, tag.sequence);
  const found = readObjectIdentifier(info.next(tag.oid).content);
  if (found !== type) throw new Error(`content of type ${found} where ${type} belongs`);
  return info.enter(tag.constructed(0)).enter(tag.sequence);
}

/** Opens an envelope whose key came by PKCS#1 v1.5 or by OAEP with SHA-256. */
function openEnvelope(octets: Uint8Array, privateKey: KeyObject): { readonly content: Buffer; readonly cipher: CipherName } {
  const fields = enterContentInfo(octets, ids.envelopedData);
  fields.next(tag.integer);
  const recipient = fields.enter(tag.set).enter(tag.sequence);
  recipient.next(tag.integer);
  recipient.next(tag.sequence);
  const transport = readObjectIdentifier(recipient.enter(tag.sequence).next(tag.oid).content);
  const encryptedKey = recipient.next(tag.octetString).content;
  const padding =
    transport === ids.oaep ? { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' } : { padding: constants.RSA_PKCS1_PADDING };
  const key = privateDecrypt({ key: privateKey, ...padding }, encryptedKey);
  const encrypted = fields.enter(tag.sequence);
  encrypted.next(tag.oid);
  const algorithm = encrypted.enter(tag.sequence);
  const id = readObjectIdentifier(algorithm.next(tag.oid).content);
  const cipher = (Object.keys(cipherOids) as CipherName[]).find((one) => cipherOids[one][0] === id);
  if (cipher === undefined) throw new Error(`cipher ${id}`);
  const [name, nodeKey] = cipher === 'des-cbc' ? ['des-ede3-cbc', Buffer.concat([key, key, key])] : [cipher, key];
  const decipher = createDecipheriv(name, nodeKey, algorithm.next(tag.octetString).content);
  return { content: Buffer.concat([decipher.update(encrypted.next(tag.primitive(0)).content), decipher.final()]), cipher };
}

/** Certificates and revocation lists of a message that has no signer. */
function readDegenerate(octets: Uint8Array): {
  readonly certificates: readonly X509Certificate[];
  readonly lists: readonly Buffer[];
} {
  const fields = enterContentInfo(octets, ids.signedData);
  fields.next(tag.integer);
  fields.next(tag.set);
  fields.next(tag.sequence);
  const [certificates, lists] = [0, 1].map((n) => fields.optional(tag.constructed(n))?.content ?? new Uint8Array(0));
  if (fields.next(tag.set).content.length > 0) throw new Error('a signer where none belongs');
  return {
    certificates: Array.from(new Reader(certificates ?? octets).rest(), ({ whole }) => new X509Certificate(whole)),
    lists: Array.from(new Reader(lists ?? octets).rest(), ({ whole }) => Buffer.from(whole)),
  };
}
