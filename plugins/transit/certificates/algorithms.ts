// Signature algorithms of X.509 for the signatures of transit keys, as AlgorithmIdentifier.
import { pssIdentifier } from '../../../core/cms/pss.ts';
import { nullValue, objectIdentifier, sequence } from '../../../core/der/der.ts';
import type { HashName, SigningKeyType } from '../../../hsm/api.ts';
import type { SigningCipher } from '../ciphers.ts';
import type { SignatureMethod } from '../formats/signatures.ts';

/** RFC 5758, RFC 4055 section 5. */
const ecdsa: Readonly<Record<HashName, string>> = {
  sha256: '1.2.840.10045.4.3.2',
  sha384: '1.2.840.10045.4.3.3',
  sha512: '1.2.840.10045.4.3.4',
};
const rsa: Readonly<Record<HashName, string>> = {
  sha256: '1.2.840.113549.1.1.11',
  sha384: '1.2.840.113549.1.1.12',
  sha512: '1.2.840.113549.1.1.13',
};
/** RFC 8410, RFC 9881. */
const wholeMessage: Partial<Readonly<Record<SigningKeyType, string>>> = {
  ed25519: '1.3.101.112',
  'ml-dsa-44': '2.16.840.1.101.3.4.3.17',
  'ml-dsa-65': '2.16.840.1.101.3.4.3.18',
  'ml-dsa-87': '2.16.840.1.101.3.4.3.19',
};

/** AlgorithmIdentifier of signatures by this method. */
export function signatureIdentifier({ keyType }: SigningCipher, method: SignatureMethod): Uint8Array {
  if (method.family === 'ecdsa') return sequence(objectIdentifier(ecdsa[method.hash]));
  if (method.family === 'rsa') return method.pss ? pssIdentifier(method.hash) : sequence(objectIdentifier(rsa[method.hash]), nullValue);
  return sequence(objectIdentifier(wholeMessage[keyType] as string));
}
