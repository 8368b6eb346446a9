// Actions encapsulate and decapsulate: ML-KEM (FIPS 203) or X-Wing by itself, the former with the public key, the latter in the token.
import { encapsulate as encapsulateOutside } from 'node:crypto';
import { z } from 'zod';
import { encodeBase64 } from '../../../../core/base/bytes.ts';
import type { AnyEndpoint } from '../../../../core/http/endpoint.ts';
import { keyUses } from '../../../../hsm/api.ts';
import { besideOf, cipherOf, type EstablishingCipher } from '../../ciphers.ts';
import type { Transit } from '../../context.ts';
import { fail } from '../../errors.ts';
import { keyObjectOf } from '../../formats/public-keys.ts';
import { formatValue } from '../../formats/value-format.ts';
import { encapsulateXWing, xWingCiphertextBytes } from '../../formats/x-wing.ts';
import { useOfBoth } from '../../foreign/decryption.ts';
import type { Key } from '../../records/keyring.ts';
import { UsedKey } from '../../uses/used-key.ts';
import { parseSealed } from '../../versions/sealing.ts';
import { defineBatchAction, defineKeyAction, keyVersionField, keyVersionOutput, valueField } from '../action.ts';

const sharedSecret = z.string().meta({ description: 'The shared secret, 32 octets.', contentEncoding: 'base64' });
const inputSchema = z.object({ keyVersion: keyVersionField });
const outputSchema = z.object({
  sharedSecret,
  ciphertext: valueField('The secret, encapsulated; behind store:vN: it is what FIPS 203, or the draft of X-Wing, calls so, in base64.'),
  keyVersion: keyVersionOutput,
});

/** POST …/encapsulate */
export function encapsulate(transit: Transit): AnyEndpoint {
  return defineKeyAction<z.output<typeof inputSchema>, z.output<typeof outputSchema>>(transit, 'encapsulate', {
    summary: 'Encapsulate a shared secret',
    description:
      'For a key with `use` decapsulate (ML-KEM, X-Wing): a new secret, and its ciphertext for a caller who may decapsulate it. Made with the public key alone, as everybody can who has it.',
    idempotent: true,
    whileIsolated: true,
    audit: 'required',
    act: 'none',
    input: inputSchema,
    output: outputSchema,
    secretInput: [],
    secretOutput: ['sharedSecret'],
    commandLine: { output: 'ciphertext' },
    auditFields: ['keyVersion'],
    errors: ['operation-not-supported', 'version-unknown', 'version-not-allowed', 'key-disabled'],
    run: async (call, { keyVersion }, key) => {
      const isHybrid = besideOf(requireKem(key)) !== undefined;
      const used = new UsedKey(transit, key, call);
      const version = used.forEncryption(keyVersion);
      await transit.usage.take(key, version, 1, used.now);
      const made = isHybrid ? encapsulateXWing(version.record) : encapsulateOutside(keyObjectOf(version.record.publicKey as Uint8Array));
      const secret = encodeBase64(made.sharedKey);
      made.sharedKey.fill(0);
      call.noteAudit({ keyVersion: version.number });
      const ciphertext = formatValue('value', version.number, encodeBase64(made.ciphertext));
      return { sharedSecret: secret, ciphertext, keyVersion: version.number };
    },
  });
}

/** POST …/decapsulate */
export function decapsulate(transit: Transit): AnyEndpoint[] {
  return defineBatchAction(transit, {
    action: 'decapsulate',
    summary: 'Decapsulate a shared secret',
    description:
      'Answers the shared secret itself, of a key with `use` decapsulate (ML-KEM, X-Wing) that was made with `allow-shared-secret`. A ciphertext that nobody made with the public key gives a pseudo-random secret, and no error: what the secret protects then does not open. The point of low order in one of X-Wing is decryption-failed. decrypt opens HPKE without showing a secret.',
    fields: {
      ciphertext: valueField('What encapsulate answered, or base64 of what was made with the public key.'),
      keyVersion: keyVersionField.describe(
        'Version of a ciphertext made elsewhere, without store:v<N>:; default: the newest that is active. Otherwise that of the ciphertext.',
      ),
    },
    subject: 'ciphertext',
    secretInput: ['ciphertext'],
    answer: z.object({ sharedSecret, keyVersion: keyVersionOutput }),
    secretOutput: ['sharedSecret'],
    commandLine: { output: 'sharedSecret' },
    auditFields: ['keyVersion'],
    errors: ['invalid-format', 'operation-not-supported', 'version-unknown', 'version-not-allowed', 'key-disabled', 'decryption-failed'],
    plan: (used, item) => {
      const cipher = requireKem(used.key);
      if (used.key.record.allowSharedSecret !== true)
        throw fail('operation-not-supported', {
          detail:
            'The key was made without allow-shared-secret, so no secret of it comes out: decrypt with format hpke opens what others seal to it.',
        });
      const { version: number, sealed } = parseSealed(used, item.ciphertext, item.keyVersion);
      requireLength(cipher, sealed);
      const version = used.forDecryption(number);
      const answer = (secret: Uint8Array): { sharedSecret: string; keyVersion: number } => ({
        sharedSecret: encodeBase64(secret),
        keyVersion: version.number,
      });
      if (besideOf(cipher) !== undefined) return { ...useOfBoth(used, version, sealed, answer), counts: undefined };
      const use = { use: 'decapsulate', key: used.reference(version, 'decapsulate'), octets: sealed } as const;
      return { version, counts: undefined, use, answer };
    },
  });
}

type KemCipher = Extract<EstablishingCipher, { readonly use: 'decapsulate' }>;

function requireKem(key: Key): KemCipher {
  const cipher = cipherOf(key.record);
  if (cipher.kind === 'establishing' && cipher.use === 'decapsulate') return cipher;
  const detail = 'This key encapsulates nothing: its cipher is not ml-kem-768, ml-kem-1024 or mlkem768-x25519.';
  throw fail('operation-not-supported', { detail });
}

/** Throws invalid-format for another length, which everybody can see: the token is not asked about it. */
function requireLength(cipher: KemCipher, { length }: Uint8Array): void {
  const isHybrid = besideOf(cipher) !== undefined;
  const [name, bytes] = isHybrid ? ['X-Wing', xWingCiphertextBytes] : [cipher.keyType, keyUses[cipher.keyType].ciphertextBytes];
  if (length === bytes) return;
  throw fail('invalid-format', { detail: `"ciphertext" has ${length} octets; a ciphertext of ${name} has ${bytes}.` });
}
