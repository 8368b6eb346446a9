// Key material in clear, for export and backup only; the caller audits it and zeroes the octets.
import { type Hsm, HsmError, type KeyReference } from '../../../hsm/api.ts';
import { fail } from '../errors.ts';

/** Reads a stored key in clear; throws operation-not-supported when the token cannot reveal such keys. */
export async function readInClear(hsm: Hsm, reference: KeyReference): Promise<Uint8Array> {
  try {
    return await hsm.readKeyMaterialInClear(reference);
  } catch (error) {
    if (!(error instanceof HsmError && error.kind === 'unsupported')) throw error;
    const { type, custody } = reference.stored;
    throw fail('operation-not-supported', { detail: `The token gives no ${type} key with custody ${custody} out.`, cause: error });
  }
}
