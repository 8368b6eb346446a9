// Action encrypt (spec; api 28, 31, 35, 45).
import { z } from 'zod';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import { makeCiphertext } from '../versions/ciphertexts.ts';
import { requireContext } from '../versions/derivation.ts';
import { microseconds } from '../instants.ts';
import { requireAead } from '../records/keyring.ts';
import { readPlaintext } from '../formats/payload.ts';
import type { Transit } from '../context.ts';
import {
  associatedDataField,
  base64EncodedField,
  contextField,
  defineBatchAction,
  keyVersionField,
  keyVersionOutput,
  payloadField,
  valueField,
} from './action.ts';

/** POST …/encrypt */
export function encrypt(transit: Transit): AnyEndpoint[] {
  return defineBatchAction(transit, {
    action: 'encrypt',
    summary: 'Encrypt a plaintext of up to 2 MiB',
    description:
      'The ciphertext names the version of the key, and decrypt finds it by that. A derived key needs `context`. A policy may allow encryption without decryption.',
    fields: {
      plaintext: payloadField('What to encrypt'),
      base64Encoded: base64EncodedField,
      context: contextField,
      associatedData: associatedDataField,
      keyVersion: keyVersionField,
    },
    subject: 'plaintext',
    secretInput: ['plaintext', 'context', 'associatedData'],
    answer: z.object({ ciphertext: valueField('The ciphertext.'), keyVersion: keyVersionOutput }),
    secretOutput: [],
    commandLine: { output: 'ciphertext' },
    auditFields: ['keyVersion'],
    errors: [
      'operation-not-supported',
      'context-required',
      'context-not-allowed',
      'version-unknown',
      'version-not-allowed',
      'version-exhausted',
    ],
    run: async (call, item, key) => {
      const cipher = requireAead(key);
      const context = requireContext(key.record.derived, item.context);
      const plaintext = readPlaintext(item.plaintext, item.base64Encoded);
      const now = microseconds(call.now);
      const version = transit.keyring.forEncryption(key, item.keyVersion, now);
      const ciphertext = await makeCiphertext(
        transit,
        key,
        version,
        cipher,
        plaintext,
        { context, associatedData: item.associatedData },
        now,
      );
      return { ciphertext, keyVersion: version.number };
    },
  });
}
