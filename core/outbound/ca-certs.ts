// Check of the CAs that a service's settings trust for its provider.
import { X509Certificate } from 'node:crypto';
import { cleanly } from '../base/public-keys/openssl.ts';
import { findPublicKeyProblem, hasMadeUpCurve } from '../base/public-keys/public-key.ts';
import { isCertificateLabel, readPem, seenInPem } from '../base/texts/pem.ts';

/**
 * Returns the rule that a text of certificates breaks, to follow the name of its field; undefined if all of it can be used. Node ignores text that
 * is not a certificate and would trust no CA, so the text is checked when it is written.
 */
export function findCaCertsProblem(text: string): string | undefined {
  if (areCertificates(text)) return undefined;
  return `must be one or more X.509 certificates in PEM, with keys that are not weak; this is ${seenInPem(text)}`;
}

function areCertificates(text: string): boolean {
  const blocks = readPem(text);
  if (
    blocks.length === 0 ||
    !blocks.every(({ label }) => isCertificateLabel(label)) ||
    text.split('-----BEGIN ').length > blocks.length + 1
  )
    return false;
  try {
    return cleanly(() =>
      blocks.every(
        ({ der = new Uint8Array(0) }) =>
          !hasMadeUpCurve(der) && findPublicKeyProblem(new X509Certificate(der).publicKey, 'verify') === undefined,
      ),
    );
  } catch {
    return false;
  }
}
