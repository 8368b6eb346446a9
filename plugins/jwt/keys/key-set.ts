// Key sets of issuers (RFC 7517) and public keys in PEM: the keys that verify tokens, and why others are left out. One unfit key spoils no other.
import { createPublicKey } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { findPublicKeyProblem, hasMadeUpCurve, readJwk } from '../../../core/base/public-keys/public-key.ts';
import { readPem } from '../../../core/base/texts/pem.ts';
import { showableText } from '../../../core/identity/claims.ts';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../../core/wire/json.ts';
import { isUsableType } from '../../../core/identity/signature-algorithms.ts';
import type { VerificationKey } from '../token/judge.ts';

/** Public members of a key, as it is stored. */
export type StoredJwk = {
  readonly kty: string;
  readonly kid?: string;
  readonly alg?: string;
  readonly crv?: string;
  readonly n?: string;
  readonly e?: string;
  readonly x?: string;
  readonly y?: string;
  /** given as a PEM: tokens of any kid are verified with it */
  readonly anyKid?: true;
};

/** Keys that verify, and the others with the reason in words. */
export type KeySet = { readonly keys: readonly StoredJwk[]; readonly skipped: readonly SkippedKey[] };
export type SkippedKey = { readonly kid: string | undefined; readonly reason: string };

/** Most keys of an issuer; the largest platforms have a dozen. */
const mostKeys = 100;
const longestKid = 512;

/** Reads the text of a key set. Throws ServiceError `invalid-json` for what is not JSON, and Error with a sentence for what is not a key set. */
export async function readKeySet(text: Uint8Array): Promise<KeySet> {
  const set: { keys: StoredJwk[]; skipped: SkippedKey[] } = { keys: [], skipped: [] };
  for (const entry of entriesOf(text, mostKeys)) {
    const read = readEntry(entry);
    if ('reason' in read) set.skipped.push(read);
    else set.keys.push(read);
    // A key costs milliseconds, and everybody else waits meanwhile.
    await setImmediate();
  }
  return set;
}

function entriesOf(text: Uint8Array, most: number): readonly unknown[] {
  const { keys: entries } = parseJsonObject(text);
  if (!Array.isArray(entries)) throw new Error('there is no list "keys"');
  if (entries.length > most) throw new Error(`there are ${entries.length} keys; ${most} are taken`);
  return entries as readonly unknown[];
}

function readEntry(entry: unknown): StoredJwk | SkippedKey {
  if (!isJsonObject(entry)) return { kid: undefined, reason: 'is not an object' };
  const reason = findProblem(entry);
  if (reason === undefined) return publicPart(entry);
  const { kid } = entry;
  return { kid: typeof kid === 'string' ? showableText(kid) : undefined, reason };
}

/** Reason for which a key cannot verify tokens, as the end of a sentence that begins with "the key"; undefined if it can. */
function findProblem(key: JsonObject): string | undefined {
  const { kty, crv, kid, alg, use, key_ops: operations } = key;
  if (['d', 'p', 'k', 'priv'].some((secret) => Object.hasOwn(key, secret)))
    return 'has private members: everybody who reads the set can sign';
  if (!isUsableType(kty, crv)) return `is of a type that no algorithm here takes (${shown(kty)})`;
  if (kid !== undefined && (typeof kid !== 'string' || kid === '' || kid.length > longestKid))
    return 'has a kid that is empty, too long, or not a text';
  if (alg !== undefined && typeof alg !== 'string') return 'has an alg that is not a text';
  if (use !== undefined && use !== 'sig' && use !== 'jwt-svid') return `is for another use (${shown(use)})`;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return 'may not verify (key_ops)';
  return readJwk(publicPart(key), 'verify') === undefined ? 'is weak, malformed, or not on its curve' : undefined;
}

function shown(value: unknown): string {
  return showableText(JSON.stringify(value) ?? 'none', 32);
}

function publicPart(key: JsonObject): StoredJwk {
  const names = ['kty', 'kid', 'alg', 'crv', 'n', 'e', 'x', 'y'] as const;
  return Object.fromEntries(names.flatMap((name) => (key[name] === undefined ? [] : [[name, key[name]]]))) as StoredJwk;
}

/** Most keys that an administrator states. */
const mostStaticKeys = 16;

/** Reads the keys that an administrator states: a key set in JSON, or public keys in PEM. Throws an Error with a sentence. */
export function readStaticKeys(text: string): readonly StoredJwk[] {
  if (text.trimStart().startsWith('{')) {
    const read = entriesOf(Buffer.from(text), mostStaticKeys).map(readEntry);
    const keys = read.filter((one): one is StoredJwk => !('reason' in one));
    const unfit = read.find((one): one is SkippedKey => 'reason' in one);
    if (unfit !== undefined) throw new Error(`the key ${unfit.kid === undefined ? '' : `"${unfit.kid}" `}${unfit.reason}`);
    if (keys.length === 0) throw new Error('the key set has no keys');
    return keys;
  }
  const blocks = readPem(text);
  if (blocks.length === 0) throw new Error('this is neither a key set in JSON nor public keys in PEM');
  if (blocks.length > mostStaticKeys) throw new Error(`there are ${blocks.length} keys; ${mostStaticKeys} are taken`);
  return blocks.map(readPemKey);
}

function readPemKey({ label, der = new Uint8Array(0) }: ReturnType<typeof readPem>[number]): StoredJwk {
  if (label !== 'PUBLIC KEY')
    throw new Error(`a block is "${showableText(label, 64)}"; public keys in PEM begin with -----BEGIN PUBLIC KEY-----`);
  if (hasMadeUpCurve(der)) throw new Error('a key is on a curve that no algorithm here takes');
  let jwk: JsonWebKey;
  try {
    jwk = cleanly(() => {
      const key = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
      const problem = findPublicKeyProblem(key, 'verify');
      if (problem !== undefined) throw new Error(problem);
      return key.export({ format: 'jwk' });
    });
  } catch (error) {
    throw new Error('a key is weak, malformed, or of a type that has no JSON form', { cause: error });
  }
  if (!isUsableType(jwk.kty, jwk.crv)) throw new Error('a key is of a type that no algorithm here takes');
  return { ...publicPart(jwk as JsonObject), anyKid: true };
}

const opened = new WeakMap<object, readonly VerificationKey[]>();

/** The keys of a stored set, opened once per record: they were checked when they were stored. */
export function openKeys(keys: readonly StoredJwk[]): readonly VerificationKey[] {
  let found = opened.get(keys);
  if (found === undefined) {
    found = keys.map((jwk) => ({ ...jwk, key: cleanly(() => createPublicKey({ key: jwk, format: 'jwk' })) }));
    opened.set(keys, found);
  }
  return found;
}
