// Action decrypt (spec; api 28, 29, 35, 45).
import { z } from 'zod';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import { parseCiphertext, planDecryption } from '../versions/ciphertexts.ts';
import { requireContext } from '../versions/derivation.ts';
import { requireAead } from '../records/keyring.ts';
import { writePlaintext } from '../formats/payload.ts';
import type { Transit } from '../context.ts';
import {
  associatedDataField,
  base64EncodedField,
  contextField,
  defineBatchAction,
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
      'One answer for every reason why a ciphertext does not open: another key, another context, other associated data, or a change of it.',
    fields: {
      ciphertext: valueField('What encrypt answered.'),
      base64Encoded: base64EncodedField,
      context: contextField,
      associatedData: associatedDataField,
    },
    subject: 'ciphertext',
    secretInput: ['ciphertext', 'context', 'associatedData'],
    answer: z.object({ plaintext: payloadField('The plaintext'), keyVersion: keyVersionOutput }),
    secretOutput: ['plaintext'],
    commandLine: { output: 'plaintext' },
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
      const cipher = requireAead(used.key);
      const context = requireContext(used.key.record.derived, item.context);
      const { version: number, sealed } = parseCiphertext(item.ciphertext, used.decode);
      const version = used.forDecryption(number);
      return planDecryption(used, version, cipher, sealed, { context, associatedData: item.associatedData }, (plaintext) => ({
        plaintext: writePlaintext(plaintext, item.base64Encoded),
        keyVersion: number,
      }));
    },
  });
}
