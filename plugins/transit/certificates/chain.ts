// Certificates of a version of a key, its own first: read from PEM, and checked against the key and against each other.
import { X509Certificate } from 'node:crypto';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { certificateLabels, formatPem, readDer, readPem, seenInPem } from '../../../core/base/texts/pem.ts';
import { DerError } from '../../../core/der/der.ts';
import { contentType } from '../../../core/der/oids.ts';
import { findKeyProblem } from '../../../core/tls/certificates.ts';
import { fail } from '../errors.ts';
import { isSameKey } from '../formats/rsa-pss.ts';

/** A certificate, the longest path above it, and its root. */
const mostCertificates = 8;
/** RFC 7468 section 8, and as OpenSSL and Windows write it. */
const bundleLabels: readonly string[] = ['PKCS7', 'CMS'];
/** Longest chain in PEM: certificates with keys and signatures of ML-DSA-87 have 10 KiB each. */
export const maxChainCharacters = 64 * 1024;
/** The same in octets, however the chain came: it is in every state of the key and in every CMS signature. */
const mostChainBytes = (maxChainCharacters * 3) / 4;

/** Reads a chain in PEM, or PKCS #7, as certificates in DER, that of this public key first. Throws invalid-certificate-chain. */
export async function readChain(pem: string, publicKey: Uint8Array): Promise<readonly Uint8Array[]> {
  const bundle = readPem(pem).find(({ label }) => bundleLabels.includes(label));
  if (bundle?.der !== undefined) return chainOf(publicKey, await readBundle(bundle.der));
  const chain = readDer(pem, ...certificateLabels);
  if (chain !== undefined) return chain;
  throw unusable(`"certificate-chain" must be certificates in PEM, or PKCS #7 in PEM; this is ${seenInPem(pem)}.`);
}

/** Throws invalid-certificate-chain unless the first certificate is of this public key, and each one was issued by the next. */
export function requireChainOf(publicKey: Uint8Array, chain: readonly Uint8Array[]): void {
  if (chain.length > mostCertificates) throw unusable(`The chain has more than ${mostCertificates} certificates.`);
  const bytes = chain.reduce((sum, der) => sum + der.length, 0);
  if (bytes > mostChainBytes) throw unusable(`The chain has ${bytes} octets; ${mostChainBytes} are the most.`);
  const certificates = chain.map((der, at) => readCertificate(der, at + 1));
  const [own, ...above] = certificates;
  if (own === undefined || !isSameKey(spkiOf(own), publicKey))
    throw unusable('The first certificate is for another key than that of this version: put the one of the key first.');
  above.forEach((issuer, index) => {
    const issued = certificates[index] as X509Certificate;
    const holds = cleanly(() => issuer.ca && issued.checkIssued(issuer) && issued.verify(issuer.publicKey));
    if (!holds) throw unusable(`Certificate ${index + 2} has not issued the one before it: each must be followed by that of its CA.`);
  });
}

/** The path from the certificate of the key upwards, of certificates in any order; what is not on it is left out. */
function chainOf(publicKey: Uint8Array, bundle: readonly Uint8Array[]): readonly Uint8Array[] {
  if (bundle.length > mostCertificates) throw unusable(`The message has more than ${mostCertificates} certificates.`);
  let left = bundle.map((der, at) => ({ der, read: readCertificate(der, at + 1) }));
  const path: Uint8Array[] = [];
  for (let next = left.find(({ read }) => isSameKey(spkiOf(read), publicKey)); next !== undefined;) {
    const present = next;
    path.push(present.der);
    // The same certificate may be there more than once.
    left = left.filter(({ der }) => Buffer.compare(der, present.der) !== 0);
    next = left.find(({ read }) => cleanly(() => present.read.checkIssued(read)));
  }
  return path;
}

/** The certificates of a certs-only message (RFC 5652 section 5), in which CAs of Microsoft and EST hand them out. */
async function readBundle(der: Uint8Array): Promise<readonly Uint8Array[]> {
  const pkijs = await import('pkijs');
  try {
    const { contentType: type, content } = pkijs.ContentInfo.fromBER(Uint8Array.from(der));
    if (type !== contentType.signedData) throw new Error('another type');
    const { certificates = [] } = new pkijs.SignedData({ schema: content });
    const plain = certificates.filter((one) => one instanceof pkijs.Certificate);
    return plain.map((one) => new Uint8Array(one.toSchema().toBER()));
  } catch {
    throw unusable('The PKCS #7 message cannot be read: it must be SignedData with certificates (RFC 5652).');
  }
}

/** A chain in PEM. */
export function formatChain(chain: readonly Uint8Array[]): string {
  return chain.map((der) => formatPem('CERTIFICATE', der)).join('');
}

function spkiOf({ publicKey }: X509Certificate): Uint8Array {
  return new Uint8Array(cleanly(() => publicKey.export({ type: 'spki', format: 'der' })));
}

/** Judges the key first: of some keys, OpenSSL takes long to read a single one. */
function readCertificate(der: Uint8Array, place: number): X509Certificate {
  let problem: string | undefined;
  try {
    problem = findKeyProblem(der);
    if (problem === undefined) {
      const certificate = cleanly(() => new X509Certificate(der));
      spkiOf(certificate);
      return certificate;
    }
  } catch (error) {
    problem = error instanceof DerError ? 'it is not DER' : 'it cannot be read';
  }
  throw unusable(`Certificate ${place} of the chain was refused: ${problem}.`);
}

function unusable(detail: string): Error {
  return fail('invalid-certificate-chain', { detail });
}
