// Action rewrap: encrypts a ciphertext again under another version, without disclosing the plaintext.
import { z } from 'zod';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import { type Ciphertext, parseCiphertext, planDecryption, planEncryption } from '../versions/ciphertexts.ts';
import { requireContext } from '../versions/derivation.ts';
import { oaepFields, oaepSchemeOf, requireNoOaep } from '../formats/oaep.ts';
import { parseSealed, planOpening, seal } from '../versions/sealing.ts';
import { type Version, requireEncrypting } from '../records/keyring.ts';
import type { Transit } from '../context.ts';
import { runAlone, runPlan, type TokenUse } from '../uses/token-use.ts';
import type { UsedKey } from '../uses/used-key.ts';
import { associatedDataField, contextFields, defineBatchAction, keyVersionField, keyVersionOutput, valueField } from './action.ts';

/** POST …/rewrap */
export function rewrap(transit: Transit): AnyEndpoint[] {
  return defineBatchAction(transit, {
    action: 'rewrap',
    summary: 'Encrypt a ciphertext again under the newest version',
    description:
      'The plaintext stays in the appliance: a caller who may rewrap need not be allowed to decrypt. For data that a rotation left under an old version.',
    fields: {
      ciphertext: valueField('What encrypt answered.'),
      ...contextFields,
      associatedData: associatedDataField,
      keyVersion: keyVersionField,
      ...oaepFields,
    },
    subject: 'ciphertext',
    secretInput: ['ciphertext', 'context', 'contextBase64', 'associatedData', 'label'],
    answer: z.object({ ciphertext: valueField('The ciphertext under the other version.', 'store:v2:'), keyVersion: keyVersionOutput }),
    secretOutput: [],
    commandLine: { output: 'ciphertext' },
    auditFields: ['keyVersion', 'hashAlgorithm', 'mgf1Hash'],
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
      const cipher = requireEncrypting(used.key);
      const inputs = { context: requireContext(used.key.record.derived, item), associatedData: item.associatedData };
      if (cipher.kind === 'opening') {
        const scheme = oaepSchemeOf(item);
        const { version: number, sealed } = parseSealed(used, item.ciphertext, undefined);
        const [from, to] = [used.forDecryption(number), used.forEncryption(item.keyVersion)];
        const opening = planOpening(used, from, scheme, sealed, (octets) => octets);
        return { steps: moved(used, from, opening, (plaintext) => seal(used, to, scheme, plaintext)) };
      }
      requireNoOaep(item);
      const { version: number, sealed } = parseCiphertext(item.ciphertext, used.decode);
      const from = used.forDecryption(number);
      const to = used.forEncryption(item.keyVersion);
      const opening = planDecryption(used, from, cipher, sealed, inputs, (octets) => octets);
      return { steps: moved(used, from, opening, (plaintext) => runPlan(used, planEncryption(used, to, cipher, plaintext, inputs))) };
    },
  });
}

/** Opens a ciphertext of one version and seals its plaintext again, which is zeroed. */
async function moved(
  used: UsedKey,
  from: Version,
  opening: TokenUse<Uint8Array>,
  sealAgain: (plaintext: Uint8Array) => Promise<Ciphertext>,
): Promise<Ciphertext> {
  const plaintext = await runAlone(used, opening);
  try {
    const made = await sealAgain(plaintext);
    used.transit.usage.noteRewrapped(used.key, from, used.now);
    return made;
  } finally {
    plaintext.fill(0);
  }
}
