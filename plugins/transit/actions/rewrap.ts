// Action rewrap: moves a ciphertext to another version; the plaintext stays inside (spec; api 30, 35, 45).
import { z } from 'zod';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import { open, parseCiphertext, seal } from '../versions/aead.ts';
import { requireContext } from '../records/derive.ts';
import { microseconds } from '../instants.ts';
import { requireAead } from '../records/keyring.ts';
import type { Transit } from '../context.ts';
import { associatedDataField, contextField, defineBatchAction, keyVersionField, keyVersionOutput, valueField } from './action.ts';

/** POST …/rewrap */
export function rewrap(transit: Transit): AnyEndpoint {
  return defineBatchAction(transit, {
    action: 'rewrap',
    summary: 'Encrypt a ciphertext again under the newest version',
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
      const surroundings = { context: requireContext(key.record.derived, item.context), associatedData: item.associatedData };
      const { version: number, sealed } = parseCiphertext(item.ciphertext);
      const now = microseconds(call.now);
      const from = transit.keyring.forDecryption(key, number, now);
      const to = transit.keyring.forEncryption(key, item.keyVersion, now);
      const plaintext = await open(transit, key, from, cipher, sealed, surroundings);
      try {
        const ciphertext = await seal(transit, key, to, cipher, plaintext, surroundings, now);
        transit.usage.noteRewrapped(key, from, now);
        return { ciphertext, keyVersion: to.number };
      } finally {
        plaintext.fill(0);
      }
    },
  });
}
