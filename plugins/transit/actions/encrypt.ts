// Action encrypt.
import { z } from 'zod';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import { planEncryption } from '../versions/ciphertexts.ts';
import { requireContext } from '../versions/derivation.ts';
import { oaepFields, oaepSchemeOf, requireNoOaep } from '../formats/oaep.ts';
import { seal } from '../versions/sealing.ts';
import { requireEncrypting } from '../records/keyring.ts';
import { readPlaintext } from '../formats/payload.ts';
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

/** POST …/encrypt */
export function encrypt(transit: Transit): AnyEndpoint[] {
  return defineBatchAction(transit, {
    action: 'encrypt',
    summary: 'Encrypt a plaintext of up to 2 MiB',
    description:
      'The ciphertext names the version of the key, and decrypt finds it by that. A derived key needs `context`. An RSA key encrypts by RSA-OAEP with its public key, a few hundred octets at most. A policy may allow encryption without decryption.',
    fields: {
      plaintext: payloadField('What to encrypt'),
      base64Encoded: base64EncodedField,
      ...contextFields,
      associatedData: associatedDataField,
      keyVersion: keyVersionField,
      ...oaepFields,
    },
    subject: 'plaintext',
    secretInput: ['plaintext', 'context', 'contextBase64', 'associatedData', 'label'],
    answer: z.object({ ciphertext: valueField('The ciphertext.'), keyVersion: keyVersionOutput }),
    secretOutput: [],
    commandLine: { output: 'ciphertext' },
    auditFields: ['keyVersion', 'hashAlgorithm', 'mgf1Hash'],
    errors: [
      'operation-not-supported',
      'context-required',
      'context-not-allowed',
      'version-unknown',
      'version-not-allowed',
      'key-disabled',
      'version-exhausted',
    ],
    plan: (used, item) => {
      const cipher = requireEncrypting(used.key);
      const context = requireContext(used.key.record.derived, item);
      const plaintext = readPlaintext(item.plaintext, item.base64Encoded, used.decode);
      if (cipher.kind === 'opening') {
        const scheme = oaepSchemeOf(item);
        return { steps: seal(used, used.forEncryption(item.keyVersion), scheme, plaintext) };
      }
      requireNoOaep(item);
      const version = used.forEncryption(item.keyVersion);
      return planEncryption(used, version, cipher, plaintext, { context, associatedData: item.associatedData });
    },
  });
}
