// Raw signatures of OpenPGP keys: a signature over what OpenPGP hashes is an OpenPGP signature. Made with a primary key it is a
// certification, of a subkey of the caller's own or of a User ID, in the name of this key; so `sign` does not make it.
import type { SignatureRequest } from '../../core/plugin/services/transit-keys.ts';
import { fail as failCore } from '../../core/base/errors.ts';
import { fail } from './errors.ts';
import { hasRole, type OpenpgpFields, type OpenpgpRecord } from './records.ts';

/**
 * Throws openpgp-sign-only for a key that has an OpenPGP role or had one (others still have its certificate), unless no OpenPGP signature
 * is made over such a text.
 */
export function requireNoOpenpgpInput(fields: OpenpgpFields, record: OpenpgpRecord | undefined, request: SignatureRequest): void {
  if (record === undefined && !hasRole(fields)) return;
  const { text, family, prehashed, isMadeHere } = request;
  if (prehashed) throw refused('It signs no finished hash');
  if (family === 'ed25519' && openpgpHashBytes.has(text.length))
    throw refused(`It signs no text of ${text.length} octets, the length of a hash: OpenPGP signs the hash as an Ed25519 message`);
  if (isOpenpgpHashInput(text)) throw refused('It signs no text that begins or ends as what OpenPGP hashes');
  // A hundredth of all texts in octets end so. A caller who may make OpenPGP signatures of documents gains nothing by it.
  // Nobody has chosen the end of a text that was made here: it would be a document that is its own DER, at a time that chance has named.
  if (family !== 'ed25519' && !isMadeHere && endsAsVersion3(text) && !request.allows(openpgpSign)) throw needsOpenpgpSign();
}

/** The action that makes OpenPGP signatures of documents. */
export const openpgpSign = 'openpgp-sign';

/**
 * Tells whether a text can be the hash input of a signature of version 3 of a document (RFC 4880 section 5.2.4): document ‖ type ‖ time,
 * 4 octets. Type 00 is a document in octets, 01 one in text, and 02 none at all.
 */
function endsAsVersion3(text: Uint8Array): boolean {
  const type = text.at(-5);
  return type === 0x00 || type === 0x01 || (type === 0x02 && text.length === 5);
}

/** Octets of the hash functions of OpenPGP (RFC 9580 section 9.5): MD5, SHA-1 and RIPEMD-160, SHA-224, SHA-256, SHA-384, SHA-512. */
const openpgpHashBytes: ReadonlySet<number> = new Set([16, 20, 28, 32, 48, 64]);

/**
 * Tells whether a text can be the hash input of an OpenPGP signature of version 4, 5 or 6, or of a certification of version 3 (RFC 9580
 * section 5.2.4, RFC 4880, LibrePGP). The former end in a trailer; certifications begin with the certifying key, in version 6 behind a
 * salt.
 */
export function isOpenpgpHashInput(text: Uint8Array): boolean {
  const view = new DataView(text.buffer, text.byteOffset, text.length);
  return endsInTrailer(view, 6) || endsInTrailer(view, 10) || beginsWithKey(view);
}

/** version ‖ FF ‖ length of the hashed part of the packet, 4 octets, or 8 in version 5. The hashed part is before it. */
function endsInTrailer(view: DataView, trailerOctets: 6 | 10): boolean {
  const at = view.byteLength - trailerOctets;
  if (at < 0 || view.getUint8(at + 1) !== 0xff || !isVersion(view.getUint8(at))) return false;
  if (trailerOctets === 10 && view.getUint32(at + 2) !== 0) return false;
  return view.getUint32(view.byteLength - 4) <= at;
}

/** 99 ‖ length(2), 9A or 9B ‖ length(4), then the body of the key, which begins with its version. */
function beginsWithKey(view: DataView): boolean {
  const lengthOctets = view.byteLength === 0 ? undefined : keyFrames.get(view.getUint8(0));
  if (lengthOctets === undefined || view.byteLength < 2 + lengthOctets) return false;
  const length = lengthOctets === 2 ? view.getUint16(1) : view.getUint32(1);
  return isVersion(view.getUint8(1 + lengthOctets)) && 1 + lengthOctets + length <= view.byteLength;
}

/** First octet to octets of the length. */
const keyFrames: ReadonlyMap<number, 2 | 4> = new Map([
  [0x99, 2],
  [0x9a, 4],
  [0x9b, 4],
]);

function isVersion(octet: number): boolean {
  return octet >= 2 && octet <= 6;
}

function needsOpenpgpSign(): Error {
  const detail =
    'The key is known as an OpenPGP key, and a text that ends in the octet 00 or 01 and four more is what an OpenPGP signature of version 3 ' +
    `is made over. The policies of tenant and token must also allow "execute" on the path of ${openpgpSign} for it.`;
  return failCore('policy-denied', { detail });
}

function refused(what: string): Error {
  return fail('openpgp-sign-only', { detail: `The key is known as an OpenPGP key. ${what}; use openpgp-sign.` });
}
