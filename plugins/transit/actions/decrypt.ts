// Action decrypt.
import { z } from 'zod';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import { planDecryption } from '../versions/ciphertexts.ts';
import { requireContext } from '../versions/derivation.ts';
import { oaepFields, oaepSchemeOf, requireNoOaep } from '../formats/oaep.ts';
import { parseCiphertextOf, parseSealed, planOpening } from '../versions/sealing.ts';
import { foreignFields, planForeign } from '../foreign/decryption.ts';
import { requireDecrypting } from '../records/keyring.ts';
import { writePlaintext } from '../formats/payload.ts';
import type { Transit } from '../context.ts';
import {
  associatedDataField,
  base64EncodedField,
  contextFields,
  defineBatchAction,
  keyVersionField,
  keyVersionOutput,
  payloadField,
  valueField,
} from './action.ts';

/** POST …/decrypt */
export function decrypt(transit: Transit): AnyEndpoint[] {
  return defineBatchAction(transit, {
    action: 'decrypt',
    summary: 'Decrypt a ciphertext',
    description:
      'One answer for every reason why a ciphertext does not open: another key, another context, other associated data, or a change of it. A key for which others encrypt with its public key opens HPKE, JWE and age (`format`).',
    fields: {
      ciphertext: valueField(
        'What encrypt answered; for an RSA key also base64 of what was made with its public key; with `format` what that says.',
      ),
      base64Encoded: base64EncodedField,
      ...contextFields,
      associatedData: associatedDataField,
      keyVersion: keyVersionField.describe(
        'Of a key with public keys: version of a ciphertext made elsewhere, without store:v<N>:; default: the newest that is active. Otherwise that of the ciphertext.',
      ),
      ...oaepFields,
      ...foreignFields,
    },
    subject: 'ciphertext',
    secretInput: ['ciphertext', 'context', 'contextBase64', 'associatedData', 'label', 'info'],
    answer: z.object({ plaintext: payloadField('The plaintext'), keyVersion: keyVersionOutput }),
    secretOutput: ['plaintext'],
    commandLine: { output: 'plaintext' },
    auditFields: ['keyVersion', 'hashAlgorithm', 'mgf1Hash', 'format', 'kdf', 'aead'],
    errors: [
      'invalid-format',
      'operation-not-supported',
      'context-required',
      'context-not-allowed',
      'version-unknown',
      'version-not-allowed',
      'key-disabled',
      'decryption-failed',
      'plaintext-not-utf8',
    ],
    plan: (used, item) => {
      const cipher = requireDecrypting(used.key);
      const context = requireContext(used.key.record.derived, item);
      const answered = (keyVersion: number) => (plaintext: Uint8Array) => ({
        plaintext: writePlaintext(plaintext, item.base64Encoded),
        keyVersion,
      });
      const foreign = planForeign(used, cipher, item, answered);
      if (foreign !== undefined || cipher.kind === 'establishing') return foreign as NonNullable<typeof foreign>;
      if (cipher.kind === 'opening') {
        const scheme = oaepSchemeOf(item);
        const { version: number, sealed } = parseSealed(used, item.ciphertext, item.keyVersion);
        return planOpening(used, used.forDecryption(number), scheme, sealed, answered(number));
      }
      requireNoOaep(item);
      const { version: number, sealed } = parseCiphertextOf(used, item.ciphertext, item.keyVersion);
      const version = used.forDecryption(number);
      return planDecryption(used, version, cipher, sealed, { context, associatedData: item.associatedData }, answered(number));
    },
  });
}
