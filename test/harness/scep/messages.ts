// Writes requests of SCEP, right and wrong, by hand: what a client of any kind, or an attacker, could send.
import {
  constants,
  createCipheriv,
  type KeyObject,
  publicEncrypt,
  randomBytes,
  sign as signWith,
  hash as hashOf,
  X509Certificate,
} from 'node:crypto';
import {
  encode,
  explicit,
  implicit,
  integer,
  nullValue,
  objectIdentifier,
  octetString,
  Reader,
  readOnly,
  sequence,
  setOf,
  tag,
} from '../../../core/der/der.ts';

/** Identifiers as the standards have them, and not as the sources under test do. */
export const ids = {
  ...{ data: '1.2.840.113549.1.7.1', signedData: '1.2.840.113549.1.7.2', envelopedData: '1.2.840.113549.1.7.3' },
  ...{ contentType: '1.2.840.113549.1.9.3', messageDigest: '1.2.840.113549.1.9.4', signingTime: '1.2.840.113549.1.9.5' },
  ...{ messageType: '2.16.840.1.113733.1.9.2', pkiStatus: '2.16.840.1.113733.1.9.3', failInfo: '2.16.840.1.113733.1.9.4' },
  ...{ senderNonce: '2.16.840.1.113733.1.9.5', recipientNonce: '2.16.840.1.113733.1.9.6', transactionId: '2.16.840.1.113733.1.9.7' },
  ...{ rsa: '1.2.840.113549.1.1.1', pss: '1.2.840.113549.1.1.10', oaep: '1.2.840.113549.1.1.7', mgf1: '1.2.840.113549.1.1.8' },
} as const;

export const digestOids = {
  md5: '1.2.840.113549.2.5',
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
} as const;
export type DigestName = keyof typeof digestOids;

export const cipherOids = {
  'aes-128-cbc': ['2.16.840.1.101.3.4.1.2', 16, 16],
  'aes-192-cbc': ['2.16.840.1.101.3.4.1.22', 24, 16],
  'aes-256-cbc': ['2.16.840.1.101.3.4.1.42', 32, 16],
  'des-ede3-cbc': ['1.2.840.113549.3.7', 24, 8],
  'des-cbc': ['1.3.14.3.2.7', 8, 8],
} as const;
export type CipherName = keyof typeof cipherOids;

export const oid = objectIdentifier;
export const algorithm = (id: string, ...parameters: readonly Uint8Array[]): Uint8Array => sequence(oid(id), ...parameters);
export const attribute = (type: string, ...values: readonly Uint8Array[]): Uint8Array => sequence(oid(type), setOf(...values));
export const printable = (text: string): Uint8Array => encode(tag.printableString, Buffer.from(text, 'latin1'));
const withNull = (id: string): Uint8Array => algorithm(id, nullValue);

/** Issuer, serial number and subject of a certificate, DER. */
export function namesOf(certificate: Uint8Array): {
  readonly issuer: Uint8Array;
  readonly serial: Uint8Array;
  readonly subject: Uint8Array;
} {
  const fields = readOnly(certificate, tag.sequence).enter(tag.sequence);
  fields.optional(tag.constructed(0));
  const serial = fields.next(tag.integer).whole;
  fields.next();
  const issuer = fields.next().whole;
  fields.next();
  return { issuer, serial, subject: fields.next().whole };
}

export const issuerAndSerial = (certificate: Uint8Array): Uint8Array => {
  const { issuer, serial } = namesOf(certificate);
  return sequence(issuer, serial);
};

export type TransportName = 'pkcs1' | 'pkcs1-bare' | `oaep-${'sha1' | 'sha256' | 'sha384' | 'sha512'}`;

function transportOf(transport: TransportName): Uint8Array {
  if (transport === 'pkcs1') return withNull(ids.rsa);
  if (transport === 'pkcs1-bare') return algorithm(ids.rsa);
  const hash = transport.slice(5) as DigestName;
  if (hash === 'sha1') return algorithm(ids.oaep, sequence());
  return algorithm(
    ids.oaep,
    sequence(explicit(0, withNull(digestOids[hash])), explicit(1, algorithm(ids.mgf1, withNull(digestOids[hash])))),
  );
}

function encryptedFor(certificate: Uint8Array, transport: TransportName, key: Uint8Array): Uint8Array {
  const { publicKey } = new X509Certificate(certificate);
  if (transport.startsWith('pkcs1')) return publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_PADDING }, key);
  return publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: transport.slice(5) }, key);
}

export type EnvelopeParts = {
  readonly content: Uint8Array;
  readonly recipients: readonly Uint8Array[];
  readonly cipher?: CipherName;
  readonly transport?: TransportName;
  /** names the recipient by this key identifier instead of issuer and serial number */
  readonly subjectKeyId?: Uint8Array;
  /** what is encrypted, padding and all, in place of the content */
  readonly padded?: Uint8Array;
  readonly contentKey?: Uint8Array;
};

/** ContentInfo of an EnvelopedData. */
export function makeEnvelope(parts: EnvelopeParts): Uint8Array {
  const { content, recipients, cipher = 'aes-128-cbc', transport = 'pkcs1', subjectKeyId } = parts;
  const [id, keyLength, blockLength] = cipherOids[cipher];
  const { contentKey: key = randomBytes(keyLength) } = parts;
  const iv = randomBytes(blockLength);
  const [name, nodeKey] = cipher === 'des-cbc' ? ['des-ede3-cbc', Buffer.concat([key, key, key])] : [cipher, key];
  const encryption = createCipheriv(name, nodeKey, iv).setAutoPadding(parts.padded === undefined);
  const ciphertext = Buffer.concat([encryption.update(parts.padded ?? content), encryption.final()]);
  const infos = recipients.map((certificate) =>
    sequence(
      integer(subjectKeyId === undefined ? 0 : 2),
      subjectKeyId === undefined ? issuerAndSerial(certificate) : implicit(0, subjectKeyId),
      transportOf(transport),
      octetString(encryptedFor(certificate, transport, key)),
    ),
  );
  const encrypted = sequence(oid(ids.data), algorithm(id, octetString(iv)), implicit(0, ciphertext));
  return wrapEnvelope(setOf(...infos), encrypted);
}

export const wrapEnvelope = (recipientInfos: Uint8Array, encrypted: Uint8Array): Uint8Array =>
  sequence(oid(ids.envelopedData), explicit(0, sequence(integer(0), recipientInfos, encrypted)));

/** A key with its certificate, which signs. */
export type SigningParty = { readonly certificate: Uint8Array; readonly privateKey: KeyObject };

export type RequestParts = {
  readonly signer: SigningParty;
  /** eContent: what makeEnvelope answers */
  readonly envelope: Uint8Array | undefined;
  readonly messageType?: string;
  readonly transactionId?: string;
  readonly senderNonce?: Uint8Array;
  readonly digest?: DigestName;
  /** default: PKCS#1 v1.5 or ECDSA, as the key of the signer is; `named`: under an identifier with the digest */
  readonly signature?: 'plain' | 'named' | 'pss';
  /** changes the signed attributes (DER) before they are signed; their order is kept */
  readonly attributes?: (attributes: readonly Uint8Array[]) => readonly Uint8Array[];
  /** signs the order of DER, whatever the order of the message is */
  readonly signsSorted?: boolean;
  /** in place of the signer's certificate alone */
  readonly certificates?: readonly Uint8Array[];
  /** names the signer by this key identifier instead of issuer and serial number */
  readonly subjectKeyId?: Uint8Array;
  /** changes the parts of the message after it is signed */
  readonly change?: (parts: SignedParts) => SignedParts;
};

/** The parts of a SignedData, DER. */
export type SignedParts = {
  readonly digestAlgorithms: Uint8Array;
  readonly encapsulated: Uint8Array;
  readonly certificates: Uint8Array;
  readonly signerInfos: Uint8Array;
};

export const defaultTransactionId = 'q83vEjRWeJCrze8SNFZ4kKvN7xI=/';

/** ContentInfo of a SignedData with the attributes of SCEP. */
export function makeRequest(parts: RequestParts): Uint8Array {
  const { signer, envelope, digest = 'sha256', subjectKeyId } = parts;
  const own = attributesOf(parts);
  const attributes = parts.attributes?.(own) ?? own;
  const toSign = parts.signsSorted === true ? setOf(...attributes) : encode(tag.set, ...attributes);
  const [signatureAlgorithm, signature] = signed(parts, toSign);
  const signerInfo = sequence(
    integer(subjectKeyId === undefined ? 1 : 3),
    subjectKeyId === undefined ? issuerAndSerial(signer.certificate) : implicit(0, subjectKeyId),
    withNull(digestOids[digest]),
    encode(tag.constructed(0), ...attributes),
    signatureAlgorithm,
    octetString(signature),
  );
  const all = {
    digestAlgorithms: setOf(withNull(digestOids[digest])),
    encapsulated: sequence(oid(ids.data), ...(envelope === undefined ? [] : [explicit(0, octetString(envelope))])),
    certificates: encode(tag.constructed(0), ...(parts.certificates ?? [signer.certificate])),
    signerInfos: setOf(signerInfo),
  };
  const { digestAlgorithms, encapsulated, certificates, signerInfos } = parts.change?.(all) ?? all;
  return sequence(oid(ids.signedData), explicit(0, sequence(integer(1), digestAlgorithms, encapsulated, certificates, signerInfos)));
}

function attributesOf(parts: RequestParts): readonly Uint8Array[] {
  const { envelope = new Uint8Array(0), digest = 'sha256', messageType = '19', transactionId = defaultTransactionId } = parts;
  const all = [
    attribute(ids.contentType, oid(ids.data)),
    attribute(ids.messageDigest, octetString(hashOf(digest, envelope, 'buffer'))),
    // Others compare it with the life of the signer's certificate.
    attribute(ids.signingTime, encode(tag.utcTime, Buffer.from(new Date().toISOString().replaceAll(/^20|[-:T]|\.\d+/g, '')))),
    attribute(ids.messageType, printable(messageType)),
    attribute(ids.transactionId, printable(transactionId)),
    attribute(ids.senderNonce, octetString(parts.senderNonce ?? randomBytes(16))),
  ];
  return all.toSorted((left, right) => Buffer.compare(left, right));
}

const named: Readonly<Record<'rsa' | 'ec', Readonly<Record<DigestName, string>>>> = {
  rsa: {
    md5: '1.2.840.113549.1.1.4',
    sha1: '1.2.840.113549.1.1.5',
    sha256: '1.2.840.113549.1.1.11',
    sha384: '1.2.840.113549.1.1.12',
    sha512: '1.2.840.113549.1.1.13',
  },
  ec: {
    md5: '',
    sha1: '1.2.840.10045.4.1',
    sha256: '1.2.840.10045.4.3.2',
    sha384: '1.2.840.10045.4.3.3',
    sha512: '1.2.840.10045.4.3.4',
  },
};

function signed({ signer, digest = 'sha256', signature = 'plain' }: RequestParts, octets: Uint8Array): readonly [Uint8Array, Uint8Array] {
  const { privateKey: key } = signer;
  if (signature === 'pss') {
    const saltLength = hashOf(digest, '', 'buffer').length;
    return [pssAlgorithm(digest, saltLength), signWith(digest, octets, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength })];
  }
  const made = signWith(digest, octets, key);
  if (key.asymmetricKeyType === 'ec') return [algorithm(named.ec[digest]), made];
  return [withNull(signature === 'plain' ? ids.rsa : named.rsa[digest]), made];
}

export function pssAlgorithm(digest: DigestName, saltLength: number): Uint8Array {
  const hash = withNull(digestOids[digest]);
  return algorithm(ids.pss, sequence(explicit(0, hash), explicit(1, algorithm(ids.mgf1, hash)), explicit(2, integer(saltLength))));
}

/** The one SignerInfo of a set, with another signature algorithm. */
export function withAlgorithm(signerInfos: Uint8Array, said: Uint8Array): Uint8Array {
  const parts = new Reader(new Reader(new Reader(signerInfos).next().content).next().content).rest().toArray();
  return sequence(...parts.map(({ whole }, index) => (index === 4 ? said : whole)));
}
