// The text form of ciphertexts, signatures and HMACs: `vault:v<N>:` there, `store:v<N>:` and `store:hashed:v<N>:` here.
import { fail } from '../../../core/base/errors.ts';

export type ValueKind = 'value' | 'hashed';

const ours: Readonly<Record<ValueKind, string>> = { value: 'store:v', hashed: 'store:hashed:v' };
export const theirPrefix = 'vault:v';

/** A value of the foreign API as one of our API. Throws `invalid-value`: version 0 is never taken for 1. */
export function valueToOurs(kind: ValueKind, text: string, field: string): string {
  if (!text.startsWith(theirPrefix))
    throw fail('invalid-value', { detail: `invalid ciphertext: no prefix: "${field}" must begin with vault:v<N>:.` });
  return ours[kind] + text.slice(theirPrefix.length);
}

/** A value of our API as one of the foreign API; undefined: a policy hides it. */
export function valueToTheirs(kind: ValueKind, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !value.startsWith(ours[kind])) throw new Error(`an answer has no ${kind}`);
  return theirPrefix + value.slice(ours[kind].length);
}
