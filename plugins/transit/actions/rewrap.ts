// Action rewrap: encrypts a ciphertext again under another version, without disclosing the plaintext (spec; api 30, 35, 45).
import { z } from 'zod';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import { makeCiphertext, openCiphertext, parseCiphertext } from '../versions/ciphertexts.ts';
import { requireContext } from '../versions/derivation.ts';
import { microseconds } from '../instants.ts';
import { requireAead } from '../records/keyring.ts';
import type { Transit } from '../context.ts';
import { associatedDataField, contextField, defineBatchAction, keyVersionField, keyVersionOutput, valueField } from './action.ts';

/** POST …/rewrap */
export function rewrap(transit: Transit): AnyEndpoint[] {
  return defineBatchAction(transit, {
    action: 'rewrap',
    summary: 'Encrypt a ciphertext again under the newest version',
    description:
      'The plaintext stays in the appliance: a caller who may rewrap need not be allowed to decrypt. For data that a rotation left under an old version.',
    fields: {
      ciphertext: valueField('What encrypt answered.'),
      context: contextField,
      associatedData: associatedDataField,
      keyVersion: keyVersionField,
    },
    subject: 'ciphertext',
    secretInput: ['ciphertext', 'context', 'associatedData'],
    answer: z.object({ ciphertext: valueField('The ciphertext under the other version.', 'store:v2:'), keyVersion: keyVersionOutput }),
    secretOutput: [],
    commandLine: { output: 'ciphertext' },
    auditFields: ['keyVersion'],
    errors: [
      'invalid-format',
      'operation-not-supported',
      'context-required',
      'context-not-allowed',
      'version-unknown',
      'version-not-allowed',
      'decryption-failed',
      'version-exhausted',
    ],
    run: async (call, item, key) => {
      const cipher = requireAead(key);
      const inputs = { context: requireContext(key.record.derived, item.context), associatedData: item.associatedData };
      const { version: number, sealed } = parseCiphertext(item.ciphertext);
      const now = microseconds(call.now);
      const from = transit.keyring.forDecryption(key, number, now);
      const to = transit.keyring.forEncryption(key, item.keyVersion, now);
      const plaintext = await openCiphertext(transit, key, from, cipher, sealed, inputs);
      try {
        const ciphertext = await makeCiphertext(transit, key, to, cipher, plaintext, inputs, now);
        transit.usage.noteRewrapped(key, from, now);
        return { ciphertext, keyVersion: to.number };
      } finally {
        plaintext.fill(0);
      }
    },
  });
}
