// The rules between the fields of a transit key: which go together, and which may change. Uses no token and no store.
import { defined } from '../../../core/base/defined.ts';
import { ranged } from '../../../core/base/texts/counted.ts';
import { telling } from '../../../core/http/response/telling.ts';
import { toldOfKey } from '../records/keyring.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { invalid } from '../../../core/base/texts/invalid.ts';
import { parseDuration } from '../../../core/base/time.ts';
import type { Hsm } from '../../../hsm/api.ts';
import { besideOf, type Cipher, isSymmetric, requireCipher, requireOffered } from '../ciphers.ts';
import type { KeyDocument } from './document.ts';
import { fail } from '../errors.ts';
import { microsecondsOf } from '../instants.ts';
import { parsePublicKey } from '../formats/public-keys.ts';
import type { AutoRotate, KeyRecord } from '../records/records.ts';
import type { Timers } from '../records/version-rules.ts';

/** The cipher of a document, which some token must offer unless the key only verifies. Throws unsupported-cipher. */
export function requireUsableCipher(document: KeyDocument, hsm: Hsm): Cipher {
  const cipher = requireCipher(document.cipher, document.use);
  if (document.publicKey === undefined) requireOffered(document.cipher, cipher, hsm);
  requireOwnNonces(document, hsm);
  return cipher;
}

/** Throws unsupported-cipher for convergent encryption where a token makes the IVs of AES-GCM itself. */
export function requireOwnNonces({ convergentEncryption }: Pick<KeyDocument, 'convergentEncryption'>, hsm: Hsm): void {
  if (!convergentEncryption || hsm.takesNonces()) return;
  const detail =
    'A token makes the IVs of AES-GCM itself, and convergent encryption derives them: make the key without convergent-encryption.';
  throw fail('unsupported-cipher', { detail });
}

/** Creation: checks flags against the cipher. Returns the public key (SPKI DER) of a verification-only key. */
export function requireCreatable(document: KeyDocument, cipher: Cipher): Uint8Array | undefined {
  if (document.derived && cipher.kind !== 'aead') throw invalid('derived', 'is for symmetric ciphers that encrypt');
  if (document.convergentEncryption && !document.derived) throw invalid('convergent-encryption', 'needs derived true');
  if (document.kdf !== undefined && !document.derived) throw invalid('kdf', 'needs derived true');
  requireOutlets(document, cipher);
  if (document.allowSharedSecret !== undefined && !(cipher.kind === 'establishing' && cipher.use === 'decapsulate'))
    throw invalid('allow-shared-secret', 'is for keys with use decapsulate');
  if (document.publicKey !== undefined && cipher.kind === 'establishing')
    throw invalid('public-key', 'is for keys that verify or encrypt here: to another public key its holder seals by itself');
  return document.publicKey === undefined ? undefined : parsePublicKey(document.publicKey, document.cipher, cipher);
}

/** Creation and change: throws invalid-value for a key that is to be published, or exported, in a form that keys of the cipher have not. */
export function requireOutlets({ publish, exportable }: Pick<KeyDocument, 'publish' | 'exportable'>, cipher: Cipher): void {
  if (publish && isSymmetric(cipher)) throw invalid('publish', 'is for keys with public keys: asymmetric ciphers only');
  if (besideOf(cipher) === undefined) return;
  if (publish) throw invalid('publish', 'is for keys that have a JWK, and those of mlkem768-x25519 have none');
  if (exportable)
    throw invalid('exportable', 'is for other ciphers: keys of mlkem768-x25519 are made as two, without the seed that others take');
}

/** Creation and change: checks minimum versions against the versions of the key. Throws invalid-value, version-trimmed. */
export function requireMinimumVersions(name: string, document: KeyDocument, current: KeyRecord | undefined): void {
  const { minEncryptionVersion, minDecryptionVersion } = document;
  const latest = current?.latest ?? 1;
  if (minEncryptionVersion > latest) throw invalid('min-encryption-version', `is above the latest version, ${latest}`);
  if (minDecryptionVersion > latest) throw invalid('min-decryption-version', `is above the latest version, ${latest}`);
  if (minEncryptionVersion !== 0 && minDecryptionVersion > minEncryptionVersion) {
    throw invalid('min-encryption-version', 'is below min-decryption-version: what it encrypts could not be decrypted');
  }
  if (current === undefined) return;
  requireNotTrimmed(name, 'min-encryption-version', minEncryptionVersion, current.minEncryptionVersion, current.floor);
  requireNotTrimmed(name, 'min-decryption-version', minDecryptionVersion, current.minDecryptionVersion, current.floor);
}

/** Creation and change: checks what disables a key against its versions and flags. Throws invalid-value, deletion-not-allowed. */
export function requireDisabling(document: KeyDocument, current: KeyRecord | undefined): void {
  const { deleteAfter, disabledVersions, deletionAllowed } = document;
  if (deleteAfter !== undefined && current === undefined) throw invalid('delete-after', 'is for a key that is there');
  if (deleteAfter !== undefined && !deletionAllowed)
    throw coreFail('deletion-not-allowed', { detail: 'Set deletion-allowed to true as well: "delete-after" deletes the key.' });
  if (new Set(disabledVersions).size < disabledVersions.length) throw invalid('disabled-versions', 'has a version twice');
  const { floor, latest } = current ?? { floor: 1, latest: 1 };
  const unknown = disabledVersions.find((version) => version < floor || version > latest);
  if (unknown !== undefined) throw invalid('disabled-versions', `has ${unknown}, and the key has ${ranged(floor, latest, 'version')}`);
}

/** The time of a `delete-after`, in seconds. */
export function deletionSecondsOf(deleteAfter: string): number {
  return parseDuration(deleteAfter, 'delete-after').seconds;
}

/** Reads the timers of an auto-rotate container; throws invalid-value if its durations contradict each other. */
export function timersOf(autoRotate: AutoRotate | undefined): Timers | undefined {
  if (autoRotate === undefined) return undefined;
  const rotate = microsOf(autoRotate.rotateAfter, 'rotate-after') as number;
  const activate = microsOf(autoRotate.activateAfter, 'activate-after') ?? 0;
  const deprecate = microsOf(autoRotate.deprecateAfter, 'deprecate-after');
  const invalidate = microsOf(autoRotate.invalidateAfter, 'invalidate-after');
  if (activate >= rotate) throw invalid('auto-rotate/activate-after', 'must be shorter than rotate-after');
  if (deprecate !== undefined && deprecate <= activate) throw invalid('auto-rotate/deprecate-after', 'must be longer than activate-after');
  if (invalidate !== undefined && invalidate <= activate)
    throw invalid('auto-rotate/invalidate-after', 'must be longer than activate-after');
  if (invalidate !== undefined && deprecate !== undefined && invalidate < deprecate) {
    throw invalid('auto-rotate/invalidate-after', 'must not be shorter than deprecate-after');
  }
  return { rotate, activate, ...defined({ deprecate, invalidate }) };
}

// An unchanged value is accepted: after a trim above a minimum version the document can still be written.
function requireNotTrimmed(name: string, field: string, wanted: number, present: number, floor: number): void {
  if (wanted === 0 || wanted === present || wanted >= floor) return;
  const unseen = `"${field}" ${wanted} was trimmed`;
  const seen = toldOfKey(name, ['oldest-version'], `${unseen}; the oldest version left is ${floor}.`);
  throw telling(fail('version-trimmed', { detail: `${unseen}.` }), seen);
}

function microsOf(text: string | undefined, field: string): number | undefined {
  return text === undefined ? undefined : microsecondsOf(parseDuration(text, `auto-rotate/${field}`).seconds);
}
