// The curves of NIST in JavaScript, for what node:crypto does not offer. Loaded at the first use: most appliances have none.
import { createRequire } from 'node:module';
import type * as nist from '@noble/curves/nist.js';
import { once } from '../../../core/base/async/once.ts';

const require = createRequire(import.meta.url);
const library = once(() => require('@noble/curves/nist.js') as typeof nist);

/** Curves by the name in a JSON Web Key, and by OpenSSL's. */
const names: ReadonlyMap<string, 'p256' | 'p384' | 'p521'> = new Map([
  ['P-256', 'p256'],
  ['P-384', 'p384'],
  ['P-521', 'p521'],
  ['prime256v1', 'p256'],
  ['secp384r1', 'p384'],
  ['secp521r1', 'p521'],
]);

/** A curve by its name in a JSON Web Key or in OpenSSL; undefined for every other name. */
export function findNistCurve(name = ''): typeof nist.p256 | undefined {
  const found = names.get(name);
  return found === undefined ? undefined : library()[found];
}
