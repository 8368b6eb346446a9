// Certification requests (PKCS#10, RFC 2986): parsing, the self-signature, and the few things a request may ask for.
import { NotProven } from '../../../core/enrolment/not-proven.ts';
import { defined } from '../../../core/base/defined.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { formatAlternativeName } from '../names/alternative-name.ts';
import { findRequestSignature, holdsFor } from '../authority/algorithms.ts';
import { type Extension, readExtensions } from '../der/certificate.ts';
import { DerError, Reader, readBitString, readObjectIdentifier, readOnly, tag } from '../../../core/der/der.ts';
import { isDer } from '../lints/der-lint.ts';
import { failCa } from '../errors.ts';
import { formatName, type NameAttribute, readName, readText } from '../../../core/der/name.ts';
import { extensionId, keyPurpose, requestAttribute } from '../../../core/der/oids.ts';
import { type CheckedKey, checkKey, type KeyFamily } from '../der/public-key.ts';
import type { DecryptKey } from '../../../core/plugin/services/certificate-authority.ts';
import type { RequestForm } from '../records/enrolments.ts';
import { type AlternativeName, readAlternativeNames, readExtKeyUsage } from '../der/read-extensions.ts';

/** Content of a request. Other attributes and extensions are ignored, never copied. */
type RequestContent = {
  /** the request itself */
  readonly der: Uint8Array;
  readonly form?: RequestForm;
  /** DER Name, exactly as sent */
  readonly subject: Uint8Array;
  readonly subjectAttributes: readonly NameAttribute[];
  /** for people and records */
  readonly subjectText: string;
  readonly nameTexts: readonly string[];
  readonly alternativeNames: readonly AlternativeName[];
  /** DER SubjectPublicKeyInfo */
  readonly publicKey: Uint8Array;
  readonly keyFamily: KeyFamily;
  readonly keyName: string;
  readonly wantsServerAuth: boolean;
  /** RFC 7030 3.5: where a client puts the channel binding */
  readonly challengePassword: string | undefined;
  /** RFC 7030 4.2.2, RFC 6402 2.8: the client asks for another name */
  readonly changesSubject: boolean;
  readonly decryptKey: DecryptKey | undefined;
};

/**
 * A request whose self-signature verifies under the key it carries, or for whose key a registration authority vouches. Only `verifyCsr` and `verifySigned`
 * make one.
 */
class VerifiedCsr {
  readonly #content: RequestContent;

  constructor(content: RequestContent) {
    this.#content = content;
  }

  get content(): RequestContent {
    return this.#content;
  }
}
export type { VerifiedCsr };

/**
 * Reads and verifies one DER request that fills the bytes. `certifies` says which key families the CA takes. Throws `invalid-csr`
 * with a detail that says what to correct.
 */
export function verifyCsr(der: Uint8Array, certifies: readonly KeyFamily[]): VerifiedCsr {
  return verifySigned(
    refuseOn('is not a well-formed DER PKCS#10 request', () => readParts(der)),
    certifies,
    ({ attributes: content }) => readWishes(content),
  );
}

/**
 * Verifies a request whose parts are read, in whatever form it came. `read`: what it asks for beside subject and key; called once its signature holds. Throws as
 * verifyCsr.
 */
export function verifySigned<Parts extends SignedParts>(
  parts: Parts,
  certifies: readonly KeyFamily[],
  read: (parts: Parts) => Wishes,
): VerifiedCsr {
  if (!isDer(parts.subject) || !isDer(parts.publicKey))
    throw refusal(
      'has a subject or a public key that is not DER: attributes of one relative name in ascending order, no string in pieces, UTF8String in UTF-8, object identifiers and lengths in their shortest form',
    );
  const key = refuseOn('carries a public key that cannot be read', () => checkKey(parts.publicKey));
  if ('problem' in key) throw refusal(key.problem);
  if (!certifies.includes(key.family)) throw refusal(`has a key of type ${key.name}, which this CA does not certify`);
  if (parts.proof !== 'ra-verified' && !isSelfSigned(parts, parts.proof, key))
    throw refusal('has a self-signature that does not verify under its own key, or one made with a refused algorithm', new NotProven());
  const wishes = read(parts);
  return new VerifiedCsr(refuseOn('has attributes or a subject that are not well-formed', () => readContent(parts, key, wishes)));
}

/** Wishes of a request beside subject and key. */
export type Wishes = {
  readonly extensions: ReadonlyMap<string, Extension>;
  readonly challengePassword: string | undefined;
  readonly changesSubject: boolean;
  readonly decryptKey?: DecryptKey | undefined;
};

function readWishes(content: Uint8Array): Wishes {
  const attributes = refuseOn('has attributes that are not well-formed, or one of them twice', () => readAttributes(content));
  if (extensionRequests(attributes) > 1)
    throw refusal('asks for extensions more than once: put all of them into one value of one attribute extensionRequest');
  return refuseOn('has attributes or a subject that are not well-formed', () => {
    const challenge = attributes.get(requestAttribute.challengePassword);
    return {
      extensions: requestedExtensions(attributes),
      challengePassword: challenge === undefined ? undefined : readText(challenge.values.next()),
      changesSubject: attributes.has(requestAttribute.changeSubjectName),
      decryptKey: decryptKeyIn(attributes),
    };
  });
}

/** Key families that a CA certifies: an ML-DSA CA makes no classical certificates, and the reverse. */
export function familiesUnder(caKeyType: string): readonly KeyFamily[] {
  return caKeyType.startsWith('ml-dsa') ? ['ml-dsa'] : ['ec', 'rsa', 'rsa-pss', 'ed25519'];
}

/** The parts of a request that its own key has signed. */
export type SignedParts = {
  readonly der: Uint8Array;
  readonly form?: RequestForm;
  /** the octets that are signed */
  readonly info: Uint8Array;
  /** DER Name */
  readonly subject: Uint8Array;
  /** DER SubjectPublicKeyInfo */
  readonly publicKey: Uint8Array;
  /** `ra-verified`: a registration authority vouches for the key */
  readonly proof: SelfSignature | 'ra-verified';
};

type SelfSignature = {
  /** DER AlgorithmIdentifier */
  readonly algorithm: Uint8Array;
  readonly signature: Uint8Array;
};

type Parts = SignedParts & { readonly attributes: Uint8Array };

function readParts(der: Uint8Array): Parts {
  const outer = readOnly(der, tag.sequence);
  const info = outer.next(tag.sequence);
  const algorithm = outer.next(tag.sequence).whole;
  const signature = readBitString(outer.next(tag.bitString).content);
  outer.end();
  const fields = new Reader(info.content);
  if (Buffer.compare(fields.next(tag.integer).content, Uint8Array.of(0)) !== 0) throw new DerError('version is not v1');
  const subject = fields.next(tag.sequence).whole;
  const publicKey = fields.next(tag.sequence).whole;
  // Some clients omit the empty set, which RFC 2986 4.1 requires.
  const attributes = fields.optional(tag.constructed(0))?.content ?? new Uint8Array(0);
  fields.end();
  return { der, info: info.whole, subject, publicKey, attributes, proof: { algorithm, signature } };
}

function isSelfSigned({ info }: SignedParts, { algorithm, signature }: SelfSignature, key: CheckedKey): boolean {
  try {
    const how = findRequestSignature(algorithm, key);
    return how !== undefined && cleanly(() => holdsFor(key.keyObject, how, info, signature));
  } catch {
    return false;
  }
}

/** Limits on the subject (X.520 upper bounds are 64 for most attributes). */
const maxSubjectAttributes = 32;
const maxAttributeCharacters = 256;

function readContent(parts: SignedParts, key: CheckedKey, wishes: Wishes): RequestContent {
  const { extensions, challengePassword, changesSubject, decryptKey } = wishes;
  const subjectAttributes = readName(parts.subject);
  if (subjectAttributes.length > maxSubjectAttributes || subjectAttributes.some(({ value }) => value.length > maxAttributeCharacters)) {
    throw new DerError('subject too long');
  }
  const names = extensions.get(extensionId.subjectAltName);
  if (names !== undefined && !isDer(names.value)) throw new DerError('subjectAltName that is not DER');
  const alternativeNames = readAlternativeNames(names);
  return {
    der: parts.der,
    ...defined({ form: parts.form }),
    subject: parts.subject,
    subjectAttributes,
    subjectText: formatName(subjectAttributes),
    nameTexts: alternativeNames.map(formatAlternativeName),
    alternativeNames,
    publicKey: parts.publicKey,
    keyFamily: key.family,
    keyName: key.name,
    wantsServerAuth: readExtKeyUsage(extensions.get(extensionId.extKeyUsage))?.includes(keyPurpose.serverAuth) ?? false,
    challengePassword,
    changesSubject,
    decryptKey,
  };
}

/** Microsoft's name of extensionRequest (MS-WCCE 2.2.2.7.7.1), which its tools and some of Java write. */
const microsoftExtensions = '1.3.6.1.4.1.311.2.1.14';

type Attribute = { readonly values: Reader; readonly count: number };

const ofExtensions = (attributes: ReadonlyMap<string, Attribute>): readonly Attribute[] =>
  [requestAttribute.extensionRequest, microsoftExtensions].flatMap((type) => attributes.get(type) ?? []);

/** Counts the requests for extensions, under either name: a second value would be ignored silently. */
function extensionRequests(attributes: ReadonlyMap<string, Attribute>): number {
  return ofExtensions(attributes).reduce((sum, { count }) => sum + count, 0);
}

/** The extensions that are asked for. Throws DerError. */
function requestedExtensions(attributes: ReadonlyMap<string, Attribute>): ReadonlyMap<string, Extension> {
  const [requested] = ofExtensions(attributes);
  return requested === undefined ? new Map() : readExtensions(requested.values.next(tag.sequence).whole);
}

function decryptKeyIn(attributes: ReadonlyMap<string, Attribute>): DecryptKey | undefined {
  if (attributes.has(requestAttribute.decryptKeyIdentifier)) return 'symmetric';
  return attributes.get(requestAttribute.asymmetricDecryptKeyIdentifier)?.values.next(tag.octetString).content;
}

/** Values of each attribute, by type; an attribute given twice is refused. */
function readAttributes(content: Uint8Array): ReadonlyMap<string, Attribute> {
  const attributes = new Map<string, Attribute>();
  for (const { whole } of new Reader(content).rest()) {
    const fields = readOnly(whole, tag.sequence);
    const type = readObjectIdentifier(fields.next(tag.oid).content);
    if (attributes.has(type)) throw new DerError('attribute twice');
    const { content: values } = fields.next(tag.set);
    attributes.set(type, { values: new Reader(values), count: Array.from(new Reader(values).rest()).length });
    fields.end();
  }
  return attributes;
}

/** Any parse error means a malformed request; the answer does not echo it. */
export function refuseOn<T>(problem: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw failCa('invalid-csr', { detail: sentence(problem), cause });
  }
}

const refusal = (problem: string, cause?: NotProven) => failCa('invalid-csr', { detail: sentence(problem), ...defined({ cause }) });
const sentence = (problem: string): string => `The certification request ${problem}.`;
