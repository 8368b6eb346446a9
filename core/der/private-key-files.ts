// Files that people take for a private key, recognized by their first octets, so that a refusal can say what helps.
import { readOnly, tag } from './der.ts';

/** Tells whether DER is an EncryptedPrivateKeyInfo: a private key that is not encrypted begins with its version. */
export function isEncryptedPkcs8(der: Uint8Array): boolean {
  try {
    return readOnly(der, tag.sequence).next().tag === tag.sequence;
  } catch {
    return false;
  }
}

/** Advice on taking the private key out of a file that keeps certificates beside it, as a clause about the file; undefined for any other file. */
export function containerAdvice(octets: Uint8Array): string | undefined {
  const takeOut = (file: string): string =>
    `take the private key out of it ("openssl pkcs12 -in ${file} -nocerts -out key.pem", with -legacy for an old one), and import that with the passphrase that you give it`;
  if (isPkcs12(octets)) return `is a PKCS#12 file: ${takeOut('FILE')}`;
  if (startsWith(octets, 0xfe, 0xed, 0xfe, 0xed))
    return `is a key store of Java: make a PKCS#12 file of it ("keytool -importkeystore -srckeystore FILE -destkeystore new.p12 -deststoretype PKCS12"), and ${takeOut('new.p12')}`;
  return undefined;
}

/** A sequence that begins with version 3 and another sequence (RFC 7292 section 4), also in BER, of indefinite length. */
function isPkcs12(octets: Uint8Array): boolean {
  const [first, length = 0] = octets;
  const content = length > 0x80 ? 2 + (length & 0x7f) : 2;
  return first === tag.sequence && startsWith(octets.subarray(content), tag.integer, 1, 3, tag.sequence);
}

function startsWith(octets: Uint8Array, ...begin: readonly number[]): boolean {
  return begin.every((octet, at) => octets[at] === octet);
}
