// Action rewrap: encrypts a ciphertext again under another version, without disclosing the plaintext (spec; api 30, 35, 45).
import { z } from 'zod';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import type { AeadCipher } from '../ciphers.ts';
import { type AeadInputs, type Ciphertext, parseCiphertext, planDecryption, planEncryption } from '../versions/ciphertexts.ts';
import { requireContext } from '../versions/derivation.ts';
import { type Version, requireAead } from '../records/keyring.ts';
import type { Transit } from '../context.ts';
import { runAlone, runPlan } from '../uses/token-use.ts';
import type { UsedKey } from '../uses/used-key.ts';
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
      'key-disabled',
      'decryption-failed',
      'version-exhausted',
    ],
    plan: (used, item) => {
      const cipher = requireAead(used.key);
      const inputs = { context: requireContext(used.key.record.derived, item.context), associatedData: item.associatedData };
      const { version: number, sealed } = parseCiphertext(item.ciphertext, used.decode);
      const from = used.forDecryption(number);
      const to = used.forEncryption(item.keyVersion);
      return { steps: rewrapUnder(used, cipher, { from, to, sealed, inputs }) };
    },
  });
}

type Rewrapping = { readonly from: Version; readonly to: Version; readonly sealed: Uint8Array; readonly inputs: AeadInputs };

async function rewrapUnder(used: UsedKey, cipher: AeadCipher, { from, to, sealed, inputs }: Rewrapping): Promise<Ciphertext> {
  const plaintext = await runAlone(
    used,
    planDecryption(used, from, cipher, sealed, inputs, (octets) => octets),
  );
  try {
    const made = await runPlan(used, planEncryption(used, to, cipher, plaintext, inputs));
    used.transit.usage.noteRewrapped(used.key, from, used.now);
    return made;
  } finally {
    plaintext.fill(0);
  }
}
