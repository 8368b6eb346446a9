// Curves in JavaScript, for what node:crypto does not offer. Loaded at the first use: most appliances have none.
import { createRequire } from 'node:module';
import type * as nist from '@noble/curves/nist.js';
import type * as koblitz from '@noble/curves/secp256k1.js';
import { once } from '../async/once.ts';

const require = createRequire(import.meta.url);
const library = once(() => require('@noble/curves/nist.js') as typeof nist);
const secp256k1 = once(() => (require('@noble/curves/secp256k1.js') as typeof koblitz).secp256k1);

type Curve = typeof nist.p256;

/** Curves by the name in a JSON Web Key, and by OpenSSL's. */
const curves: ReadonlyMap<string, () => Curve> = new Map([
  ['P-256', () => library().p256],
  ['P-384', () => library().p384],
  ['P-521', () => library().p521],
  ['prime256v1', () => library().p256],
  ['secp384r1', () => library().p384],
  ['secp521r1', () => library().p521],
  ['secp256k1', secp256k1],
]);

/** A curve by its name in a JSON Web Key or in OpenSSL; undefined for every other name. */
export function findCurve(name = ''): Curve | undefined {
  return curves.get(name)?.();
}
