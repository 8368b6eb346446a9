// OCSP of CAs elsewhere (RFC 6960, nonces of RFC 9654): questions about certificates, and answers that the CA or a responder of its own has signed,
// judged strictly. One that is not understood counts for nothing, so that the certificate is refused.
import { hash, randomBytes, X509Certificate } from 'node:crypto';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import {
  explicit,
  integer,
  nullValue,
  objectIdentifier,
  octetString,
  Reader,
  readBitString,
  readObjectIdentifier,
  readOnly,
  sequence,
  tag,
} from '../../../core/der/der.ts';
import { accessMethod, extensionId, keyPurpose, ocspId } from '../../../core/der/oids.ts';
import type { RevocationQuestion } from '../../../core/plugin/services/revocation-question.ts';
import { findRequestSignature, holdsFor } from '../authority/algorithms.ts';
import { type Certificate, type Extension, isLive, readCertificate, readExtensions, readTime } from '../der/certificate.ts';
import { keyUsageBit, ocspNonce } from '../der/extensions.ts';
import { bitStringOfPublicKey, checkKey } from '../der/public-key.ts';
import { readExtKeyUsage, readGeneralName, readKeyUsage } from '../der/read-extensions.ts';
import { type CertificatePath, hasUnknownCritical, hasWeakSignature } from '../issuing/chain.ts';

/** An answer about one certificate whose signature verifies. */
export type ForeignAnswer = {
  readonly isRevoked: boolean;
  readonly thisUpdate: Temporal.Instant;
  readonly nextUpdate: Temporal.Instant;
  /** that of a responder which the CA has certified for it; absent where the CA itself has signed */
  readonly responder?: Certificate;
};

/** Largest lead of the clock of a responder. */
const skewSeconds = 300;
/** Life of an answer without nextUpdate, whose responder could give a newer one at any time (RFC 6960 4.2.2.1). */
const unlimitedSeconds = 900;
/** Certificates in an answer that are looked at. */
const mostCertificates = 4;
const nonceOctets = 32;

/** A question for each certificate of a path below its anchor. */
export function questionsOf(path: CertificatePath, now: () => Temporal.Instant): readonly RevocationQuestion[] {
  return path.slice(1).flatMap((issuer, index) => {
    const subject = path[index];
    return subject === undefined ? [] : [questionOf(subject, issuer, now)];
  });
}

function questionOf(subject: Certificate, issuer: Certificate, now: () => Temporal.Instant): RevocationQuestion {
  const certId = certIdOf(subject, issuer);
  return {
    id: hash('sha256', Buffer.concat([issuer.der, certId]), 'base64url'),
    issuer: hash('sha256', issuer.der, 'base64url'),
    urls: responderUrlsIn(subject.extensions.get(extensionId.authorityInfoAccess)),
    ask() {
      const nonce = randomBytes(nonceOctets);
      const tbs = sequence(sequence(sequence(certId)), explicit(2, sequence(ocspNonce(nonce))));
      return {
        request: sequence(tbs),
        findProblem(response) {
          const answer = readForeignAnswer(response, subject, issuer);
          if (answer === undefined)
            return unsignedStatus(response) ?? 'the answer is not one about the certificate that its CA, or a responder of it, has signed';
          if (!isCurrent(answer, now())) return 'the answer is not current';
          const given = nonceIn(response);
          return given === undefined || Buffer.compare(given, nonce) === 0 ? undefined : 'the answer is to another question';
        },
      };
    },
  };
}

/** Reads an answer about a certificate; undefined unless it says good or revoked, and the CA or a responder that it has certified has signed it. */
export function readForeignAnswer(der: Uint8Array, subject: Certificate, issuer: Certificate): ForeignAnswer | undefined {
  const key = hash('sha256', Buffer.concat([hash('sha256', der, 'buffer'), issuer.der, Buffer.from(subject.serial)]), 'hex');
  if (read.has(key)) return read.get(key);
  const [oldest] = read.keys();
  if (read.size >= mostRead && oldest !== undefined) read.delete(oldest);
  let answer: ForeignAnswer | undefined;
  try {
    answer = cleanly(() => parse(der, subject, issuer));
  } catch {
    answer = undefined;
  }
  read.set(key, answer);
  return answer;
}

/** Answers that were read, by their digest: verifying one costs more than a login. */
const read = new Map<string, ForeignAnswer | undefined>();
const mostRead = 1_024;

/** Tells whether an answer counts now. */
export function isCurrent({ thisUpdate, nextUpdate, responder }: ForeignAnswer, now: Temporal.Instant): boolean {
  const ahead = now.add({ seconds: skewSeconds });
  if (Temporal.Instant.compare(thisUpdate, ahead) > 0 || Temporal.Instant.compare(now, nextUpdate) > 0) return false;
  return responder === undefined || isLive(responder, now);
}

/** CertID (RFC 6960 4.1.1) with SHA-1, which names and protects nothing, and which every responder knows (RFC 5019 2.1.1). */
function certIdOf(subject: Certificate, issuer: Certificate): Uint8Array {
  return sequence(
    sequence(objectIdentifier(sha1), nullValue),
    octetString(digest('sha1', issuer.subject)),
    octetString(digest('sha1', bitStringOfPublicKey(issuer.publicKey))),
    integer(Buffer.from(subject.serial, 'hex')),
  );
}

const sha1 = '1.3.14.3.2.26';
const hashes: ReadonlyMap<string, string> = new Map([
  [sha1, 'sha1'],
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);

function parse(der: Uint8Array, subject: Certificate, issuer: Certificate): ForeignAnswer | undefined {
  const basic = basicIn(der);
  if (basic === undefined) return undefined;
  const signer = signerOf(basic, issuer);
  if (signer === undefined) return undefined;
  const key = checkKey(signer.publicKey);
  if ('problem' in key) return undefined;
  const made = findRequestSignature(basic.algorithm, key);
  if (made === undefined || !holdsFor(key.keyObject, made, basic.tbs, basic.signature)) return undefined;
  if (hasCritical(basic.extensions)) return undefined;
  const [answer, ...more] = basic.singles.flatMap((single) => statusIn(single, subject, issuer));
  if (answer === undefined || more.length > 0) return undefined;
  return signer === issuer ? answer : { ...answer, responder: signer };
}

type Basic = {
  readonly tbs: Uint8Array;
  readonly algorithm: Uint8Array;
  readonly signature: Uint8Array;
  readonly certificates: readonly Uint8Array[];
  /** content of ResponderID, with its tag: `[1]` a name, `[2]` the SHA-1 of a key */
  readonly responder: { readonly tag: number; readonly content: Uint8Array };
  readonly singles: readonly Uint8Array[];
  readonly extensions: Uint8Array | undefined;
};

/** The BasicOCSPResponse of a successful answer (RFC 6960 4.2.1); undefined for another one. Throws DerError. */
function basicIn(der: Uint8Array): Basic | undefined {
  const outer = readOnly(der, tag.sequence);
  const [status, ...moreStatus] = outer.next(tag.enumerated).content;
  const bytes = outer.optional(tag.constructed(0));
  outer.end();
  if (status !== 0 || moreStatus.length > 0 || bytes === undefined) return undefined;
  const typed = readOnly(bytes.content, tag.sequence);
  if (readObjectIdentifier(typed.next(tag.oid).content) !== ocspId.basic) return undefined;
  const fields = readOnly(typed.next(tag.octetString).content, tag.sequence);
  typed.end();
  const tbs = fields.next(tag.sequence);
  const algorithm = fields.next(tag.sequence).whole;
  const signature = readBitString(fields.next(tag.bitString).content);
  const certificates = fields.optional(tag.constructed(0));
  fields.end();
  const data = new Reader(tbs.content);
  // Version 1 is the default, which DER leaves out and some write.
  const version = data.optional(tag.constructed(0))?.content;
  if (version !== undefined && Buffer.compare(version, integer(0)) !== 0) return undefined;
  const responder = data.next();
  readTime(data.next(tag.generalizedTime));
  const singles = Array.from(data.enter(tag.sequence).rest(), ({ whole }) => whole);
  const extensions = data.optional(tag.constructed(1))?.content;
  data.end();
  return {
    ...{ tbs: tbs.whole, algorithm, signature, responder, singles, extensions },
    certificates: certificates === undefined ? [] : Array.from(readOnly(certificates.content, tag.sequence).rest(), ({ whole }) => whole),
  };
}

/** The CA itself, or a responder with a certificate of its own that this CA has issued for it (RFC 6960 4.2.2.2). */
function signerOf({ responder, certificates }: Basic, issuer: Certificate): Certificate | undefined {
  if (isNamed(responder, issuer)) return issuer;
  return certificates
    .slice(0, mostCertificates)
    .flatMap((der) => delegateIn(der, issuer))
    .find((one) => isNamed(responder, one));
}

function isNamed({ tag: kind, content }: Basic['responder'], { subject, publicKey }: Certificate): boolean {
  if (kind === tag.constructed(1)) return Buffer.compare(content, subject) === 0;
  if (kind !== tag.constructed(2)) return false;
  return Buffer.compare(readOnly(content, tag.octetString).remaining, digest('sha1', bitStringOfPublicKey(publicKey))) === 0;
}

function delegateIn(der: Uint8Array, issuer: Certificate): readonly Certificate[] {
  try {
    const certificate = readCertificate(Uint8Array.from(der));
    const { extensions } = certificate;
    const [x509, above] = [new X509Certificate(der), new X509Certificate(issuer.der)];
    const isDelegate =
      readExtKeyUsage(extensions.get(extensionId.extKeyUsage))?.includes(keyPurpose.ocspSigning) === true &&
      readKeyUsage(extensions.get(extensionId.keyUsage), keyUsageBit.digitalSignature) !== false &&
      !hasUnknownCritical(certificate) &&
      Buffer.compare(certificate.issuer, issuer.subject) === 0 &&
      !hasWeakSignature(x509) &&
      x509.checkIssued(above) &&
      x509.verify(above.publicKey);
    return isDelegate ? [certificate] : [];
  } catch {
    return [];
  }
}

/** The status in a SingleResponse about the certificate; none for one about another, an unknown one, or with critical extensions. */
function statusIn(der: Uint8Array, subject: Certificate, issuer: Certificate): readonly Omit<ForeignAnswer, 'responder'>[] {
  const fields = readOnly(der, tag.sequence);
  const certId = fields.enter(tag.sequence);
  const hashName = hashes.get(readObjectIdentifier(certId.enter(tag.sequence).next(tag.oid).content));
  const [nameHash, keyHash] = [certId.next(tag.octetString).content, certId.next(tag.octetString).content];
  const serial = Buffer.from(certId.next(tag.integer).content).toString('hex');
  certId.end();
  const status = fields.next();
  const thisUpdate = readTime(fields.next(tag.generalizedTime));
  const next = fields.optional(tag.constructed(0));
  const extensions = fields.optional(tag.constructed(1));
  fields.end();
  if (hashName === undefined || serial !== subject.serial) return [];
  if (Buffer.compare(nameHash, digest(hashName, issuer.subject)) !== 0) return [];
  if (Buffer.compare(keyHash, digest(hashName, bitStringOfPublicKey(issuer.publicKey))) !== 0) return [];
  if (hasCritical(extensions?.content)) return [];
  const nextUpdate =
    next === undefined ? thisUpdate.add({ seconds: unlimitedSeconds }) : readTime(new Reader(next.content).next(tag.generalizedTime));
  const isGood = status.tag === tag.primitive(0) && status.content.length === 0;
  return isGood || status.tag === tag.constructed(1) ? [{ isRevoked: !isGood, thisUpdate, nextUpdate }] : [];
}

/** The name of a status without a signature (RFC 6960 4.2.1), for people. */
function unsignedStatus(der: Uint8Array): string | undefined {
  try {
    const [status = 0] = readOnly(der, tag.sequence).next(tag.enumerated).content;
    return statuses[status] && `the answer is ${statuses[status]}`;
  } catch {
    return undefined;
  }
}

const statuses: Readonly<Record<number, string>> = {
  ...{ 1: 'malformedRequest', 2: 'internalError', 3: 'tryLater', 5: 'sigRequired', 6: 'unauthorized' },
};

function nonceIn(der: Uint8Array): Uint8Array | undefined {
  const extensions = basicIn(der)?.extensions;
  const nonce = extensions === undefined ? undefined : readExtensions(extensions).get(ocspId.nonce);
  return nonce === undefined ? undefined : readOnly(nonce.value, tag.octetString).remaining;
}

function hasCritical(extensions: Uint8Array | undefined): boolean {
  return extensions !== undefined && [...readExtensions(extensions).values()].some(({ critical }) => critical);
}

/** URLs of responders in authorityInfoAccess (RFC 5280 4.2.2.1), as far as they can be asked. */
function responderUrlsIn(extension: Extension | undefined): readonly string[] {
  if (extension === undefined) return [];
  try {
    return Array.from(readOnly(extension.value, tag.sequence).rest()).flatMap(({ whole }) => {
      const description = readOnly(whole, tag.sequence);
      if (readObjectIdentifier(description.next(tag.oid).content) !== accessMethod.ocsp) return [];
      const { kind, content } = readGeneralName(description.next());
      const text = Buffer.from(content).toString('latin1');
      const url = kind === 'uri' && URL.canParse(text) ? new URL(text) : undefined;
      const isAskable = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
      return isAskable ? [text] : [];
    });
  } catch {
    return [];
  }
}

function digest(name: string, octets: Uint8Array): Uint8Array {
  return hash(name, octets, 'buffer');
}
