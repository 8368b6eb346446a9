// The keys of the drill of HSM faults: what is known of each from its making, and the proof, by a process without faults, that it still is it.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Custody, Hsm, KeyReference, KeyType, SignScheme } from '../../../hsm/api.ts';
import { freshMaterial, sealOutside, signatures } from '../keys.ts';

/** A key that was acknowledged. `stored` in the reference changes when it is rewrapped. */
export type KeptKey = {
  reference: KeyReference;
  readonly type: KeyType;
  readonly custody: Custody;
  readonly publicKey?: Uint8Array | undefined;
  /** of an imported key */
  readonly material?: Buffer | undefined;
  /** what the key, or its material outside the token, made of `text`, once that is known: a ciphertext or a MAC */
  made?: Uint8Array;
};

/** What every proof is about. */
export const text = Buffer.from('what the drill of HSM faults is about');

export const isAes = ({ type }: KeptKey): boolean => type.startsWith('aes');
export const isSecret = ({ type }: KeptKey): boolean => type === 'secret-256';
/** SoftHSM wraps no Ed25519 key that is an object of the token. */
export const canLeave = ({ type, custody }: KeptKey): boolean => type !== 'ed25519' || custody !== 'token';
export const signs = (key: KeptKey): boolean => !isAes(key) && !isSecret(key);

/** Throws when the key is not the one that was acknowledged. */
export async function prove(witness: Hsm, key: KeptKey): Promise<void> {
  const wrong = (): never => {
    throw new Error(`${key.type} in ${key.custody} custody is another key now: ${JSON.stringify(key.reference.binding)}`);
  };
  if (isAes(key)) {
    key.made ??= key.material === undefined ? await witness.encrypt(key.reference, text) : sealOutside(key.material, text);
    if (!text.equals(await witness.decrypt(key.reference, key.made))) wrong();
  } else if (isSecret(key)) {
    const mac = await witness.hmac(key.reference, 'sha256', text);
    key.made ??= key.material === undefined ? mac : createHmac('sha256', key.material).update(text).digest();
    if (Buffer.compare(mac, key.made) !== 0) wrong();
  } else {
    const [{ scheme, check }] = signatures(key.type, text, key.publicKey as Uint8Array) as [ReturnType<typeof signatures>[number]];
    if (!check(await witness.sign(key.reference, scheme, witness.checksAnswers ? check : undefined))) wrong();
  }
}

/** A message of this key, with what tells a good signature of it. */
export function signatureCase(key: KeptKey, which: number): { scheme: SignScheme; check: (signature: Uint8Array) => boolean } {
  const cases = signatures(key.type, randomBytes(40), key.publicKey as Uint8Array);
  return cases[which % cases.length] as (typeof cases)[number];
}

/** Octets of a key of the type; an RSA key is the same each time, because one takes long to find. */
export function materialOf(type: KeyType): Buffer {
  if (!type.startsWith('rsa')) return freshMaterial(type);
  const known = rsaMaterial.get(type) ?? freshMaterial(type);
  rsaMaterial.set(type, known);
  return Buffer.from(known);
}

const rsaMaterial = new Map<KeyType, Buffer>();

/** A derivation under a secret, for a context that is used once. */
export function derivationUnder({ reference }: KeptKey) {
  const contextHash = createHash('sha256').update(randomBytes(16)).digest();
  return { secret: reference, contextHash, salt: Buffer.alloc(16, 7), iterations: 10, type: 'aes-256' } as const;
}
