// Signing with a CA key: one C_Sign in the token, then a check against the CA's public key before anything leaves.
import { fail } from '../../../core/base/errors.ts';
import { type Asker, type Hsm, HsmError, type KeyBinding } from '../../../hsm/api.ts';
import { requireCaAlgorithm } from './algorithms.ts';
import { bitString, sequence } from '../../../core/der/der.ts';
import type { CaContext } from '../context.ts';
import type { CaKey } from '../records/records.ts';
import { publicKeyObject } from '../der/public-key.ts';
import { requireClean, type ToBeSigned } from '../lints/lint.ts';

/** A CA key together with its binding. */
export type CaKeyReference = { readonly key: CaKey; readonly binding: KeyBinding };

/** The binding of a CA's key of one generation. */
export function caKeyBinding(tenantId: string, caId: string, generation: number): KeyBinding {
  return { tenant: tenantId, keyId: caId, version: generation, purpose: 'ca' };
}

/**
 * Signs what `encodeTbs` returns for the algorithm identifier: `SEQUENCE { tbs, signatureAlgorithm, signature }`, the outer shape of
 * certificates, CRLs and requests. The rules of its kind are checked before the token signs; the signature is verified with the CA's
 * public key, so that a fault in the token never becomes a certificate. Rejects with LintError when a rule is broken, with
 * HsmError when the token cannot sign, or signs what does not verify. `askedBy`: the caller, if that is not the tenant of the CA.
 */
export async function signStructure(
  hsm: Hsm,
  reference: CaKeyReference,
  what: ToBeSigned,
  encodeTbs: (algorithmIdentifier: Uint8Array) => Uint8Array,
  askedBy?: Asker,
): Promise<Uint8Array> {
  const { key, binding } = reference;
  const algorithm = requireCaAlgorithm(key);
  const tbs = encodeTbs(algorithm.identifier);
  requireClean(what, tbs, { publicKey: key.publicKey, algorithm: algorithm.identifier });
  const holds = (raw: Uint8Array): boolean => algorithm.holds(publicKeyObject(key.publicKey), tbs, algorithm.encodeSignature(raw));
  const raw = await hsm.sign({ stored: key.stored, binding }, algorithm.scheme(tbs), holds, askedBy);
  return sequence(tbs, algorithm.identifier, bitString(algorithm.encodeSignature(raw)));
}

/**
 * Runs work with the keys of a CA. When it fails at the token and the CA was deleted meanwhile, throws `gone`, usually `not-found`: a key that
 * disappears while it is used looks like a missing key or like a fault of the token.
 */
export async function unlessDeleted<T>(
  { store, tables }: Pick<CaContext, 'store' | 'tables'>,
  { tenantId, caId }: { readonly tenantId: string; readonly caId: string },
  work: () => Promise<T>,
  gone = () => fail('not-found', { detail: 'The CA was deleted meanwhile.' }),
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HsmError)) throw error;
    store.refresh();
    if (Iterator.from(tables.cas.entries([tenantId])).some(([, { id }]) => id === caId)) throw error;
    throw gone();
  }
}
