// Action generate-data-key: a random key for bulk encryption, and the same key encrypted.
import { z } from 'zod';
import { encodeBase64 } from '../../../core/base/bytes.ts';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import { planEncryption } from '../versions/ciphertexts.ts';
import { requireContext } from '../versions/derivation.ts';
import { oaepFields, oaepSchemeOf, type OaepScheme, requireNoOaep } from '../formats/oaep.ts';
import { seal } from '../versions/sealing.ts';
import { requireEncrypting } from '../records/keyring.ts';
import type { Transit } from '../context.ts';
import { runPlan } from '../uses/token-use.ts';
import { UsedKey } from '../uses/used-key.ts';
import { associatedDataField, contextFields, defineKeyAction, keyVersionField, keyVersionOutput, valueField } from './action.ts';

const inputSchema = z.object({
  type: z.enum(['plaintext', 'wrapped']).default('wrapped').describe('plaintext: the answer also has the data key in clear.'),
  bits: z.literal([128, 256, 512]).meta({ typeName: 'DataKeyBits' }).default(256).describe('Size of the data key.'),
  ...contextFields,
  associatedData: associatedDataField,
  keyVersion: keyVersionField,
  ...oaepFields,
});

const outputSchema = z.object({
  ciphertext: valueField('The data key, encrypted.'),
  plaintext: z.string().optional().meta({ description: 'The data key in clear, with type plaintext.', contentEncoding: 'base64' }),
  keyVersion: keyVersionOutput,
});

/** POST …/generate-data-key */
export function generateDataKey(transit: Transit): AnyEndpoint {
  return defineKeyAction<z.output<typeof inputSchema>, z.output<typeof outputSchema>>(transit, 'generate-data-key', {
    summary: 'Make a data key',
    description:
      'For data that is encrypted outside: keep the ciphertext beside it, and let decrypt open it again. With type `wrapped` the data key itself is not answered.',
    idempotent: true,
    whileIsolated: true,
    audit: 'required',
    act: 'none',
    input: inputSchema,
    output: outputSchema,
    secretInput: ['context', 'contextBase64', 'associatedData', 'label'],
    secretOutput: ['plaintext'],
    commandLine: { output: 'ciphertext' },
    auditFields: ['type', 'bits', 'keyVersion', 'hashAlgorithm', 'mgf1Hash'],
    errors: [
      'operation-not-supported',
      'context-required',
      'context-not-allowed',
      'version-unknown',
      'version-not-allowed',
      'key-disabled',
      'version-exhausted',
    ],
    run: async (call, input, key) => {
      const cipher = requireEncrypting(key);
      const scheme = cipher.kind === 'opening' ? oaepSchemeOf(input) : requireNoOaep(input);
      const context = requireContext(key.record.derived, input);
      const used = new UsedKey(transit, key, call);
      const version = used.forEncryption(input.keyVersion);
      const dataKey = await transit.hsm.random(input.bits / 8);
      try {
        const inputs = { context, associatedData: input.associatedData };
        const { ciphertext } = await (cipher.kind === 'opening'
          ? seal(used, version, scheme as OaepScheme, dataKey)
          : runPlan(used, planEncryption(used, version, cipher, dataKey, inputs)));
        call.noteAudit({ keyVersion: version.number });
        const plaintext = input.type === 'plaintext' ? { plaintext: encodeBase64(dataKey) } : {};
        return { ciphertext, ...plaintext, keyVersion: version.number };
      } finally {
        dataKey.fill(0);
      }
    },
  });
}
