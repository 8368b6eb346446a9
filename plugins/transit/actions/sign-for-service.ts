// Signatures that the appliance makes by itself with a transit key, because a setting of another plugin says so.
import { z } from 'zod';
import { fail as coreFail } from '../../../core/base/errors.ts';
import type { Effect } from '../../../core/access/access-control.ts';
import { anyValue } from '../../../core/access/policy/constraints.ts';
import type { Rs256Signature } from '../../../core/plugin/services/transit-keys.ts';
import type { KeyUse } from '../../../hsm/api.ts';
import { shapeOf } from '../../../core/wire/schema.ts';
import { cipherOf } from '../ciphers.ts';
import type { Transit } from '../context.ts';
import { fail } from '../errors.ts';
import { methodFor, signedOf } from '../formats/signatures.ts';
import { verifySignature } from '../formats/verification.ts';
import { microseconds } from '../instants.ts';
import { referenceTo } from '../records/keyring.ts';
import { explained, runAlone } from '../uses/token-use.ts';
import { requireSignable } from '../versions/attached.ts';
import { signFields } from './sign.ts';

const signInput = z.object(signFields);

/** Effect of a setting under which the key signs by RS256 what the appliance writes. */
export const signingRs256: Effect = {
  wire: { text: anyValue, 'hash-algorithm': 'sha256', 'signature-algorithm': 'pkcs1v15' },
  shape: shapeOf(signInput),
};

/** `signRs256` of the service `transit-keys`. */
export async function signRs256(transit: Transit, tenantId: string, name: string, text: Uint8Array): Promise<Rs256Signature> {
  const key = transit.keyring.find(tenantId, name);
  if (key === undefined) throw coreFail('not-found', { detail: `There is no transit key "${name}".` });
  const cipher = cipherOf(key.record);
  if (cipher.kind !== 'signing' || cipher.family !== 'rsa')
    throw fail('operation-not-supported', {
      detail: `The transit key "${name}" does not sign by RS256: it must be an RSA key that signs.`,
    });
  const now = microseconds(transit.clock.now());
  const version = transit.keyring.forEncryption(key, undefined, now);
  const options = { hashAlgorithm: 'sha256', signatureAlgorithm: 'pkcs1v15' } as const;
  const method = methodFor(cipher, options, () => version.record.publicKey);
  requireSignable({ transit, key, allows: () => false }, version, method, text, true);
  const { scheme, signedDigest } = await signedOf(method, text);
  const by = { tenant: tenantId, origin: name };
  const check = (raw: Uint8Array): Promise<boolean> =>
    verifySignature(cipher, method, version.record.publicKey as Uint8Array, text, raw, true, by);
  const use: KeyUse = { use: 'sign', key: referenceTo(key, version, 'sign'), scheme, check: transit.hsm.checksAnswers ? check : undefined };
  try {
    const answer = (raw: Uint8Array): Uint8Array => raw.slice();
    const signature = await runAlone({ transit, key, now }, { version, counts: 1, use, answer });
    return { signature, version: version.number, signedDigest };
  } catch (error) {
    throw explained(transit, key, error);
  }
}
