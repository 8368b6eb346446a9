// Key derivation from a caller's context, and the nonce of convergent encryption.
import { concat, encodeUtf8, uint32 } from '../../../core/base/bytes.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import type { Hsm, KeyReference } from '../../../hsm/api.ts';
import { fail } from '../errors.ts';

/** PBKDF2 iterations of new keys, kept in the key record. The secret is uniform, so more iterations add cost but no strength. */
export const derivationIterations = 10_000;

/** Octets of the salt of a derived key. */
export const derivationSaltBytes = 16;

/** Octets of the longest context. */
export const maxContextBytes = 4_096;
const nonceBytes = 12;

/** A context as a request has it: as text, which is taken as UTF-8, or as octets. */
export type GivenContext = { readonly context?: string | undefined; readonly contextBase64?: Uint8Array | undefined };

/**
 * The context of a request as octets: undefined on a plain key. 1 to 4,096 octets.
 * Throws context-required, context-not-allowed, invalid-value.
 */
export function requireContext(derived: boolean, { context, contextBase64 }: GivenContext): Uint8Array | undefined {
  if (!derived) {
    if (context === undefined && contextBase64 === undefined) return undefined;
    throw fail('context-not-allowed', { detail: 'A context is for keys with derived true; this key is not.' });
  }
  if (context !== undefined && contextBase64 !== undefined)
    throw coreFail('invalid-value', {
      detail: 'Give the context once: as text in "context", or as octets in "context-base64".',
      items: [{ message: 'is given in place of context', info: 'context-base64' }],
    });
  if (contextBase64 !== undefined) return contextBase64;
  if (context === undefined || context === '') throw fail('context-required', { detail: 'The key is derived: give the context.' });
  const octets = encodeUtf8(context);
  if (octets.length <= maxContextBytes) return octets;
  throw coreFail('invalid-value', {
    detail: `"context" must be 1 to ${maxContextBytes} octets of UTF-8.`,
    items: [{ message: 'too long', info: 'context' }],
  });
}

/**
 * The nonce of convergent encryption: the first 12 octets of HMAC-SHA-256, under the version's own secret, over
 * length(context, 4) ‖ context ‖ length(associated data, 4) ‖ associated data ‖ plaintext. Must never change: equal inputs give
 * equal ciphertexts. Associated data is in it because GCM loses its authentication key when one nonce seals twice with
 * different associated data (NIST SP 800-38D section 8.3 and appendix A).
 */
export async function convergentNonce(
  hsm: Hsm,
  secret: KeyReference,
  context: Uint8Array,
  associatedData: Uint8Array | undefined,
  plaintext: Uint8Array,
): Promise<Uint8Array> {
  const data = associatedData ?? new Uint8Array();
  const mac = await hsm.hmac(secret, 'sha256', concat(uint32(context.length), context, uint32(data.length), data, plaintext));
  return mac.subarray(0, nonceBytes);
}
