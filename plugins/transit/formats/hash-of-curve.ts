// The hash that goes with a curve, where a standard couples them or a request leaves the choice.
import type { HashName } from '../../../hsm/api.ts';
import type { SigningCipher } from '../ciphers.ts';

/** The hash that is as strong as the curve; undefined where a cipher has no such choice. */
export function hashOfCurve({ family, coordinateBytes = 0 }: SigningCipher): HashName | undefined {
  if (family !== 'ecdsa') return undefined;
  if (coordinateBytes <= 32) return 'sha256';
  return coordinateBytes <= 48 ? 'sha384' : 'sha512';
}
